from dataclasses import dataclass

from jaxtyping import Float
from torch import Tensor, nn

from headway.core.config import require
from headway.layers.connections.dense import Dense
from headway.layers.convolutions.average_pooling import AveragePooling
from headway.layers.dropout import Dropout
from headway.layers.initialisation import he_normal
from headway.layers.norms.batch_norm import BatchNorm
from headway.layers.pre_activation import PreActivation, activated, channels_last


@dataclass(frozen=True)
class Config:
    growth: int = 12  # k, channels that each layer adds
    depth: int = 3  # dense blocks; between two of them the picture is halved
    layers: int = 4  # of a dense block
    dropout: float = 0.1  # before the head

    def __post_init__(self) -> None:
        require(
            (min(self.growth, self.depth, self.layers) >= 1, "`growth`, `depth` and `layers` must be at least 1"),
            (0 <= self.dropout <= 0.9, f"`dropout` {self.dropout} must be between 0 and 0.9"),
        )


class Transition(nn.Module):
    """Between two dense blocks: half of the channels (a convolution of 1 x 1), then half of the rows and columns (their mean)."""

    def __init__(self, inputs: int, window: tuple[int, int]) -> None:
        super().__init__()
        self.compress, self.pooling = PreActivation(inputs, inputs // 2, kernel=1), AveragePooling(window)

    def forward(self, x: Float[Tensor, "b c y x"]) -> Float[Tensor, "b d _ _"]:
        return self.pooling(self.compress(x))


class DenseNet(nn.Module):
    """Densely connected network: every layer of a block reads what all layers before it have made, and adds k channels.

        x_l = [x_{l-1} ; K_l2 * relu(norm(K_l1 * relu(norm(x_{l-1}))))]        K_l1: 1 x 1, to 4 k channels; K_l2: 3 x 3, to k

    After a block a convolution of 1 x 1 keeps half of the channels, and the mean of 2 x 2 pixels half of the rows and
    columns. The class comes from the mean over the picture, as in ResNet: h = mean_yx relu(norm(x_L)). DenseNet-BC of Huang
    et al. 2017, "Densely connected convolutional networks", https://arxiv.org/abs/1608.06993, with 2 k channels at the
    beginning; lecture C, section 2.3.
    """

    aliases = ("densely connected convolutional network", "DenseNet", "DenseNet-BC")
    reads, gives = ("pictures",), ("one vector",)

    def __init__(self, config: Config, channels: int, height: int, width: int, outputs: int) -> None:
        super().__init__()
        c = self.config = config
        filters = 2 * c.growth
        self.stem = nn.Conv2d(channels, filters, 3, padding=1, bias=False)
        layers: list[nn.Module] = []
        for block in range(c.depth):
            if block:
                window = (min(2, height), min(2, width))
                layers.append(Transition(filters, window))
                filters, height, width = filters // 2, height // window[0], width // window[1]
            for _ in range(c.layers):
                narrow = PreActivation(filters, 4 * c.growth, kernel=1)
                layers.append(Dense(nn.Sequential(narrow, PreActivation(4 * c.growth, c.growth, kernel=3)), axis=1))
                filters += c.growth
        self.layers, self.norm = nn.ModuleList(layers), BatchNorm(filters)
        self.dropout, self.head = Dropout(c.dropout), nn.Linear(filters, outputs)
        he_normal(self.stem.weight)

    def forward(self, pictures: Float[Tensor, "b c y x"]) -> Float[Tensor, "b d"]:
        x = channels_last(self.stem(pictures))
        for layer in self.layers:
            x = layer(x)
        return self.dropout(activated(self.norm, x).mean((2, 3)))

    def logits(self, hidden: Float[Tensor, "b d"]) -> Float[Tensor, "b c"]:
        return self.head(hidden)
