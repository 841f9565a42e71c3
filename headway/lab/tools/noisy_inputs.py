"""A network whose inputs carry noise: its mean squared error, and the second-order form of it (Bishop 1995)."""

import numpy as np
import torch
from torch import Tensor

from headway.lab.tools.training import outputs


def beyond_second_order(net: torch.nn.Module, sigmas: np.ndarray, rows: np.ndarray, y: np.ndarray) -> np.ndarray:
    """|E (f(x + ε) - y)² - (f - y)² - σ²(|∇f|² + (f - y)Δf)| for ε ~ N(0, σ²I) and each σ, averaged over rows x of two inputs.

    The mean over ε is that of Gauss and Hermite's 20 nodes on each axis, exact far below σ⁴.
    """
    nodes, weights = np.polynomial.hermite_e.hermegauss(20)
    grid = torch.from_numpy(np.stack(np.meshgrid(nodes, nodes), axis=-1).reshape(-1, 2))
    chance = torch.from_numpy(np.outer(weights, weights).ravel() / np.sum(weights) ** 2)
    found = np.zeros((len(sigmas), len(rows)))
    for i, x in enumerate(torch.from_numpy(rows)):

        def loss(x: Tensor, target: float = y[i]) -> Tensor:
            return (outputs(net, torch.atleast_2d(x))[:, 0] - target).square()

        bend = torch.autograd.functional.hessian(lambda x: loss(x)[0], x).trace()  # 2 (|∇f|² + (f - y) Δf)
        for j, s in enumerate(sigmas):
            found[j, i] = abs(float(chance @ loss(x + s * grid).detach() - loss(x)[0].detach() - s**2 / 2 * bend))
    return found.mean(1)
