"""An optimizer of the package that is handed gradients in place of a function: an online problem, for example.

x_0 given,      g_t = gradient(t, x_t),      x_{t+1} = the optimizer's step with g_t, cut off at [-box, box]
"""

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

Rule = Callable[[list[Tensor]], torch.optim.Optimizer]  # `lambda w: HeavyBall(w, lr=0.1)`
Gradient = Callable[[int, np.ndarray], np.ndarray | float]  # of the step t = 0, 1, ... and the point x_t


def follow(
    rule: Rule,
    gradient: Gradient,
    start: np.ndarray,
    steps: int,
    box: float = np.inf,
    factor: Callable[[int], float] | None = None,
) -> np.ndarray:
    """The points x_0 ... x_steps, "t ...". The rate of step t is the optimizer's times `factor(t)`."""
    w = torch.tensor(np.asarray(start, dtype=float))
    optimizer, points = rule([w]), [w.numpy().copy()]
    rate = optimizer.param_groups[0]["lr"]
    for t in range(steps):
        w.grad = torch.from_numpy(np.array(np.broadcast_to(gradient(t, points[-1]), w.shape), dtype=float))
        optimizer.param_groups[0]["lr"] = rate * factor(t) if factor else rate
        optimizer.step()
        w.clamp_(-box, box)
        points.append(w.numpy().copy())
    return np.array(points)
