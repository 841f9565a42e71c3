from dataclasses import dataclass
from typing import Literal

from jaxtyping import Float
from torch import Tensor, nn

from headway.core.config import require
from headway.layers.activations import ACTIVATIONS
from headway.layers.attention.non_local import NonLocal
from headway.layers.convolutions.max_pooling import MaxPooling
from headway.layers.dropout import Dropout
from headway.layers.initialisation import he_normal
from headway.models.cnn import Stage

MANY = 64  # pixels from which on keys and values are pooled, as the paper does


@dataclass(frozen=True)
class Config:
    filters: int = 32  # of the first stage; every further stage has twice as many
    depth: int = 2  # stages, each with a non-local block behind it
    kernel: int = 5  # m, pixels along each side of a filter
    width: int = 128  # d, units of the layer after the last stage
    activation: Literal["relu", "leaky_relu", "gelu", "squared_relu", "softplus"] = "relu"  # phi
    dropout: float = 0.1  # on the layer after the last stage

    def __post_init__(self) -> None:
        least = min(self.filters, self.depth, self.kernel, self.width)
        require(
            (least >= 1, "`filters`, `depth`, `kernel` and `width` must be at least 1"),
            (0 <= self.dropout <= 0.9, f"`dropout` {self.dropout} must be between 0 and 0.9"),
        )


class NonLocalNet(nn.Module):
    """Non-local network: a convolutional network in which every pixel of a feature map also looks at all others.

        y_l = phi(pool(K_l * x_{l-1} + b_l))    x_l = y_l + norm(W_l attention(y_l))    h = phi(V vec(x_depth) + a)
        p(class) = softmax(W h + b)

    A filter sees its neighbourhood, the non-local block behind each stage (`layers/attention/non_local.py`) the whole
    picture. The blocks start as the identity, so the network starts as `cnn`. Wang, Girshick, Gupta, He 2018, "Non-local
    neural networks", https://arxiv.org/abs/1711.07971; lecture A.
    """

    aliases = ("non-local network", "non-local neural network", "CNN with self-attention")
    reads, gives = ("pictures",), ("one vector",)

    def __init__(self, config: Config, channels: int, height: int, width: int, outputs: int) -> None:
        super().__init__()
        c = self.config = config
        phi = ACTIVATIONS[c.activation]
        stages, looks, inputs = [], [], channels
        for stage in range(c.depth):
            filters, window = c.filters * 2**stage, (min(2, height), min(2, width))
            stages.append(Stage(inputs, filters, c.kernel, phi, window))
            inputs, height, width = filters, height // window[0], width // window[1]
            looks.append(
                NonLocal(filters, MaxPooling(2) if height * width >= MANY and min(height, width) > 1 else None)
            )
        self.stages, self.looks, self.activation = nn.ModuleList(stages), nn.ModuleList(looks), phi
        self.full, self.dropout = nn.Linear(inputs * height * width, c.width), Dropout(c.dropout)
        self.head = nn.Linear(c.width, outputs)
        he_normal(self.full.weight)
        nn.init.zeros_(self.full.bias)

    def forward(self, pictures: Float[Tensor, "b c y x"]) -> Float[Tensor, "b d"]:
        x = pictures
        for stage, look in zip(self.stages, self.looks, strict=True):
            x = look(stage(x))
        return self.dropout(self.activation(self.full(x.flatten(1))))

    def logits(self, hidden: Float[Tensor, "b d"]) -> Float[Tensor, "b c"]:
        return self.head(hidden)
