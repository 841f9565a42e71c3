import math

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Complex, Float
from torch import Tensor, nn

from headway.core.errors import ConfigError
from headway.layers.linear import Linear
from headway.layers.padding import require_right_padding
from headway.layers.precision import widened, without_autocast

State = tuple[Complex[Tensor, "b d n"]]


class S4(nn.Module):
    """Structured state space, diagonal: one small linear system per channel, trained as a long convolution.

        h' = A h + u,  y = 2 Re(C h) + D u        lambda = exp(dt A)        K_s = 2 Re(C (lambda - 1) / A lambda^s)

    This is S4D-Lin: A_n = -1/2 + i pi n, zero-order hold; the dense HiPPO matrix of the first S4 paper is not here. The
    channels are mixed before and after: u = W x, z = GLU(V GELU(y)). The Fourier transform rounds all positions
    together: in float32 the future changes the past by about 1e-7 of the largest value. Half precision is computed in
    float32. Gu, Goel, Re 2022, https://arxiv.org/abs/2111.00396; Gu, Gupta, Goel, Re 2022,
    https://arxiv.org/abs/2206.11893.

    states   numbers in the state of each channel, in conjugate pairs
    """

    aliases = ("S4D", "structured state space", "structured state-space model", "state space model", "SSM")
    sees, needs_positions = "past", False
    roles = {"dt": "rate", "decay": "rate", "omega": "rate", "C": "map", "D": "vector"}
    causal = True

    def __init__(self, inputs: int, width: int, states: int = 64, dt_min: float = 1e-3, dt_max: float = 1e-1) -> None:
        super().__init__()
        if states < 2 or states % 2:
            raise ConfigError(
                f"`states` is {states}, expected an even number", "states come in conjugate pairs: write `states=64`."
            )
        n = states // 2
        self.input = Linear(inputs, width)
        self.dt = nn.Parameter(math.log(dt_min) + torch.rand(width, 1) * math.log(dt_max / dt_min))  # its logarithm
        # the logarithm of -Re A: the system stays stable
        self.decay = nn.Parameter(torch.full((width, n), math.log(0.5)))
        self.omega = nn.Parameter(math.pi * torch.arange(n).to(self.dt.dtype).repeat(width, 1))
        self.C = nn.Parameter(torch.randn(width, n, 2) * math.sqrt(0.5))
        self.D = nn.Parameter(torch.randn(width))
        self.output = Linear(width, 2 * width)

    def poles(self) -> tuple[Complex[Tensor, "d n"], Complex[Tensor, "d n"]]:
        """log lambda = dt A, and what is read of a written one, 2 C (lambda - 1) / A."""
        a = torch.complex(-widened(self.decay).exp(), widened(self.omega))
        z = a * widened(self.dt).exp()
        return z, 2 * torch.view_as_complex(widened(self.C)) * z.expm1() / a

    def _mix(self, y: Float[Tensor, "*b d"]) -> Float[Tensor, "*b d"]:
        return F.glu(self.output(F.gelu(y)), -1)

    def start(self, batch: int) -> State:
        return (torch.view_as_complex(widened(self.C.new_zeros(batch, *self.C.shape))),)

    def step(self, x: Float[Tensor, "b i"], state: State) -> tuple[Float[Tensor, "b d"], State]:
        z, read = self.poles()
        u = self.input(x)
        h = z.exp() * state[0] + u[..., None]
        return self._mix((read * h).real.sum(-1).to(u.dtype) + self.D * u), (h,)

    def forward(self, x: Float[Tensor, "b t i"], keep: Bool[Tensor, "b t"] | None = None) -> Float[Tensor, "b t d"]:
        """Padding on the right is in the future of all that is kept, so `keep` changes nothing."""
        require_right_padding(keep)
        return self._mix(self.convolve(self.input(x)))

    def kernel(self, length: int) -> Float[Tensor, "d t"]:
        """The impulse response of every channel, without D.

        With s = i c + j the powers factor, lambda^s = lambda^(i c) lambda^j: two tables of sqrt(length) powers and a matrix product
        in place of a table of d * n * length.
        """
        z, read = self.poles()
        c = math.isqrt(max(0, length - 1)) + 1
        j = torch.arange(c, device=z.device)
        # "d i n", "d n j"
        rows, columns = (
            read[:, None] * (z[:, None] * (j * c)[:, None]).exp(),
            (z[..., None] * j).exp(),
        )
        left, right = torch.cat((rows.real, -rows.imag), -1), torch.cat((columns.real, columns.imag), 1)
        with without_autocast(z.device):
            whole = left @ right  # the real part of a product of complex matrices
        return whole.flatten(1)[:, :length]

    def convolve(self, u: Float[Tensor, "b t d"]) -> Float[Tensor, "b t d"]:
        """y = K * u + D u by fast Fourier transform: no state is ever stored for all positions."""
        t = u.shape[1]
        size = 1 << (2 * t - 1).bit_length()  # zeros behind the sequence keep its end from reaching its beginning
        if not u.numel():  # no transform of nothing
            return u
        y = torch.fft.irfft(torch.fft.rfft(widened(u).mT, size) * torch.fft.rfft(self.kernel(t), size), size)
        return y[..., :t].mT.to(u.dtype) + self.D * u
