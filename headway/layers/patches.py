import math
from itertools import pairwise

import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn


class Patches(nn.Module):
    """Patch embedding: a picture as a grid of patches of p x p pixels, each of them mapped to d numbers by the same matrix.

        z_yx = W vec(patch at row y p, column x p) + b

    A convolution whose filters stand side by side (stride p) computes all of them at once. A picture that is no multiple
    of p is continued with zeros on the right and below. Dosovitskiy et al. 2021, https://arxiv.org/abs/2010.11929,
    equation 1; lectures A to D.

    channels   numbers of one pixel
    patch      p, pixels along each side
    """

    aliases = ("patch embedding", "picture patches", "image tokens")

    def __init__(self, channels: int, width: int, patch: int) -> None:
        super().__init__()
        self.patch = patch
        self.project = nn.Conv2d(channels, width, patch, patch)

    def forward(self, pictures: Float[Tensor, "b c y x"]) -> Float[Tensor, "b _ _ d"]:
        down, right = (-n % self.patch for n in pictures.shape[2:])
        return self.project(F.pad(pictures, (0, right, 0, down))).movedim(1, -1)


class EarlyConvolutions(nn.Module):
    """The same grid from log2(p) convolutions of 3 x 3 with stride 2: each doubles the filters, up to d, then ReLU.

    Neighbouring patches overlap, which helps a small Transformer on small data. Xiao et al. 2021, "Early convolutions
    help Transformers see better", https://arxiv.org/abs/2106.14881 (there with batch normalisation); Hassani et al.
    2021, https://arxiv.org/abs/2104.05704, call it a convolutional tokenizer.

    channels   numbers of one pixel
    patch      p, a power of two; others are rounded up
    """

    def __init__(self, channels: int, width: int, patch: int) -> None:
        super().__init__()
        steps = max(1, math.ceil(math.log2(patch)))
        sizes = [channels, *(max(1, width >> (steps - i)) for i in range(1, steps)), width]
        self.stages = nn.ModuleList(
            nn.Conv2d(i, o, 3, stride=2 if patch > 1 else 1, padding=1) for i, o in pairwise(sizes)
        )
        self.project = nn.Conv2d(width, width, 1)

    def forward(self, pictures: Float[Tensor, "b c y x"]) -> Float[Tensor, "b _ _ d"]:
        x = pictures
        for stage in self.stages:
            x = stage(x).relu()
        return self.project(x).movedim(1, -1)
