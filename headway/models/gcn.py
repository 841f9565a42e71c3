from dataclasses import dataclass
from typing import Literal

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from headway.core.config import require
from headway.layers.initialisation import glorot_uniform
from headway.layers.linear import Linear
from headway.layers.neighbours import degrees, sparse_sum
from headway.models.graph_network import GraphNetwork


@dataclass(frozen=True)
class Config:
    width: int = 64  # d, the width of every node
    depth: int = 2  # layers: a node sees what is at most so many edges away
    pooling: Literal["sum", "mean", "max"] = "mean"  # how the nodes of a graph become one vector
    dropout: float = 0.5  # on the input of every layer and before the head

    def __post_init__(self) -> None:
        require(
            (min(self.width, self.depth) >= 1, "`width` and `depth` must be at least 1"),
            (0 <= self.dropout <= 0.9, f"`dropout` {self.dropout} must be between 0 and 0.9"),
        )


class GraphConvolution(nn.Module):
    """h' = relu(D^-1/2 (A + I) D^-1/2 h W + b).

    D^-1/2 is a factor of each node, before and after the sum; I adds the node itself. So no edge needs a weight.
    """

    def __init__(self, inputs: int, width: int) -> None:
        super().__init__()
        self.linear = Linear(inputs, width, bias=False)
        self.bias = nn.Parameter(torch.zeros(width))
        glorot_uniform(self.linear.weight)

    def forward(self, h: Float[Tensor, "n c"], edges: Int[Tensor, "2 e"]) -> Float[Tensor, "n d"]:
        scale = (1 + degrees(edges, len(h), h)).rsqrt()[:, None]
        h = scale * self.linear(h)
        return torch.relu(scale * (sparse_sum(h, edges, len(h)) + h) + self.bias)


class GCN(GraphNetwork):
    """Graph convolutional network: every node takes the weighted mean of itself and its neighbours, then a linear map.

        H_0 = X        H_l = relu(D^-1/2 (A + I) D^-1/2 H_{l-1} W_l + b_l)        D_ii = sum_j (A + I)_ij

        p(class of node i) = softmax(V h_i + a)        p(class of a graph) = softmax(W pool_i h_i + b)

    Neighbours that belong to the same class make each other clearer; with many layers all nodes become alike. Kipf &
    Welling 2017, https://arxiv.org/abs/1609.02907; lecture A, "Graph Neural Networks".
    """

    aliases = ("graph convolutional network", "graph convolution", "Kipf and Welling", "graph neural network")
    reads, gives = ("graphs",), ("one per node", "one vector")

    def __init__(self, config: Config, features: int, outputs: int = 0, tags: int = 0) -> None:
        c = config
        inputs = [features] + [c.width] * (c.depth - 1)
        layers = [GraphConvolution(n, c.width) for n in inputs]
        super().__init__(layers, c.width, c.pooling, c.dropout, outputs, tags)
        self.config = config
