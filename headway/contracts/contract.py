"""What a contract is: a function of one case. Its docstring says what must hold; it raises `Broken` if that does not.

A contract compares a layer or a model with itself (stepped and at once, alone and in company), so it needs to know
nothing about the mathematics. What it cannot see is a mistake that is the same on both sides: for that, compare with a
library or with the equation.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

Contract = Callable[[Any], None]
EXACT = 1e-10  # what float64 leaves after a different order of the same sums


class Broken(Exception):
    """What a contract found, with numbers and positions, in plain words."""


def title(contract: Contract) -> str:
    """The first line of its docstring, as a part of a sentence."""
    first = (contract.__doc__ or contract.__name__).split("\n", 1)[0].rstrip(".")
    return first[0].lower() + first[1:]


def require_equal(
    found: Float[Tensor, "b t d"], expected: Float[Tensor, "b t d"], when: str, tolerance: float = EXACT, first: int = 0
) -> None:
    """Raise with the position that differs most, if any differs by more than the tolerance.

    when     what was done to change it: "when position 5 was changed"
    first    the number of the first position
    """
    if found.shape != expected.shape:
        raise Broken(f"the shape is {list(found.shape)} and not {list(expected.shape)} {when}")
    if not found.isfinite().all():
        row, position = (~found.isfinite()).any(-1).nonzero()[0].tolist()
        raise Broken(f"position {first + position} of row {row} is not a finite number {when}")
    difference = (found - expected).abs().amax(-1)
    if not difference.numel() or difference.max() <= tolerance:
        return
    row, position = divmod(int(difference.argmax()), difference.shape[1])
    raise Broken(f"position {first + position} of row {row} changed by {difference.max():.2g} {when}")


@contextmanager
def default_dtype(dtype: torch.dtype) -> Iterator[None]:
    """Whatever is made inside has this type unless it asks for another."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        yield
    finally:
        torch.set_default_dtype(before)
