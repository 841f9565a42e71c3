from dataclasses import dataclass
from itertools import pairwise

import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from headway.core.config import require
from headway.layers.convolutions.boundaries import Same
from headway.layers.convolutions.group_convolution import GroupConvolution, Lifting
from headway.layers.dropout import Dropout
from headway.layers.initialisation import he_normal


@dataclass(frozen=True)
class Config:
    filters: int = 16  # of the first stage, each in four orientations; every further stage has twice as many
    depth: int = 3  # stages; between two of them the picture is halved
    kernel: int = 3  # m, pixels along each side of a filter
    width: int = 128  # d, units of the layer after the last stage
    dropout: float = 0.1  # on the layer after the last stage

    def __post_init__(self) -> None:
        least = min(self.filters, self.depth, self.kernel, self.width)
        require(
            (least >= 1, "`filters`, `depth`, `kernel` and `width` must be at least 1"),
            (self.kernel % 2 == 1, f"`kernel` {self.kernel} must be odd: an even filter has no middle to turn around"),
            (0 <= self.dropout <= 0.9, f"`dropout` {self.dropout} must be between 0 and 0.9"),
        )


class GroupCNN(nn.Module):
    """Group-equivariant CNN (p4): features turn with the picture, and the class stays the same for every quarter turn.

        x_1 = relu(lift(x))    x_l = relu(K_l * pool(x_{l-1}))    g = max_yxr x_depth    h = relu(V g + a)
        p(class) = softmax(W h + b)

    Convolutions over the four orientations r (`layers/convolutions/group_convolution.py`): a picture turned by 90 degrees
    turns every feature map and moves its orientations up by one. The maximum over orientations and places forgets both,
    so the answer is exactly the same. Good where the orientation means nothing (cells, tissue, aerial views); a 6 and a 9
    are hard for it. Cohen & Welling 2016, https://arxiv.org/abs/1602.07576; lecture A, "Group-CNNs".
    """

    aliases = ("group CNN", "group-equivariant CNN", "G-CNN network", "rotation-equivariant network", "p4 network")
    reads, gives = ("pictures",), ("one vector",)

    def __init__(self, config: Config, channels: int, outputs: int) -> None:
        super().__init__()
        c = self.config = config
        self.lifting = Lifting(channels, c.filters, c.kernel, Same())
        sizes = [c.filters * 2**stage for stage in range(c.depth)]
        self.stages = nn.ModuleList(GroupConvolution(i, o, c.kernel, Same()) for i, o in pairwise(sizes))
        self.full, self.dropout, self.head = (
            nn.Linear(sizes[-1], c.width),
            Dropout(c.dropout),
            nn.Linear(c.width, outputs),
        )
        for layer in (self.lifting, *self.stages, self.full):
            he_normal(layer.weight)
            nn.init.zeros_(layer.bias)

    def features(self, pictures: Float[Tensor, "b c y x"]) -> Float[Tensor, "b d 4 _ _"]:
        """The last feature maps: they turn with the picture, and their orientations move up by one (`turn`)."""
        x = self.lifting(pictures).relu()
        for stage in self.stages:
            x = stage(halved(x)).relu()
        return x

    def forward(self, pictures: Float[Tensor, "b c y x"]) -> Float[Tensor, "b d"]:
        return self.dropout(self.full(self.features(pictures).amax((2, 3, 4))).relu())

    def logits(self, hidden: Float[Tensor, "b d"]) -> Float[Tensor, "b c"]:
        return self.head(hidden)


def halved(x: Float[Tensor, "b c 4 y x"]) -> Float[Tensor, "b c 4 _ _"]:
    """The maximum over windows with stride 2 that stand the same way from all sides of the picture.

    Two pixels along an even side, three along an odd one (beginning one pixel outside, where there is nothing): leaving
    out the last row, as `MaxPooling` does, would tell up from down.
    """
    odd_y, odd_x = (n % 2 for n in x.shape[3:])
    y = F.max_pool2d(x.flatten(1, 2), (2 + odd_y, 2 + odd_x), 2, (odd_y, odd_x))
    return y.unflatten(1, (-1, 4))
