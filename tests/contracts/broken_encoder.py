"""Classifiers of texts with a mistake, one class each. `test_check.py` says which contract notices."""

from dataclasses import dataclass

from torch import Tensor

from headway.models import encoder


@dataclass(frozen=True)
class Config(encoder.Config):
    """Its options are those of the encoder."""


class Counting(encoder.Encoder):
    """The length of the longest text of the batch is added."""

    gives = ("one vector",)

    def forward(self, ids: Tensor, keep: Tensor) -> Tensor:
        return super().forward(ids, keep) + 0.1 * ids.shape[1]


class Deaf(encoder.Encoder):
    """The first token is never read."""

    gives = ("one vector",)

    def states(self, ids: Tensor, keep: Tensor) -> Tensor:
        ids = ids.clone()
        ids[:, 0] = 0
        return super().states(ids, keep)
