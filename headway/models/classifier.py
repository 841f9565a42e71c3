"""What every model offers that gives one vector for an example: a text, a picture.

    forward(...)      -> hidden "b d"      of `ids` and `keep`, both "b t", if it reads a text; of `pictures` "b c y x"
    logits(hidden)    -> "b c"             one score for each class

A model is given the arguments of its own kind, by `reads`: `tokens` or `pictures`.
"""

from collections.abc import Iterator
from typing import Protocol, runtime_checkable

from jaxtyping import Float
from torch import Tensor, nn


@runtime_checkable
class Classifier(Protocol):
    training: bool

    def parameters(self) -> Iterator[nn.Parameter]: ...

    def __call__(self, *inputs: Tensor) -> Float[Tensor, "b d"]: ...

    def logits(self, hidden: Float[Tensor, "b d"]) -> Float[Tensor, "b c"]: ...
