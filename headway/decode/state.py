"""States of decoders are values: tensors in tuples, dataclasses and caches, each with the batch as its first axis.

torch's pytree is not used: it is a private module, and every dataclass of a layer would have to be registered with it.
"""

import dataclasses
from typing import Any

from jaxtyping import Int
from torch import Tensor

from headway.layers.attention.cache import Cache


def pick(state: Any, rows: Int[Tensor, "n"]) -> Any:
    """The state of some rows, in that order: reorders beams and drops finished sentences, whatever the model keeps."""
    if isinstance(state, Tensor):
        return state.index_select(0, rows)
    if isinstance(state, Cache):
        return state.pick(rows)
    if isinstance(state, tuple):
        return tuple(pick(item, rows) for item in state)
    if dataclasses.is_dataclass(state) and not isinstance(state, type):
        return type(state)(**{f.name: pick(getattr(state, f.name), rows) for f in dataclasses.fields(state) if f.init})
    return state
