"""Nesterov's method for functions that are convex, but not strongly: a momentum that grows towards 1.

    θ_t = y_{t-1} - η ∇h(y_{t-1}),      y_t = θ_t + β_t (θ_t - θ_{t-1}),      β_t = (t - 1)/(t + 2)

Nesterov 1983; with these β_t in Su, Boyd and Candès 2014, https://arxiv.org/abs/1503.01243.
"""

import torch

from headway.training.optimizers.nesterov import Nesterov
from headway.training.optimizers.rule import Group, Tensors


class GrowingMomentum(Nesterov):
    """The optimizer `nesterov` with another momentum at each step; the velocity enters with that of the step before."""

    def update(self, group: Group, w: Tensors, g: Tensors) -> None:
        t, before = group.get("t", 0) + 1, group["momentum"]
        group["t"], group["momentum"] = t, (t - 1) / (t + 2)
        if t > 1:  # v <- β_t (β_{t-1}/β_t) v + g
            torch._foreach_mul_(self.moments("velocity", w), before / group["momentum"])
        super().update(group, w, g)
