from dataclasses import dataclass
from typing import Literal

from jaxtyping import Bool, Float
from torch import Tensor, nn

from headway.core.config import require
from headway.layers.activations import ACTIVATIONS
from headway.layers.dropout import Dropout
from headway.layers.initialisation import he_normal
from headway.layers.neighbours import REDUCTIONS


@dataclass(frozen=True)
class Config:
    width: int = 128  # d, units of every layer
    depth: int = 2  # layers of phi, and as many of rho
    pooling: Literal["sum", "mean", "max"] = "sum"  # how the elements of a set become one vector
    activation: Literal["relu", "leaky_relu", "gelu", "softplus", "tanh"] = "relu"  # after every layer
    dropout: float = 0.0  # on every layer of rho

    def __post_init__(self) -> None:
        require(
            (min(self.width, self.depth) >= 1, "`width` and `depth` must be at least 1"),
            (0 <= self.dropout <= 0.9, f"`dropout` {self.dropout} must be between 0 and 0.9"),
        )


class DeepSets(nn.Module):
    """Deep Sets: each element by itself, a sum, and a network on the sum; so the order of the elements means nothing.

        f(X) = rho( sum_{x in X} phi(x) )        rho, phi: `depth` layers h <- act(W h + b)        y = V f(X) + a

    Every function of sets of countable elements has this form (theorem 2 of the paper), and so has every continuous
    function of sets of n numbers (theorem 7), if phi is at least n wide. A mean forgets how many elements there are, a
    maximum how often each comes. Zaheer et al. 2017, https://arxiv.org/abs/1703.06114; lecture A, "Other use cases" of
    attention and "Geometric Deep Learning".
    """

    aliases = ("Deep Sets", "sum decomposition", "permutation-invariant network", "set network")
    reads, gives = ("sets",), ("one vector",)

    def __init__(self, config: Config, features: int, outputs: int) -> None:
        super().__init__()
        c = self.config = config
        phi = [nn.Linear(n, c.width) for n in [features] + [c.width] * (c.depth - 1)]
        rho = [nn.Linear(c.width, c.width) for _ in range(c.depth)]
        self.phi, self.rho = nn.ModuleList(phi), nn.ModuleList(rho)
        self.activation, self.pool, self.dropout = ACTIVATIONS[c.activation], REDUCTIONS[c.pooling], Dropout(c.dropout)
        self.head = nn.Linear(c.width, outputs)
        for layer in (*phi, *rho):
            he_normal(layer.weight)
            nn.init.zeros_(layer.bias)

    def forward(self, elements: Float[Tensor, "b n c"], keep: Bool[Tensor, "b n"]) -> Float[Tensor, "b d"]:
        """Only the elements where `keep` is True are computed and summed."""
        h = elements[keep]
        for layer in self.phi:
            h = self.activation(layer(h))
        h = self.pool(h, keep.nonzero()[:, 0], len(elements))
        for layer in self.rho:
            h = self.dropout(self.activation(layer(h)))
        return h

    def logits(self, hidden: Float[Tensor, "b d"]) -> Float[Tensor, "b c"]:
        return self.head(hidden)
