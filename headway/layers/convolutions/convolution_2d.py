"""Convolution of images, as a layer and in its equal forms: a doubly blocked Toeplitz matrix and a product of Fourier transforms."""

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from headway.layers.convolutions.boundaries import Boundary
from headway.layers.convolutions.convolution import toeplitz
from headway.layers.convolutions.sizes import demand_sizes


class Convolution2d(nn.Module):
    """Convolution of an image: Y[y, x] = b + sum_jk W[j, k] X[y + j - left, x + k - left], one m x m filter per pair of channels.

    m^2 c d + d parameters, however large the image. Written as cross-correlation, as in every library; the boundary holds along both
    axes. LeCun et al. 1998, https://doi.org/10.1109/5.726791; lecture C, chapter 4; lecture D, "Convolution Layer".
    """

    aliases = (
        "2-D convolution",
        "convolution of images",
        "convolution filter",
        "feature map",
        "S-CONV",
        "doubly blocked Toeplitz matrix",
    )
    roles = {"weight": "matrix"}

    def __init__(self, inputs: int, width: int, kernel: int, boundary: Boundary, stride: int = 1) -> None:
        super().__init__()
        demand_sizes({"inputs": inputs, "width": width, "kernel": kernel, "stride": stride})
        self.kernel, self.boundary, self.stride = kernel, boundary, stride
        bound = (inputs * kernel**2) ** -0.5  # as torch.nn.Conv2d does
        self.weight = nn.Parameter(torch.empty(width, inputs, kernel, kernel).uniform_(-bound, bound))
        self.bias = nn.Parameter(torch.empty(width).uniform_(-bound, bound))

    def forward(self, x: Float[Tensor, "b c y x"]) -> Float[Tensor, "b d _ _"]:
        """The new height and width are `boundary.outputs(y, kernel, stride)` and `boundary.outputs(x, kernel, stride)`."""
        return convolve_grid(x, self.weight, self.bias, self.boundary, self.stride)


def convolve_grid(
    x: Float[Tensor, "b c y x"],
    weight: Float[Tensor, "d c m m"],
    bias: Float[Tensor, "d"],
    boundary: Boundary,
    stride: int = 1,
) -> Float[Tensor, "b d _ _"]:
    """Y of `Convolution2d`. As many zeros before as after are left to torch: it makes no copy of the image with them, and
    computes no gradient for them (of a 14 x 14 image under a 5 x 5 filter, two fifths of the work).
    """
    kernel = weight.shape[-1]
    before, after = boundary.ends(kernel)
    if boundary.zeros and before == after:
        for size in x.shape[2:]:
            boundary.outputs(size, kernel, stride)  # raises where the filter has no place
        return F.conv2d(x, weight, bias, stride, before)
    return F.conv2d(pad_grid(x, kernel, boundary), weight, bias, stride)


def pad_grid(x: Float[Tensor, "*b y x"], kernel: int, boundary: Boundary) -> Float[Tensor, "*b _ _"]:
    """The boundary along the last two axes."""
    return boundary.pad(boundary.pad(x, kernel, axis=-2), kernel, axis=-1)


def toeplitz_2d(
    kernel: Float[Tensor, "*c m m"], size: tuple[int, int], boundary: Boundary, stride: int = 1
) -> Float[Tensor, "*c t s"]:
    """The doubly blocked Toeplitz matrix T with T vec(X) = vec(h ⋆ X): a Toeplitz matrix of blocks, each of them Toeplitz.

    For images of `size` (height, width), small ones: T has a row for each pixel of the output and a column for each of the input.
    """
    m = kernel.shape[-1]
    taps = torch.eye(m, dtype=kernel.dtype, device=kernel.device)
    # m t s: where tap j meets position s in output t
    down, across = (toeplitz(taps, n, boundary, stride) for n in size)
    return torch.einsum("...jk,jts,kuv->...tusv", kernel, down, across).flatten(-2).flatten(-3, -2)


def by_fft_2d(
    x: Float[Tensor, "*b y x"], kernel: Float[Tensor, "*c m m"], boundary: Boundary
) -> Float[Tensor, "*d _ _"]:
    """F(h ⋆ X) = conj(F h) F X in two dimensions. Leading axes broadcast; channels are summed by the caller."""
    m = kernel.shape[-1]
    x = pad_grid(x, m, boundary)
    rows, columns = x.shape[-2:]
    y = torch.fft.irfft2(torch.fft.rfft2(kernel, (rows, columns)).conj() * torch.fft.rfft2(x), (rows, columns))
    return y[..., : rows - m + 1, : columns - m + 1]
