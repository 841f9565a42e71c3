import torch
from jaxtyping import Float
from torch import Tensor, nn

from headway.layers.initialisation import he_normal
from headway.layers.norms.batch_norm import BatchNorm


class PreActivation(nn.Module):
    """Batch normalisation, ReLU, convolution, in this order: x -> K * relu(norm(x)), the brick of ResNet and DenseNet.

    The convolution has no bias, because the next norm would remove it, and zeros around the picture, so that as many rows
    and columns come out as go in (stride s: one of s, rounded up). First weights after He et al. 2015 (`he_normal`).
    He et al. 2016, "Identity mappings in deep residual networks", https://arxiv.org/abs/1603.05027, figure 4 (e).

    inputs   channels of what is read
    """

    aliases = ("pre-activation", "BN-ReLU-Conv", "full pre-activation")

    def __init__(self, inputs: int, width: int, kernel: int, stride: int = 1) -> None:
        super().__init__()
        self.norm = BatchNorm(inputs)
        self.convolution = nn.Conv2d(inputs, width, kernel, stride, kernel // 2, bias=False)
        he_normal(self.convolution.weight)

    def forward(self, x: Float[Tensor, "b c y x"]) -> Float[Tensor, "b d _ _"]:
        return self.convolution(activated(self.norm, x))


def activated(norm: BatchNorm, x: Float[Tensor, "b c y x"]) -> Float[Tensor, "b c y x"]:
    """relu(norm(x)), in place of norm(x): no gradient needs that, and a tensor less is written."""
    return norm.over_channels(x).relu_()


def channels_last(x: Float[Tensor, "b c y x"]) -> Float[Tensor, "b c y x"]:
    """The same numbers, those of one pixel side by side in memory: convolutions on a CPU are a quarter faster so."""
    return x.contiguous(memory_format=torch.channels_last)
