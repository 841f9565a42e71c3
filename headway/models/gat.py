from dataclasses import dataclass
from typing import Literal

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from headway.core.config import require
from headway.layers.dropout import Dropout
from headway.layers.initialisation import glorot_uniform
from headway.layers.neighbours import softmax_over_neighbours, sparse_sum
from headway.models.graph_network import GraphNetwork


@dataclass(frozen=True)
class Config:
    width: int = 64  # d, the width of every node
    depth: int = 2  # layers: a node sees what is at most so many edges away
    heads: int = 8  # of attention, side by side; must divide the width
    pooling: Literal["sum", "mean", "max"] = "mean"  # how the nodes of a graph become one vector
    dropout: float = 0.5  # on the input of every layer, on the weights of the neighbours and before the head

    def __post_init__(self) -> None:
        require(
            (min(self.width, self.depth, self.heads) >= 1, "`width`, `depth` and `heads` must be at least 1"),
            (self.heads < 1 or self.width % self.heads == 0, f"`heads` {self.heads} must divide `width` {self.width}"),
            (0 <= self.dropout <= 0.9, f"`dropout` {self.dropout} must be between 0 and 0.9"),
        )


class GraphAttention(nn.Module):
    """For each head: s_ji = leaky_relu(a^T z_j + b^T z_i), alpha_ji = softmax_j(s_ji), h'_i = elu(sum_j alpha_ji z_j), z = h W.

    j runs over the neighbours of i and i itself; [a ; b] is the paper's vector a, cut in two.
    """

    slope = 0.2  # of the leaky ReLU below zero
    roles = {"source": "vector", "target": "vector"}

    def __init__(self, inputs: int, width: int, heads: int, dropout: float) -> None:
        super().__init__()
        self.heads, self.dropout = heads, Dropout(dropout)
        self.linear = nn.Linear(inputs, width, bias=False)
        self.source = nn.Parameter(torch.empty(heads, width // heads))  # a of each head
        self.target = nn.Parameter(torch.empty(heads, width // heads))  # b of each head
        self.bias = nn.Parameter(torch.zeros(width))
        for weight in (self.linear.weight, self.source, self.target):
            glorot_uniform(weight)

    def forward(self, h: Float[Tensor, "n c"], edges: Int[Tensor, "2 e"]) -> Float[Tensor, "n d"]:
        itself = torch.arange(len(h), device=h.device).expand(2, -1)
        edges = torch.cat((edges, itself), 1)
        z = self.linear(h).unflatten(1, (self.heads, -1))  # "n h e"
        source, target = (z * self.source).sum(-1), (z * self.target).sum(-1)  # "n h"
        scores = F.leaky_relu(source[edges[0]] + target[edges[1]], self.slope)
        alpha = self.dropout(softmax_over_neighbours(scores, edges, len(h)))
        mixed = [sparse_sum(z[:, k], edges, len(h), alpha[:, k]) for k in range(self.heads)]
        return F.elu(torch.cat(mixed, 1) + self.bias)


class GAT(GraphNetwork):
    """Graph attention network: every node chooses by itself how much each neighbour counts.

        z_i = W h_i        alpha_ji = softmax_{j in N(i) + i}(leaky_relu(a^T [z_j ; z_i]))        h'_i = elu(sum_j alpha_ji z_j + b)

        p(class of node i) = softmax(V h_i + a)        p(class of a graph) = softmax(W pool_i h_i + b)

    Several heads stand side by side. Where GCN's weights follow from the degrees alone, these are learned. Velickovic
    et al. 2018, https://arxiv.org/abs/1710.10903; lecture A, "Graph Neural Networks".
    """

    aliases = ("graph attention network", "graph attention", "attention over neighbours")
    reads, gives = ("graphs",), ("one per node", "one vector")

    def __init__(self, config: Config, features: int, outputs: int = 0, tags: int = 0) -> None:
        c = config
        inputs = [features] + [c.width] * (c.depth - 1)
        layers = [GraphAttention(n, c.width, c.heads, c.dropout) for n in inputs]
        super().__init__(layers, c.width, c.pooling, c.dropout, outputs, tags)
        self.config = config
