"""What every model offers that gives one vector for an example: a text, a picture, a row of a table, the past of a series.

    forward(...)      -> hidden "b d"      of `ids` and `keep`, both "b t", if it reads a text; of `pictures` "b c y x"
                                           of `vectors` "b f"; of `series` "b t c" and the `categories` "b k" of the predicted time
    logits(hidden)    -> "b c"             one score for each class, or the numbers that are predicted

A model is given the arguments of its own kind, by `reads`: `tokens`, `pictures`, `vectors` or `series`.
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
