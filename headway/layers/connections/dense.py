import torch
from torch import Tensor, nn


class Dense(nn.Module):
    """Dense connection: y = [x ; F(x)], so that every layer sees what all layers before it have made.

    The width grows by that of F(x): a stack of L layers that each add k ends at d + L k, and the l-th sees d + (l - 1) k. With all
    weights of F zero, x passes unchanged beside k zeros. Huang et al. 2017, "Densely connected convolutional networks",
    https://arxiv.org/abs/1608.06993; lecture C, section 2.3.

    layer   F
    axis    the one that grows: the last for "b t d", 1 for the channels of images "b c y x"
    """

    aliases = ("dense connection", "DenseNet connection", "densely connected layers")

    def __init__(self, layer: nn.Module, axis: int = -1) -> None:
        """`axis` is the one that grows: the last for "b t d", 1 for the channels of images "b c y x"."""
        super().__init__()
        self.layer, self.axis = layer, axis

    def forward(self, x: Tensor) -> Tensor:
        return torch.cat((x, self.layer(x)), self.axis)
