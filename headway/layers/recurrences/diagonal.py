"""What LRU and S5 share: many inputs, many outputs, and between them complex states that never mix.

    h_t = lambda * h_{t-1} + gain * B x_t          y_t = Re(C h_t) + D x_t

A linear time-invariant system with a diagonal transition can be computed in three ways that agree: a loop (`step`), a
scan (`forward`) and a convolution with y = sum_s K_s x_{t-s}, K_s = Re(C lambda^s gain B) + D [s = 0] (`convolve`).
Complex numbers are stored as pairs of real ones, so that optimizers and files need not know about them; half precision
is computed in float32. The system is linear: what follows it in a block is not.

The scan is O(t) and rounds at every position. In float32 the error grows with the memory of the states: with |lambda|
near 1 an LRU is 4e-5 off its float64 answer after 16,000 positions (others 2e-6 at most).
"""

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Complex, Float
from torch import Tensor, nn

from headway.layers.padding import require_right_padding
from headway.layers.precision import widened, without_autocast
from headway.layers.recurrences.scan import linear_scan

State = tuple[Complex[Tensor, "b n"]]


class Scale(nn.Module):
    """D x with a diagonal matrix D, of which only the diagonal is stored."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(width))

    def forward(self, x: Float[Tensor, "*b d"]) -> Float[Tensor, "*b d"]:
        return self.weight * x


def skip(inputs: int, width: int) -> Scale | nn.Linear:
    """D: diagonal as in the papers, or a full matrix where it must also change the width."""
    if inputs == width:
        return Scale(width)
    full = nn.Linear(inputs, width, bias=False)
    nn.init.normal_(full.weight, std=inputs**-0.5)
    return full


class Diagonal(nn.Module):
    """A mixer made from poles. Subclasses say how lambda and the gain come from their parameters, and how B, C and D begin."""

    causal = True
    B: Float[Tensor, "n i 2"]
    C: Float[Tensor, "d n 2"]
    D: Scale | nn.Linear

    def poles(self) -> tuple[Complex[Tensor, "n"], Complex[Tensor, "n"]]:
        """lambda, the factor of the state from one position to the next, and the gain of what is written."""
        raise TypeError(f"`{type(self).__name__}` is a diagonal recurrence without poles")

    def _write(self, x: Float[Tensor, "*b i"], gain: Complex[Tensor, "n"]) -> Complex[Tensor, "*b n"]:
        """gain * B x, as one product of real matrices."""
        b = torch.view_as_real(gain[:, None] * torch.view_as_complex(widened(self.B)))
        b = b.transpose(1, 2).flatten(0, 1)  # (n 2) i
        return torch.view_as_complex(F.linear(x, b).unflatten(-1, (-1, 2)))

    def _read(self, h: Complex[Tensor, "*b n"]) -> Float[Tensor, "*b d"]:
        """Re(C h); the real part of a product is re * re - im * im."""
        c = torch.view_as_real(torch.view_as_complex(widened(self.C)).conj_physical())
        return F.linear(torch.view_as_real(h).flatten(-2), c.flatten(1))

    def start(self, batch: int) -> State:
        return (torch.view_as_complex(widened(self.B.new_zeros(batch, len(self.B), 2))),)

    def step(self, x: Float[Tensor, "b i"], state: State) -> tuple[Float[Tensor, "b d"], State]:
        with without_autocast(x.device):
            pole, gain = self.poles()
            h = pole * state[0] + self._write(widened(x), gain)
            y = self._read(h).to(x.dtype)
        return y + self.D(x), (h,)

    def forward(self, x: Float[Tensor, "b t i"], keep: Bool[Tensor, "b t"] | None = None) -> Float[Tensor, "b t d"]:
        """Padding on the right is in the future of all that is kept, so `keep` changes nothing."""
        require_right_padding(keep)
        with without_autocast(x.device):
            pole, gain = self.poles()
            y = self._read(linear_scan(pole, self._write(widened(x), gain))).to(x.dtype)
        return y + self.D(x)

    def kernel(self, length: int) -> Float[Tensor, "t d i"]:
        """The impulse response K_0 ... K_{length-1}. It has length * d * i numbers: for looking at, not for training."""
        pole, gain = self.poles()
        written = gain[:, None] * torch.view_as_complex(self.B)
        powers = pole ** torch.arange(length, device=pole.device)[:, None]
        k = torch.einsum("dn,tn,ni->tdi", torch.view_as_complex(self.C), powers, written).real
        return torch.cat((k[:1] + (self.D.weight.diag() if isinstance(self.D, Scale) else self.D.weight), k[1:]))

    def convolve(self, x: Float[Tensor, "b t i"]) -> Float[Tensor, "b t d"]:
        """The same outputs as `forward`, by fast Fourier transform."""
        size = 2 * x.shape[1]  # zeros behind the sequence keep its end from reaching its beginning
        y = torch.einsum("fdi,bfi->bfd", torch.fft.rfft(self.kernel(x.shape[1]), size, 0), torch.fft.rfft(x, size, 1))
        return torch.fft.irfft(y, size, 1)[:, : x.shape[1]]
