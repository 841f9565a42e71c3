"""What every translation model offers to training and to decoding.

    forward(source, keep, target) -> hidden "b t d"        all target positions at once (training)
    read(source, keep)            -> memory, state         once per sentence
    step(token, state, memory)    -> hidden, state         once per output position (decoding)
    logits(hidden)                -> "... v"

`memory` is fixed while a sentence is decoded, `state` grows: both are values (tensors in tuples and dataclasses), and each tensor
has the batch as its first axis. With k hypotheses per sentence the state has b*k rows and the memory still b.
"""

from typing import Any, Protocol, runtime_checkable

from jaxtyping import Bool, Float, Int
from torch import Tensor


@runtime_checkable
class EncoderDecoder(Protocol):
    def __call__(self, source: Int[Tensor, "b s"], keep: Bool[Tensor, "b s"], target: Int[Tensor, "b t"]) -> Float[Tensor, "b t d"]: ...

    def read(self, source: Int[Tensor, "b s"], keep: Bool[Tensor, "b s"]) -> tuple[Any, Any]: ...

    def step(self, token: Int[Tensor, "bk"], state: Any, memory: Any) -> tuple[Float[Tensor, "bk d"], Any]: ...

    def logits(self, hidden: Float[Tensor, "*b d"]) -> Float[Tensor, "*b v"]: ...
