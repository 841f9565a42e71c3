from dataclasses import dataclass
from typing import Literal

from jaxtyping import Float
from torch import Tensor, nn

from headway.core.config import require
from headway.layers.activations import ACTIVATIONS
from headway.layers.dropout import Dropout
from headway.layers.initialisation import glorot_normal, he_normal


@dataclass(frozen=True)
class Config:
    width: int = 512  # n, hidden units
    activation: Literal["relu", "leaky_relu", "gelu", "squared_relu", "softplus", "tanh", "sigmoid"] = "relu"  # phi
    dropout: float = 0.1  # on the hidden layer

    def __post_init__(self) -> None:
        require(
            (self.width >= 1, "`width` must be at least 1"),
            (0 <= self.dropout <= 0.9, f"`dropout` {self.dropout} must be between 0 and 0.9"),
        )


class Shallow(nn.Module):
    """Shallow network: one hidden layer, a sum of n ridge functions.

        f(x) = W phi(V x + a) + b = sum_i w_i phi(v_i . x + a_i) + b            p(class) = softmax(f(x))

    Enough to approximate every continuous function on a compact set as n grows (Cybenko 1989,
    https://doi.org/10.1007/BF02551274; Leshno et al. 1993 for every phi that is no polynomial); what depth adds is seen
    against `mlp`. First weights as there. Lectures A to E.
    """

    aliases = ("shallow neural network", "shallow network", "one hidden layer", "two-layer network", "ridge functions")
    reads, gives = ("pictures", "vectors"), ("one vector",)

    def __init__(self, config: Config, features: int, outputs: int) -> None:
        super().__init__()
        c = self.config = config
        self.hidden, self.head = nn.Linear(features, c.width), nn.Linear(c.width, outputs)
        self.activation, self.dropout = ACTIVATIONS[c.activation], Dropout(c.dropout)
        (glorot_normal if c.activation in ("tanh", "sigmoid") else he_normal)(self.hidden.weight)
        nn.init.zeros_(self.hidden.bias)

    def forward(self, x: Float[Tensor, "b *_"]) -> Float[Tensor, "b d"]:
        return self.dropout(self.activation(self.hidden(x.flatten(1))))

    def logits(self, hidden: Float[Tensor, "b d"]) -> Float[Tensor, "b c"]:
        return self.head(hidden)
