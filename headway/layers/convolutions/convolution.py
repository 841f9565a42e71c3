"""Convolution along a sequence, as a layer and in its three equal forms: the sum, a Toeplitz matrix, a product of Fourier transforms."""

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Num
from torch import Tensor, nn

from headway.core.errors import ConfigError
from headway.layers.convolutions.boundaries import Boundary, Circular
from headway.layers.convolutions.sizes import demand_sizes
from headway.layers.padding import require_right_padding


class Convolution(nn.Module):
    """Convolution of a sequence: y_t = b + sum_i W_i x_{s t + i - left}, i = 0 .. m - 1, one filter for all positions.

    The boundary says what stands before position 0 and after the last one, s is the stride. This is a cross-correlation: the filter is
    not flipped, as in every library. A learned filter does not mind, it is learned the other way round (`convolve` is the flipped one).
    With `Causal()` and stride 1 it is a causal mixer whose state is the last m - 1 inputs.
    LeCun et al. 1998, https://doi.org/10.1109/5.726791; lecture C, chapter 4; lecture D.
    """

    aliases = (
        "1-D convolution", "convolutional layer", "cross-correlation", "weight sharing", "Toeplitz matrix",
        "valid convolution", "same zero padding", "circular convolution", "causal convolution",
    )  # fmt: skip
    roles = {"weight": "matrix"}

    def __init__(self, inputs: int, width: int, kernel: int, boundary: Boundary, stride: int = 1) -> None:
        super().__init__()
        demand_sizes({"inputs": inputs, "width": width, "kernel": kernel, "stride": stride})
        self.kernel, self.boundary, self.stride = kernel, boundary, stride
        self.causal = boundary.causal and stride == 1
        bound = (inputs * kernel) ** -0.5  # as torch.nn.Conv1d does
        self.weight = nn.Parameter(torch.empty(width, inputs, kernel).uniform_(-bound, bound))
        self.bias = nn.Parameter(torch.empty(width).uniform_(-bound, bound))

    def forward(self, x: Float[Tensor, "b s i"], keep: Bool[Tensor, "b s"] | None = None) -> Float[Tensor, "b t d"]:
        """`keep` is False at padding, which counts as lying beyond the end. t = s under `Same`, `Causal` and `Circular` with stride 1."""
        require_right_padding(keep)
        x = self.boundary.pad(x, self.kernel, axis=-2) if keep is None else self.boundary.pad_rows(x, keep, self.kernel)
        return F.conv1d(x.transpose(1, 2), self.weight, self.bias, self.stride).transpose(1, 2)

    def start(self, batch: int) -> Float[Tensor, "b m i"]:
        """The m - 1 zeros before the sequence."""
        if not self.causal:
            raise ConfigError(
                f"a convolution with `{type(self.boundary).__name__}()` and stride {self.stride} cannot go step by step",
                "use `Causal()` and a `stride` of 1",
            )
        return self.weight.new_zeros(batch, self.kernel - 1, self.weight.shape[1])

    def step(
        self, x: Float[Tensor, "b i"], state: Float[Tensor, "b m i"]
    ) -> tuple[Float[Tensor, "b d"], Float[Tensor, "b m i"]]:
        """One position, given the m - 1 inputs before it."""
        window = torch.cat((state, x[:, None]), 1)
        return F.linear(window.transpose(1, 2).flatten(1), self.weight.flatten(1), self.bias), window[:, 1:]


def correlate(h: Num[Tensor, "m"], f: Num[Tensor, "*b n"], boundary: Boundary) -> Num[Tensor, "*b t"]:
    """(h ⋆ f)[u] = sum_t h[t] f[u + t - left]: cross-correlation, lecture C, definition 4.8."""
    return boundary.pad(f, len(h)).unfold(-1, len(h), 1) @ h


def convolve(h: Num[Tensor, "m"], f: Num[Tensor, "*b n"], boundary: Boundary) -> Num[Tensor, "*b t"]:
    """(h * f)[u] = sum_t h[t] f[u - t] = (h~ ⋆ f)[u] with h~[t] = h[-t]: correlation with the flipped filter (erratum C15).

    `Full()` gives the whole of it, `Causal()` its first n values, `Same()` the n in the middle, `Valid()` those without zeros.
    """
    y = correlate(h.flip(0), f, boundary)
    # A finite filter can only be flipped about its middle, which is m - 1 places off from h[-t]; on a circle nothing else undoes it.
    return y.roll(len(h) - 1, -1) if isinstance(boundary, Circular) else y


def toeplitz(
    kernel: Float[Tensor, "*c m"], length: int, boundary: Boundary, stride: int = 1
) -> Float[Tensor, "*c t s"]:
    """The matrix T with T f = h ⋆ f: T_ts = h[s - t + left], so every diagonal holds one number, m different ones instead of n^2.

    Padding is linear too: the windows of the padded identity matrix say which tap of output t meets which position s.
    """
    eye = torch.eye(length, dtype=kernel.dtype, device=kernel.device)
    windows = boundary.pad(eye, kernel.shape[-1], axis=-2).unfold(0, kernel.shape[-1], stride)
    return torch.einsum("...m,tsm->...ts", kernel, windows)


def by_fft(x: Float[Tensor, "*b n"], kernel: Float[Tensor, "*c m"], boundary: Boundary) -> Float[Tensor, "*d t"]:
    """h ⋆ f through the Fourier transform: F(h ⋆ f) = conj(F h) F f, O(n log n) for filters of any length.

    Without the conjugate it would be the convolution h * f (erratum D5). Leading axes broadcast; channels are summed by the caller.
    """
    x, m = boundary.pad(x, kernel.shape[-1]), kernel.shape[-1]
    n = x.shape[-1]
    y = torch.fft.irfft(torch.fft.rfft(kernel, n).conj() * torch.fft.rfft(x), n)
    return y[..., : n - m + 1]  # the last m - 1 have gone round the circle
