"""What every model of graphs offers, and what they share: layers over neighbours, one vector for each node, one for each graph.

    states(x, edges, graph)     -> "n d"      one vector for each node
    tag_logits(states)          -> "n c"      scores of the classes of each node
    forward(x, edges, graph)    -> "g d"      one vector for each graph: a sum, mean or maximum over its nodes
    logits(hidden)              -> "g c"      scores of the classes of each graph

x "n c", edges "2 e" and graph "n" are a batch of graphs as `layers/neighbours.py` describes it. With a permutation P of the nodes every
such model has F(PX, PAP^T) = P F(X, A) for nodes (equivariance) and F(PX, PAP^T) = F(X, A) for graphs (invariance): lecture A,
"Graph Neural Networks".
"""

from collections.abc import Iterator, Sequence
from typing import Protocol, runtime_checkable

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from headway.layers.dropout import Dropout
from headway.layers.neighbours import REDUCTIONS
from headway.models.reader import known


@runtime_checkable
class NodeReader(Protocol):
    training: bool

    def parameters(self) -> Iterator[nn.Parameter]: ...

    def states(
        self, x: Float[Tensor, "n c"], edges: Int[Tensor, "2 e"], graph: Int[Tensor, "n"]
    ) -> Float[Tensor, "n d"]: ...

    def tag_logits(self, states: Float[Tensor, "n d"]) -> Float[Tensor, "n c"]: ...


class GraphNetwork(nn.Module):
    """Layers `h <- layer(dropout(h), edges)` one after the other, and heads for nodes and for graphs.

    layers    from the features of the nodes to their vectors
    width     of these vectors
    pooling   how the vectors of a graph's nodes become one: a name in `layers/neighbours.py: REDUCTIONS`
    """

    def __init__(
        self, layers: Sequence[nn.Module], width: int, pooling: str, dropout: float, outputs: int, tags: int
    ) -> None:
        super().__init__()
        self.layers, self.pool, self.dropout = nn.ModuleList(layers), REDUCTIONS[pooling], Dropout(dropout)
        self.head = nn.Linear(width, outputs) if outputs else None  # of a graph
        self.tag_head = nn.Linear(width, tags) if tags else None  # of a node

    def states(
        self, x: Float[Tensor, "n c"], edges: Int[Tensor, "2 e"], graph: Int[Tensor, "n"]
    ) -> Float[Tensor, "n d"]:
        for layer in self.layers:
            x = layer(self.dropout(x), edges)
        return x

    def forward(
        self, x: Float[Tensor, "n c"], edges: Int[Tensor, "2 e"], graph: Int[Tensor, "n"]
    ) -> Float[Tensor, "g d"]:
        return self.pool(self.states(x, edges, graph), graph, int(graph.max()) + 1)

    def logits(self, hidden: Float[Tensor, "g d"]) -> Float[Tensor, "g c"]:
        return known(self.head, "outputs")(self.dropout(hidden))

    def tag_logits(self, states: Float[Tensor, "n d"]) -> Float[Tensor, "n c"]:
        return known(self.tag_head, "tags")(self.dropout(states))


class JoinedLayers(GraphNetwork):
    """The same, with the features and what every layer gave side by side: neighbourhoods of all sizes are seen at once."""

    def states(
        self, x: Float[Tensor, "n c"], edges: Int[Tensor, "2 e"], graph: Int[Tensor, "n"]
    ) -> Float[Tensor, "n d"]:
        found = [x]
        for layer in self.layers:
            found.append(layer(self.dropout(found[-1]), edges))
        return torch.cat(found, 1)
