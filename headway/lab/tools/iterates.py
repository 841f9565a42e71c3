"""The points that an optimizer of the package passes, for a gradient that is given as a function of the point."""

from collections.abc import Callable, Iterator

import numpy as np
import torch
from torch import Tensor, nn

Rule = Callable[[list[Tensor]], torch.optim.Optimizer]  # `lambda w: HeavyBall(w, lr=0.1)`


def iterates(
    rule: Rule, start: np.ndarray, gradient: Callable[[np.ndarray], np.ndarray], steps: int
) -> Iterator[np.ndarray]:
    """The start and the point after each step, in float64; a new gradient, which may be random, is asked for before each."""
    w = nn.Parameter(torch.from_numpy(np.array(start, dtype=float)))
    optimizer = rule([w])
    yield w.detach().numpy().copy()
    for _ in range(steps):
        w.grad = torch.from_numpy(np.asarray(gradient(w.detach().numpy()), dtype=float))
        optimizer.step()
        yield w.detach().numpy().copy()
