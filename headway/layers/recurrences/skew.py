"""Matrices with a chosen symmetric part: what gives antisymmetric and Lipschitz RNNs their stability."""

import torch
from jaxtyping import Float
from torch import Tensor, nn


class Skew(nn.Module):
    """A = (1 - beta) (M + M^T) + beta (M - M^T) - gamma I, as a parametrization of M.

    With beta = 1 only the skew part is left: A + A^T = -2 gamma I, so every eigenvalue has the real part -gamma.

    beta   from 1/2 (M free) to 1 (skew)
    """

    def __init__(self, beta: float, gamma: float) -> None:
        super().__init__()
        self.beta, self.gamma = beta, gamma

    def forward(self, m: Float[Tensor, "d d"]) -> Float[Tensor, "d d"]:
        return m + (1 - 2 * self.beta) * m.T - self.gamma * torch.eye(len(m), dtype=m.dtype, device=m.device)
