"""Convex functions with their minimum: hard ones in closed form, and any by BFGS."""

from dataclasses import replace

import numpy as np
import torch
from scipy.optimize import minimize

from headway.lab.tools.quadratics import Smooth, logistic_loss


def huber(delta: float) -> Smooth:
    """x²/2 up to |x| = δ and δ|x| - δ²/2 beyond, added up over the coordinates; f* = 0 at 0.

    For δ = R/(2T + 1) no smooth convex function is worse after T steps from distance R (Drori and Teboulle 2014,
    https://arxiv.org/abs/1206.3209).
    """
    loss = torch.nn.functional.huber_loss
    return Smooth("Huber", lambda x: loss(x, 0 * x, delta=delta, reduction="none").sum(-1), 1.0)


def chain(d: int) -> tuple[Smooth, np.ndarray]:
    """¼(½(x_1² + Σ(x_i - x_{i+1})² + x_d²) - x_1) and its minimum x_i = 1 - i/(d + 1), where f* = -⅛(1 - 1/(d + 1)).

    From 0 every method that moves along gradients sees one coordinate more with each step (Nesterov 2004, th. 2.1.7).
    """
    end = torch.zeros(1, dtype=torch.float64)

    def f(x: torch.Tensor) -> torch.Tensor:
        edge = end.expand(*x.shape[:-1], 1)
        return (torch.diff(x, dim=-1, prepend=edge, append=edge).square().sum(-1) / 2 - x[..., 0]) / 4

    return Smooth("chain", f, 1.0, -(1 - 1 / (d + 1)) / 8), 1 - np.arange(1, d + 1) / (d + 1)


def bent() -> Smooth:
    """f' = 25x below 1, x + 24 up to 2, 25x - 24 above: 1 <= f'' <= 25, f* = 0 at 0.

    The heavy ball runs in a circle on it (Lessard, Recht and Packard 2016, https://arxiv.org/abs/1408.3595).
    """

    def f(x: torch.Tensor) -> torch.Tensor:
        return (12.5 * x**2 - 12 * (x - 1).relu() ** 2 + 12 * (x - 2).relu() ** 2).sum(-1)

    return Smooth("bent", f, 25.0, 0.0, 1.0)


def overlapping_classes(n: int, rng: np.random.Generator) -> tuple[Smooth, np.ndarray]:
    """Logistic regression on n examples of two classes that overlap, so that there is a minimum, which is found."""
    X = rng.normal(size=(n, 3))
    return minimised(logistic_loss(X, np.where(X[:, 0] + rng.logistic(size=n) > 0, 1.0, -1.0)), 3)


def minimised(h: Smooth, d: int) -> tuple[Smooth, np.ndarray]:
    """A convex function of d coordinates with its f*, and its minimum, by scipy's BFGS from 0."""
    found = minimize(h, np.zeros(d), jac=h.gradient, method="BFGS", options={"gtol": 1e-10})
    return replace(h, least=float(found.fun)), found.x
