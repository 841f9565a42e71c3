"""Nesterov's method for functions that are convex, but not strongly: a momentum that grows towards 1.

    θ_t = y_{t-1} - η ∇h(y_{t-1}),      y_t = θ_t + β_t (θ_t - θ_{t-1}),      β_t = (t - 1)/(t + 2)

Nesterov 1983; with these β_t in Su, Boyd and Candès 2014, https://arxiv.org/abs/1503.01243.
"""

import numpy as np
import torch

from headway.lab.tools.quadratics import Path, Smooth, descend
from headway.training.optimizers.heavy_ball import HeavyBall
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


def tuned(rule: type[Nesterov] | type[HeavyBall], h: Smooth, mu: float, start: np.ndarray, steps: int) -> Path:
    """The path with the rate and the momentum that are best for the function's L and this μ."""
    q = (h.L / mu) ** 0.5
    ratio, ball = (q - 1) / (q + 1), rule is HeavyBall
    eta, beta = (4 / (h.L**0.5 + mu**0.5) ** 2, ratio**2) if ball else (1 / h.L, ratio)
    return descend(h, start, steps, rule=lambda p: rule(p, eta, beta))
