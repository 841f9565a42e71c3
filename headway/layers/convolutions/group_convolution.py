"""Convolution over p4, the translations and quarter turns of the plane. An image is first lifted, then convolved within the group."""

import torch
from jaxtyping import Float
from torch import Tensor, nn

from headway.core.errors import ConfigError
from headway.layers.convolutions.boundaries import Boundary
from headway.layers.convolutions.convolution_2d import convolve_grid
from headway.layers.convolutions.sizes import demand_sizes


class Lifting(nn.Module):
    """From an image to the group: Y[r] = b + (R^r W) ⋆ X, the same filter in its four orientations r, where R is a quarter turn.

    Cohen & Welling 2016, https://arxiv.org/abs/1602.07576, section 6.1.
    """

    roles = {"weight": "matrix"}

    def __init__(self, inputs: int, width: int, kernel: int, boundary: Boundary) -> None:
        super().__init__()
        demand_sizes({"inputs": inputs, "width": width, "kernel": kernel})
        demand_symmetry(boundary, kernel)
        self.kernel, self.boundary = kernel, boundary
        bound = (inputs * kernel**2) ** -0.5
        self.weight = nn.Parameter(torch.empty(width, inputs, kernel, kernel).uniform_(-bound, bound))
        self.bias = nn.Parameter(torch.empty(width).uniform_(-bound, bound))

    def forward(self, x: Float[Tensor, "b c y x"]) -> Float[Tensor, "b d 4 _ _"]:
        filters = torch.stack([self.weight.rot90(r, (-2, -1)) for r in range(4)], 1)  # d r c m m
        y = convolve_grid(x, filters.flatten(0, 1), self.bias.repeat_interleave(4), self.boundary)
        return y.unflatten(1, (-1, 4))


class GroupConvolution(nn.Module):
    """Group convolution over p4: Y[r] = b + sum_s (R^r W[s - r]) ⋆ X[s], filters that turn in the plane and among the orientations.

    X holds four orientations s of each channel (`Lifting` makes them from an image), W[s] a filter for each of them. If the image turns
    by 90 degrees, the output turns and its orientations move up by one (`turn`); with a maximum over orientations and places at the end
    the whole network is invariant. Cohen & Welling 2016, https://arxiv.org/abs/1602.07576, section 6.1; lecture A, "Group-CNNs".
    """

    aliases = ("p4 group convolution", "G-CNN", "group-CNN", "rotation-equivariant convolution", "p4")
    roles = {"weight": "matrix"}

    def __init__(self, inputs: int, width: int, kernel: int, boundary: Boundary) -> None:
        super().__init__()
        demand_sizes({"inputs": inputs, "width": width, "kernel": kernel})
        demand_symmetry(boundary, kernel)
        self.kernel, self.boundary = kernel, boundary
        bound = (4 * inputs * kernel**2) ** -0.5
        self.weight = nn.Parameter(torch.empty(width, inputs, 4, kernel, kernel).uniform_(-bound, bound))
        self.bias = nn.Parameter(torch.empty(width).uniform_(-bound, bound))

    def forward(self, x: Float[Tensor, "b c 4 y x"]) -> Float[Tensor, "b d 4 _ _"]:
        turned: list[Tensor] = [self.weight]
        for _ in range(3):
            turned.append(turn(turned[-1]))
        filters = torch.stack(turned, 1)  # d r c s m m: the group acts on filters as it does on what they see
        filters = filters.flatten(2, 3).flatten(0, 1)
        y = convolve_grid(x.flatten(1, 2), filters, self.bias.repeat_interleave(4), self.boundary)
        return y.unflatten(1, (-1, 4))


def turn(x: Float[Tensor, "b c 4 y x"]) -> Float[Tensor, "b c 4 x y"]:
    """The action of a quarter turn on the group's functions: (L X)[s] = R X[s - 1]."""
    return x.rot90(1, (-2, -1)).roll(1, 2)


def demand_symmetry(boundary: Boundary, kernel: int) -> None:
    left, right = boundary.ends(kernel)
    if left != right:
        raise ConfigError(
            f"`{type(boundary).__name__}()` with a filter of {kernel} treats the two ends of a row differently, so turning breaks it",
            "use `Valid()`, `Full()`, or `Same()` with an odd `kernel`",
        )
