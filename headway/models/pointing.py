"""What every model offers that points at its inputs.

    forward(points, keep, chosen)      -> log p "b t s"     of each choice after those before it; s = 0: the end, s > 0: point s
    read(points, keep)                 -> memory, state     nothing chosen yet
    step(chosen, state, memory)        -> log p "bk s", state

`points` "b n c" with `keep` "b n" False at padding (on the right); `chosen` begins with 0. Log-probabilities of padding are -inf.
"""

from collections.abc import Iterator
from typing import Any, Protocol, runtime_checkable

from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

END = 0  # what ends a sequence of choices; also what is read before the first one


@runtime_checkable
class Pointing(Protocol):
    training: bool

    def parameters(self) -> Iterator[nn.Parameter]: ...

    def __call__(
        self, points: Float[Tensor, "b n c"], keep: Bool[Tensor, "b n"], chosen: Int[Tensor, "b t"]
    ) -> Float[Tensor, "b t s"]: ...

    def read(self, points: Float[Tensor, "b n c"], keep: Bool[Tensor, "b n"]) -> tuple[Any, Any]: ...

    def step(self, chosen: Int[Tensor, "bk"], state: Any, memory: Any) -> tuple[Float[Tensor, "bk s"], Any]: ...
