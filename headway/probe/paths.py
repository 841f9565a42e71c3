"""Straight paths from each example of a batch to the next one, in the space where the model begins to compute.

    x_i(t) = x_i + t (x_{i+1} - x_i),   0 <= t <= 1

The rest of the input (a mask, the edges of a graph, the target of a translation) stays that of example i. All paths are
followed at once, each at its own t. Where one row has an influence on others (a graph), the batch is a single path.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from headway.probe.finding import NotApplicableError
from headway.probe.subject import Subject


@dataclass(frozen=True, eq=False)
class Paths:
    """The paths of a batch.

    step     x_{i+1} - x_i, 0 at padding
    groups   how many paths there are
    """

    batch: Any
    start: Tensor
    step: Tensor
    groups: int

    @classmethod
    def of(cls, subject: Subject, rows: int) -> "Paths":
        batch = subject.few(rows)
        with torch.no_grad():
            x = subject.run(batch).x.clone()
        step = x.roll(-1, 0) - x
        if (mask := subject.mask(batch, x)) is not None:
            step = step * mask[..., None]
        groups = 1 if subject.coupled(batch) else len(x)
        if len(x) < 2 or not bool(step.abs().sum() > 0):
            raise NotApplicableError("a path needs two different examples, and there is only one")
        return cls(batch, x, step, groups)

    def at(self, t: Float[Tensor, "g"]) -> Callable[[Tensor], Tensor]:
        """The entry at these t, one for each path."""
        rows = t if self.groups > 1 else t.expand(len(self.start))
        place = self.start + rows.view(-1, *[1] * (self.start.ndim - 1)) * self.step
        return lambda _: place

    def split(self, values: Tensor) -> Float[Tensor, "g n"]:
        """What belongs to each path of values of the whole batch."""
        return values.reshape(self.groups, -1)
