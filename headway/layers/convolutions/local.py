"""The same wiring with fewer promises: a convolution, its twin without shared filters, its twin without locality."""

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from headway.layers.convolutions.boundaries import Boundary
from headway.layers.convolutions.convolution_2d import Convolution2d, pad_grid
from headway.layers.convolutions.sizes import demand_sizes


class Local(nn.Module):
    """Locally connected layer: Y[p] = b_p + W_p X[window of p], a convolution with a filter of its own at every place p.

    Local like a convolution, but nothing is shared: m^2 c d + d parameters for each place. Between S-CONV and S-FC of lecture E;
    Neyshabur 2020, "Towards learning convolutions from scratch", https://arxiv.org/abs/2007.13657.

    size   rows and columns of the images
    """

    aliases = ("S-LOCAL", "locally connected layer", "unshared convolution", "S-FC twin")
    roles = {"weight": "map", "bias": "vector"}

    def __init__(
        self, inputs: int, width: int, size: tuple[int, int], kernel: int, boundary: Boundary, stride: int = 1
    ) -> None:
        super().__init__()
        demand_sizes({"inputs": inputs, "width": width, "size": min(size), "kernel": kernel, "stride": stride})
        self.inputs, self.size, self.kernel, self.boundary, self.stride = inputs, size, kernel, boundary, stride
        self.outputs = (boundary.outputs(size[0], kernel, stride), boundary.outputs(size[1], kernel, stride))
        places, taps = self.outputs[0] * self.outputs[1], inputs * kernel**2
        self.weight = nn.Parameter(torch.empty(places, width, taps).uniform_(-(taps**-0.5), taps**-0.5))
        self.bias = nn.Parameter(torch.empty(width, places).uniform_(-(taps**-0.5), taps**-0.5))

    def forward(self, x: Float[Tensor, "b c y x"]) -> Float[Tensor, "b d _ _"]:
        patches = F.unfold(pad_grid(x, self.kernel, self.boundary), self.kernel, stride=self.stride)  # b (c m m) p
        return (torch.einsum("bkp,pdk->bdp", patches, self.weight) + self.bias).unflatten(2, self.outputs)


def unshared(convolution: Convolution2d, size: tuple[int, int]) -> Local:
    """The local layer that starts as this convolution of images of that size: its filter, copied to every place."""
    width, inputs = convolution.weight.shape[:2]
    local = Local(inputs, width, size, convolution.kernel, convolution.boundary, convolution.stride).to(
        convolution.weight
    )
    with torch.no_grad():
        local.weight.copy_(convolution.weight.flatten(1).expand_as(local.weight))
        local.bias.copy_(convolution.bias[:, None].expand_as(local.bias))
    return local


@torch.no_grad()
def dense(local: Local) -> nn.Linear:
    """The fully connected layer ("S-FC") that starts as this local layer, on images written as vectors "b (c y x)".

    Read off the layer itself: the image of zero is the bias, the images of the unit vectors are the columns.
    """
    n = local.inputs * local.size[0] * local.size[1]
    unit = torch.eye(n, dtype=local.weight.dtype, device=local.weight.device).unflatten(1, (local.inputs, *local.size))
    bias = local.bias.flatten()
    linear = nn.Linear(n, len(bias)).to(local.weight)
    linear.weight.copy_((local(unit).flatten(1) - bias).T)
    linear.bias.copy_(bias)
    return linear
