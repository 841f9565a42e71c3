import math

import torch
from jaxtyping import Complex, Float
from torch import Tensor, nn

from headway.core.errors import ConfigError
from headway.layers.precision import widened
from headway.layers.recurrences.diagonal import Diagonal, skip


def hippo(states: int) -> tuple[Complex[Tensor, "n"], Complex[Tensor, "m n"]]:
    """Eigenvalues above the real axis and eigenvectors of HiPPO-N, the normal part of the matrix that projects on Legendre polynomials.

    A_nk = -1/2 on the diagonal, -sqrt((n + 1/2)(k + 1/2)) below it and the opposite above: -1/2 plus a skew matrix.
    """
    root = (torch.arange(states, dtype=torch.float64) + 0.5).sqrt()
    skew = torch.outer(root, root).triu(1) - torch.outer(root, root).tril(-1)
    omega, vectors = torch.linalg.eigh(-1j * skew)  # in ascending order, and symmetric about zero
    return torch.complex(torch.full_like(omega, -0.5), omega)[states // 2 :], vectors[:, states // 2 :]


class S5(Diagonal):
    """Simplified structured state space: one system with many inputs and outputs, diagonal, computed by a scan.

        h' = A h + B x,  y = Re(C h) + D x        lambda = exp(dt A)        gain = (lambda - 1) / A        (zero-order hold)

    A begins with the eigenvalues of HiPPO-N, B and C in its basis; of each conjugate pair one state is kept and counted
    twice in C. The real parts of A are -exp(.), so the system stays stable. D is a vector, as in the paper, where
    `inputs` equals `width`, and otherwise a matrix; HiPPO-N is one block (the paper also tries several). Smith,
    Warrington, Linderman 2023, https://arxiv.org/abs/2208.04933.
    """

    aliases = ("simplified state space", "S5 state space", "MIMO state space")
    sees, needs_positions = "past", False
    roles = {"dt": "rate", "decay": "rate", "omega": "rate", "B": "map", "C": "map"}

    def __init__(self, inputs: int, width: int, states: int = 64, dt_min: float = 1e-3, dt_max: float = 1e-1) -> None:
        super().__init__()
        if states < 2 or states % 2:
            raise ConfigError(
                f"`states` is {states}, expected an even number", "states come in conjugate pairs: write `states=64`."
            )
        eigenvalues, vectors = hippo(states)
        kind = torch.get_default_dtype()
        self.decay = nn.Parameter((-eigenvalues.real).log().to(kind))  # the logarithm of -Re A
        self.omega = nn.Parameter(eigenvalues.imag.to(kind))
        self.dt = nn.Parameter(math.log(dt_min) + torch.rand(states // 2) * math.log(dt_max / dt_min))  # its logarithm
        b = torch.randn(states, inputs, dtype=torch.float64) / math.sqrt(inputs)
        c = torch.randn(width, states, dtype=torch.float64) / math.sqrt(states)
        self.B = nn.Parameter(torch.view_as_real(vectors.mH @ b.to(vectors.dtype)).to(kind))
        self.C = nn.Parameter(torch.view_as_real(2 * c.to(vectors.dtype) @ vectors).to(kind))
        self.D = skip(inputs, width)

    def continuous(self) -> tuple[Complex[Tensor, "n"], Float[Tensor, "n"]]:
        """A and dt."""
        return torch.complex(-widened(self.decay).exp(), widened(self.omega)), widened(self.dt).exp()

    def poles(self) -> tuple[Complex[Tensor, "n"], Complex[Tensor, "n"]]:
        a, dt = self.continuous()
        return (a * dt).exp(), (a * dt).expm1() / a
