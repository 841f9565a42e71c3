import math

import torch
from jaxtyping import Complex
from torch import Tensor, nn

from headway.core.errors import ConfigError
from headway.layers.precision import widened
from headway.layers.recurrences.diagonal import Diagonal, skip


class LRU(Diagonal):
    """Linear recurrent unit: complex states that turn and shrink, with moduli inside (0, 1) whatever training does.

        h_t = lambda * h_{t-1} + gamma * B x_t        y_t = Re(C h_t) + D x_t        lambda = exp(-exp(nu) + i exp(theta))

    D is a vector, as in the paper, where `inputs` equals `width`, and otherwise a matrix. lambda begins uniformly on
    the ring r_min < |lambda| < r_max, which takes a uniform r^2, not r (erratum C19): nu = log(-1/2 log(u (r_max^2 -
    r_min^2) + r_min^2)). gamma begins at sqrt(1 - |lambda|^2), which gives the states of white noise the variance of
    the noise. Orvieto et al. 2023, "Resurrecting recurrent neural networks for long sequences",
    https://arxiv.org/abs/2303.06349; lecture C.

    r_min   the smallest modulus that lambda begins with
    r_max   the largest one
    """

    aliases = ("linear recurrent unit", "Resurrecting recurrent neural networks")
    sees, needs_positions = "past", False
    roles = {"nu": "rate", "theta": "rate", "gamma": "rate", "B": "map", "C": "map"}

    def __init__(self, inputs: int, width: int, states: int = 64, r_min: float = 0.9, r_max: float = 0.999) -> None:
        super().__init__()
        if not 0 <= r_min < r_max <= 1:
            hint = "write two radii of a ring, such as `r_min=0.9, r_max=0.999`."
            raise ConfigError(f"`r_min` is {r_min} and `r_max` is {r_max}, expected 0 <= r_min < r_max <= 1", hint)
        u = 1 - torch.rand(states)  # in (0, 1]: a radius of zero has no logarithm
        squared = (u * (r_max**2 - r_min**2) + r_min**2).clamp(max=1 - 1e-6)
        self.nu = nn.Parameter((-0.5 * squared.log()).log())
        self.theta = nn.Parameter((2 * math.pi * (1 - torch.rand(states))).log())
        self.gamma = nn.Parameter(0.5 * (1 - squared).log())  # its logarithm, which keeps it positive
        self.B = nn.Parameter(torch.randn(states, inputs, 2) / math.sqrt(2 * inputs))
        self.C = nn.Parameter(torch.randn(width, states, 2) / math.sqrt(states))
        self.D = skip(inputs, width)

    def poles(self) -> tuple[Complex[Tensor, "n"], Complex[Tensor, "n"]]:
        # exp(-exp(nu)) lies in (0, 1) on paper; both ends are kept out of reach of rounding as well, and so is an infinite angle.
        nu, theta, gamma = (widened(p) for p in (self.nu, self.theta, self.gamma))
        decay = nu.exp().clamp(max=80.0) + 8 * torch.finfo(nu.dtype).eps
        return torch.polar((-decay).exp(), theta.exp().clamp(max=100.0)), gamma.exp() + 0j
