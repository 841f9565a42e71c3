from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor, nn

from headway.core.config import require
from headway.layers.activations import ACTIVATIONS
from headway.layers.dropout import Dropout
from headway.layers.initialisation import glorot_normal, he_normal
from headway.layers.linear import Linear


@dataclass(frozen=True)
class Config:
    width: int = 256  # d, units of each hidden layer
    depth: int = 2  # hidden layers
    widths: tuple[int, ...] = ()  # units of each hidden layer in place of width and depth, such as 256,128
    activation: Literal["relu", "leaky_relu", "gelu", "squared_relu", "softplus", "tanh", "sigmoid"] = "relu"  # phi
    dropout: float = 0.1  # on every hidden layer

    def __post_init__(self) -> None:
        require(
            (min(self.width, self.depth, *self.widths) >= 1, "`width`, `depth` and `widths` must be at least 1"),
            (0 <= self.dropout <= 0.9, f"`dropout` {self.dropout} must be between 0 and 0.9"),
        )


class MLP(nn.Module):
    """Multi-layer perceptron: every unit of a layer sees every unit of the layer before.

        h_0 = vec(x)        h_l = phi(W_l h_{l-1} + b_l), l = 1 .. depth        p(class) = softmax(W h_depth + b)

    Where a pixel stands means nothing to it: pictures whose pixels are permuted, all in the same way, are learned as
    well. First weights after He et al. 2015 (`he_normal`), for tanh and sigmoid after Glorot & Bengio 2010
    (`glorot_normal`). Rumelhart, Hinton, Williams 1986, https://doi.org/10.1038/323533a0; lectures A to E.
    """

    aliases = (
        "multi-layer perceptron",
        "multilayer perceptron",
        "fully connected network",
        "feed-forward neural network",
    )
    reads, gives = ("pictures", "vectors", "series"), ("one vector",)

    def __init__(self, config: Config, features: int, outputs: int) -> None:
        super().__init__()
        c = self.config = config
        units = [features, *(c.widths or (c.width,) * c.depth)]
        layers = [Linear(n, m) for n, m in pairwise(units)]
        self.layers = nn.ModuleList(layers)
        self.activation, self.dropout = ACTIVATIONS[c.activation], Dropout(c.dropout)
        self.head = Linear(units[-1], outputs)
        initialise = glorot_normal if c.activation in ("tanh", "sigmoid") else he_normal
        for layer in layers:
            initialise(layer.weight)
            nn.init.zeros_(layer.bias)

    def forward(self, *inputs: Float[Tensor, "b ..."]) -> Float[Tensor, "b d"]:
        """All inputs one after the other: pixels, columns, or the values of a series and the categories of the predicted time."""
        h = torch.cat([x.flatten(1) for x in inputs], 1)
        for layer in self.layers:
            h = self.dropout(self.activation(layer(h)))
        return h

    def logits(self, hidden: Float[Tensor, "b d"]) -> Float[Tensor, "b c"]:
        return self.head(hidden)
