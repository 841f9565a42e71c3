"""What every model offers that finds objects on a picture: a fixed number of queries, each of which gives one object or nothing.

states(pictures)     -> "l b q d"      the queries after each of l layers; the last is what counts, all are trained
logits(states)       -> "... q c"      one score for each class; the last class is "nothing"
boxes(states)        -> "... q 4"      (cx, cy, w, h) in shares of the picture
forward(pictures)    -> "b q d"        the last layer
"""

from collections.abc import Iterator
from typing import Protocol, runtime_checkable

from jaxtyping import Float
from torch import Tensor, nn


@runtime_checkable
class SetPredictor(Protocol):
    training: bool

    def parameters(self) -> Iterator[nn.Parameter]: ...

    def __call__(self, pictures: Float[Tensor, "b c y x"]) -> Float[Tensor, "b q d"]: ...

    def states(self, pictures: Float[Tensor, "b c y x"]) -> Float[Tensor, "l b q d"]: ...

    def logits(self, states: Float[Tensor, "*l b q d"]) -> Float[Tensor, "*l b q c"]: ...

    def boxes(self, states: Float[Tensor, "*l b q d"]) -> Float[Tensor, "*l b q 4"]: ...
