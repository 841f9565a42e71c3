from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from headway.core.config import require
from headway.layers.initialisation import he_normal
from headway.layers.linear import Linear
from headway.layers.neighbours import degrees, reduce_max, sparse_sum
from headway.layers.norms.batch_norm import BatchNorm
from headway.models.graph_network import JoinedLayers


@dataclass(frozen=True)
class Config:
    width: int = 64  # d, the width of every node
    depth: int = 3  # layers: a node sees what is at most so many edges away
    aggregate: Literal["sum", "mean", "max"] = "sum"  # over the neighbours; only the sum tells all multisets apart
    pooling: Literal["sum", "mean", "max"] = "sum"  # how the nodes of a graph become one vector
    dropout: float = 0.1  # on the input of every layer and before the head

    def __post_init__(self) -> None:
        require(
            (min(self.width, self.depth) >= 1, "`width` and `depth` must be at least 1"),
            (0 <= self.dropout <= 0.9, f"`dropout` {self.dropout} must be between 0 and 0.9"),
        )


AGGREGATES: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "sum": lambda h, edges: sparse_sum(h, edges, len(h)),  # without a vector for each edge
    "mean": lambda h, edges: sparse_sum(h, edges, len(h)) / degrees(edges, len(h), h).clamp(min=1)[:, None],
    "max": lambda h, edges: reduce_max(h[edges[0]], edges[1], len(h)),
}


class IsomorphismLayer(nn.Module):
    """h'_i = MLP((1 + epsilon) h_i + sum_{j in N(i)} h_j), with an MLP of two layers and batch normalisation after each.

    aggregate   what takes the place of the sum: a name in `AGGREGATES`
    """

    def __init__(self, inputs: int, width: int, aggregate: str) -> None:
        super().__init__()
        self.aggregate = AGGREGATES[aggregate]
        self.epsilon = nn.Parameter(torch.zeros(1))
        self.first, self.second = Linear(inputs, width, bias=False), Linear(width, width, bias=False)
        self.first_norm, self.second_norm = BatchNorm(width), BatchNorm(width)
        for linear in (self.first, self.second):
            he_normal(linear.weight)

    def forward(self, h: Float[Tensor, "n c"], edges: Int[Tensor, "2 e"]) -> Float[Tensor, "n d"]:
        z = (1 + self.epsilon) * h + self.aggregate(h, edges)
        z = torch.relu(self.first_norm(self.first(z)))
        return torch.relu(self.second_norm(self.second(z)))


class GIN(JoinedLayers):
    """Graph isomorphism network: sums over neighbours, so that different neighbourhoods stay different.

        h_i^l = MLP_l((1 + epsilon_l) h_i^{l-1} + sum_{j in N(i)} h_j^{l-1})        h_i = [x_i ; h_i^1 ; ... ; h_i^depth]

        p(class of node i) = softmax(V h_i + a)        p(class of a graph) = softmax(W sum_i h_i + b)

    A sum is injective on multisets (theorem 3 of the paper), which a mean (it sees shares) and a maximum (it sees which
    values there are) are not. So it tells apart what the test of Weisfeiler and Leman does, and no network of this
    kind tells apart more: two triangles and a hexagon look alike to it. Xu, Hu, Leskovec, Jegelka 2019,
    https://arxiv.org/abs/1810.00826, equations 4.1 and 4.2; lecture A, "Graph Neural Networks".
    """

    aliases = ("graph isomorphism network", "GIN-epsilon", "Weisfeiler-Leman network")
    reads, gives = ("graphs",), ("one per node", "one vector")

    def __init__(self, config: Config, features: int, outputs: int = 0, tags: int = 0) -> None:
        c = config
        inputs = [features] + [c.width] * (c.depth - 1)
        layers = [IsomorphismLayer(n, c.width, c.aggregate) for n in inputs]
        super().__init__(layers, features + c.depth * c.width, c.pooling, c.dropout, outputs, tags)
        self.config = config
