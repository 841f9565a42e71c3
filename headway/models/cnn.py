from dataclasses import dataclass
from typing import Any, Literal

from jaxtyping import Float
from torch import Tensor, nn

from headway.core.config import require
from headway.layers.activations import ACTIVATIONS
from headway.layers.convolutions.boundaries import Same
from headway.layers.convolutions.convolution_2d import Convolution2d
from headway.layers.convolutions.max_pooling import MaxPooling
from headway.layers.dropout import Dropout
from headway.layers.initialisation import he_normal


@dataclass(frozen=True)
class Config:
    filters: int = 32  # of the first stage; every further stage has twice as many
    depth: int = 2  # stages
    kernel: int = 5  # m, pixels along each side of a filter
    width: int = 128  # d, units of the layer after the last stage
    activation: Literal["relu", "leaky_relu", "gelu", "squared_relu", "softplus"] = "relu"  # phi
    dropout: float = 0.1  # on the layer after the last stage

    def __post_init__(self) -> None:
        require(
            (
                min(self.filters, self.depth, self.kernel, self.width) >= 1,
                "`filters`, `depth`, `kernel` and `width` must be at least 1",
            ),
            (0 <= self.dropout <= 0.9, f"`dropout` {self.dropout} must be between 0 and 0.9"),
        )


class Stage(nn.Module):
    """x -> phi(pool(K * x + b)): as many rows and columns as before, then half of them (one stays one).

    The same as pool(phi(.)) where phi never falls, as all but GELU do, and a quarter of the work for phi.
    """

    def __init__(self, inputs: int, filters: int, kernel: int, activation: Any, window: tuple[int, int]) -> None:
        super().__init__()
        self.convolution, self.activation = Convolution2d(inputs, filters, kernel, Same()), activation
        self.pooling = MaxPooling(window)
        he_normal(self.convolution.weight)
        nn.init.zeros_(self.convolution.bias)

    def forward(self, x: Float[Tensor, "b c y x"]) -> Float[Tensor, "b d _ _"]:
        return self.activation(self.pooling(self.convolution(x)))


class CNN(nn.Module):
    """Convolutional network: stages of filters and pooling, each of which sees more of the picture, then a full layer.

        x_0 = x    x_l = phi(pool(K_l * x_{l-1} + b_l))    h = phi(V vec(x_depth) + a)    p(class) = softmax(W h + b)

    The plan of LeNet-5 (LeCun et al. 1998, https://doi.org/10.1109/5.726791), with zeros around the picture, ReLU and
    max pooling in place of sigmoids and averages; lecture C, chapter 4; lecture D. A filter has the same weights at
    every place, so a stage has m^2 c d of them, however large the picture is.
    """

    aliases = ("convolutional network", "convolutional neural network", "ConvNet", "LeNet", "LeNet-5")
    reads, gives = ("pictures",), ("one vector",)

    def __init__(self, config: Config, channels: int, height: int, width: int, outputs: int) -> None:
        super().__init__()
        c = self.config = config
        phi = ACTIVATIONS[c.activation]
        stages, inputs = [], channels
        for stage in range(c.depth):
            filters, window = c.filters * 2**stage, (min(2, height), min(2, width))
            stages.append(Stage(inputs, filters, c.kernel, phi, window))
            inputs, height, width = filters, height // window[0], width // window[1]
        self.stages, self.activation = nn.ModuleList(stages), phi
        self.full, self.dropout = nn.Linear(inputs * height * width, c.width), Dropout(c.dropout)
        self.head = nn.Linear(c.width, outputs)
        he_normal(self.full.weight)
        nn.init.zeros_(self.full.bias)

    def forward(self, pictures: Float[Tensor, "b c y x"]) -> Float[Tensor, "b d"]:
        x = pictures
        for stage in self.stages:
            x = stage(x)
        return self.dropout(self.activation(self.full(x.flatten(1))))

    def logits(self, hidden: Float[Tensor, "b d"]) -> Float[Tensor, "b c"]:
        return self.head(hidden)
