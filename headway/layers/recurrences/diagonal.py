"""What LRU and S5 share: many inputs, many outputs, and between them complex states that never mix.

    h_t = lambda * h_{t-1} + gain * B x_t          y_t = Re(C h_t) + D x_t

A linear time-invariant system with a diagonal transition can be computed in three ways that agree: a loop (`step`), a scan (`forward`)
and a convolution with y = sum_s K_s x_{t-s}, K_s = Re(C lambda^s gain B) + D [s = 0] (`convolve`). Complex numbers are stored as pairs
of real ones, so that optimizers and files need not know about them. The system is linear: what follows it in a block is not.
"""

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Complex, Float
from torch import Tensor, nn

from headway.layers.recurrences.scan import linear_scan

State = tuple[Complex[Tensor, "b n"]]


class Diagonal(nn.Module):
    """A mixer made from poles. Subclasses say how lambda and the gain come from their parameters, and how B, C and D begin."""

    causal = True
    B: Float[Tensor, "n i 2"]
    C: Float[Tensor, "d n 2"]
    D: Float[Tensor, "d i"]

    def poles(self) -> tuple[Complex[Tensor, "n"], Complex[Tensor, "n"]]:
        """lambda, the factor of the state from one position to the next, and the gain of what is written."""
        raise TypeError(f"`{type(self).__name__}` is a diagonal recurrence without poles")

    def _write(self, x: Float[Tensor, "*b i"], gain: Complex[Tensor, "n"]) -> Complex[Tensor, "*b n"]:
        """gain * B x, as one product of real matrices."""
        b = torch.view_as_real(gain[:, None] * torch.view_as_complex(self.B)).transpose(1, 2).flatten(0, 1)  # (n 2) i
        return torch.view_as_complex(F.linear(x, b).unflatten(-1, (-1, 2)))

    def _read(self, h: Complex[Tensor, "*b n"], x: Float[Tensor, "*b i"]) -> Float[Tensor, "*b d"]:
        """Re(C h) + D x; the real part of a product is re * re - im * im."""
        c = (self.C * self.C.new_tensor([1.0, -1.0])).flatten(1)
        return F.linear(torch.view_as_real(h).flatten(-2), c) + F.linear(x, self.D)

    def start(self, batch: int) -> State:
        return (torch.view_as_complex(self.B.new_zeros(batch, len(self.B), 2)),)

    def step(self, x: Float[Tensor, "b i"], state: State) -> tuple[Float[Tensor, "b d"], State]:
        pole, gain = self.poles()
        h = pole * state[0] + self._write(x, gain)
        return self._read(h, x), (h,)

    def forward(self, x: Float[Tensor, "b t i"], keep: Bool[Tensor, "b t"] | None = None) -> Float[Tensor, "b t d"]:
        """Padding on the right is in the future of all that is kept, so `keep` changes nothing."""
        pole, gain = self.poles()
        return self._read(linear_scan(pole, self._write(x, gain)), x)

    def kernel(self, length: int) -> Float[Tensor, "t d i"]:
        """The impulse response K_0 ... K_{length-1}. It has length * d * i numbers: for looking at, not for training."""
        pole, gain = self.poles()
        written = gain[:, None] * torch.view_as_complex(self.B)
        powers = pole ** torch.arange(length, device=pole.device)[:, None]
        k = torch.einsum("dn,tn,ni->tdi", torch.view_as_complex(self.C), powers, written).real
        return torch.cat((k[:1] + self.D, k[1:]))

    def convolve(self, x: Float[Tensor, "b t i"]) -> Float[Tensor, "b t d"]:
        """The same outputs as `forward`, by fast Fourier transform."""
        size = 2 * x.shape[1]  # zeros behind the sequence keep its end from reaching its beginning
        y = torch.einsum("fdi,bfi->bfd", torch.fft.rfft(self.kernel(x.shape[1]), size, 0), torch.fft.rfft(x, size, 1))
        return torch.fft.irfft(y, size, 1)[:, : x.shape[1]]
