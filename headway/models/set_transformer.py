from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from headway.core.config import require
from headway.layers.attention.cross import Cross
from headway.layers.connections.post_norm import PostNorm
from headway.layers.dropout import Dropout
from headway.layers.feedforward import Feedforward
from headway.layers.initialisation import glorot_uniform


@dataclass(frozen=True)
class Config:
    width: int = 64  # d, the width of every element
    depth: int = 2  # induced set attention blocks
    heads: int = 4  # of attention; must divide the width
    inducing: int = 16  # m, learned vectors through which the elements of a set look at each other
    inner: int = 128  # f, the width inside the feed-forward networks
    dropout: float = 0.0  # on every sublayer and before the head

    def __post_init__(self) -> None:
        require(
            (
                min(self.width, self.depth, self.heads, self.inducing, self.inner) >= 1,
                "`width`, `depth`, `heads`, `inducing` and `inner` must be at least 1",
            ),
            (self.heads < 1 or self.width % self.heads == 0, f"`heads` {self.heads} must divide `width` {self.width}"),
            (0 <= self.dropout <= 0.9, f"`dropout` {self.dropout} must be between 0 and 0.9"),
        )


class AttentionBlock(nn.Module):
    """MAB(X, Y) = norm(H + feedforward(H)),  H = norm(X + multihead(X, Y, Y)): the X look at the Y."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        c = config
        self.cross, self.feedforward = Cross(c.width, c.heads), Feedforward(c.width, c.inner)
        self.around_cross, self.around_feedforward = PostNorm(c.width, c.dropout), PostNorm(c.width, c.dropout)

    def forward(
        self, x: Float[Tensor, "b t d"], y: Float[Tensor, "b s d"], keep: Bool[Tensor, "b s"] | None = None
    ) -> Float[Tensor, "b t d"]:
        h = self.around_cross(x, lambda queries: self.cross(queries, self.cross.remember(y, keep)))
        return self.around_feedforward(h, self.feedforward)


class Induced(nn.Module):
    """ISAB(X) = MAB(X, MAB(I, X)): all pairs of elements through m learned vectors I, at the cost of n m instead of n^2."""

    roles = {"points": "table"}

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.points = nn.Parameter(glorot_uniform(torch.empty(config.inducing, config.width)))
        self.to_points, self.to_elements = AttentionBlock(config), AttentionBlock(config)

    def forward(self, x: Float[Tensor, "b n d"], keep: Bool[Tensor, "b n"]) -> Float[Tensor, "b n d"]:
        points = self.points.expand(len(x), -1, -1)
        return self.to_elements(x, self.to_points(points, x, keep))


class Pooling(nn.Module):
    """PMA(Z) = MAB(S, feedforward(Z)) with one learned vector S, the seed: attention in place of a sum."""

    roles = {"seed": "table"}

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.seed = nn.Parameter(glorot_uniform(torch.empty(1, config.width)))
        self.before, self.block = Feedforward(config.width, config.inner), AttentionBlock(config)

    def forward(self, z: Float[Tensor, "b n d"], keep: Bool[Tensor, "b n"]) -> Float[Tensor, "b d"]:
        return self.block(self.seed.expand(len(z), -1, -1), self.before(z), keep).squeeze(1)


class SetTransformer(nn.Module):
    """Set Transformer: the elements of a set look at each other, then a learned vector looks at them all.

        Z = ISAB(... ISAB(X W + b))        f(X) = PMA(Z)        y = V f(X) + a

        MAB(X, Y) = norm(H + ff(H)), H = norm(X + multihead(X, Y, Y))    ISAB(X) = MAB(X, MAB(I, X))    PMA(Z) = MAB(S, ff(Z))

    Without positions, attention does not know the order of its keys, so f does not either. In contrast to Deep Sets the
    elements meet before they are pooled; but an attention is a mean, so how many elements there are is seen only if
    they tell. Lee et al. 2019, https://arxiv.org/abs/1810.00825; lecture A, "Geometric Deep Learning".
    """

    aliases = ("Set Transformer", "ISAB", "PMA", "induced set attention", "pooling by multihead attention")
    reads, gives = ("sets",), ("one vector",)

    def __init__(self, config: Config, features: int, outputs: int) -> None:
        super().__init__()
        c = self.config = config
        self.embed = nn.Linear(features, c.width)
        self.blocks = nn.ModuleList([Induced(c) for _ in range(c.depth)])
        self.pooling, self.dropout = Pooling(c), Dropout(c.dropout)
        self.head = nn.Linear(c.width, outputs)

    def forward(self, elements: Float[Tensor, "b n c"], keep: Bool[Tensor, "b n"]) -> Float[Tensor, "b d"]:
        x = self.embed(elements)
        for block in self.blocks:
            x = block(x, keep)
        return self.dropout(self.pooling(x, keep))

    def logits(self, hidden: Float[Tensor, "b d"]) -> Float[Tensor, "b c"]:
        return self.head(hidden)
