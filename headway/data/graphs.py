"""Graphs as arrays: all nodes and edges in one graph without edges between its parts, and batches of it.

Nodes stand graph by graph, edges are sorted by the node they end at (`layers/neighbours.py` then need not sort them), and an undirected
edge is there in both directions.
"""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from headway.data.equal_parts import EqualParts
from headway.data.labelled_batches import Rows


@dataclass(frozen=True, eq=False)
class LabelledGraphs:
    """One graph or many. What a model should name, nodes or graphs, has `labels`; where the label is not known it is empty."""

    edges: Int[np.ndarray, "2 e"]  # from and to which node
    graph: Int[np.ndarray, "n"]  # the graph of each node, ascending
    names: tuple[str, ...]  # of the nodes
    graph_names: tuple[str, ...]
    labels: tuple[str, ...]  # of the nodes, or of the graphs
    of_nodes: bool  # which of the two
    attributes: dict[str, tuple[str, ...]]  # columns of the nodes, as they were written
    origin: str

    def __len__(self) -> int:
        """How many things have a label or could have one."""
        return len(self.labels)

    @property
    def unit(self) -> str:
        return "nodes" if self.of_nodes else "graphs"

    @cached_property
    def degrees(self) -> Int[np.ndarray, "n"]:
        return np.bincount(self.edges[1], minlength=len(self.graph))

    @cached_property
    def node_starts(self) -> Int[np.ndarray, "g1"]:
        """The first node of each graph, and one after the last of all."""
        return np.searchsorted(self.graph, np.arange(len(self.graph_names) + 1))

    @cached_property
    def edge_starts(self) -> Int[np.ndarray, "g1"]:
        return np.searchsorted(self.graph[self.edges[1]], np.arange(len(self.graph_names) + 1))

    def select(self, rows: Sequence[int]) -> "LabelledGraphs":
        """These graphs alone, in this order."""
        nodes = nodes_of(self, rows)
        names, labels = (
            tuple(self.names[i] for i in nodes),
            tuple(self.labels[i] for i in (nodes if self.of_nodes else rows)),
        )
        attributes = {name: tuple(cells[i] for i in nodes) for name, cells in self.attributes.items()}
        _, edges, graph = joined(self, np.zeros((len(self.graph), 0)), rows)
        titles = tuple(self.graph_names[i] for i in rows)
        return LabelledGraphs(edges, graph, names, titles, labels, self.of_nodes, attributes, self.origin)

    @cached_property
    def fingerprint(self) -> str:
        digest = hashlib.sha256(self.edges.astype(np.int64).tobytes() + self.graph.astype(np.int64).tobytes())
        columns = [text for name, cells in self.attributes.items() for text in (name, *cells)]
        for text in (*self.names, *self.graph_names, *self.labels, *columns):
            data = text.encode("utf-8", "surrogatepass")
            digest.update(b"%d:" % len(data) + data)
        return digest.hexdigest()


def undirected(edges: Int[np.ndarray, "2 e"]) -> Int[np.ndarray, "2 f"]:
    """Each edge in both directions, once, without loops, sorted by their ends."""
    return tidy(np.concatenate((edges, edges[::-1]), 1))


def tidy(edges: Int[np.ndarray, "2 e"]) -> Int[np.ndarray, "2 f"]:
    """Each edge once, without loops, sorted by the node it ends at, then by the one it begins at."""
    edges = edges[:, edges[0] != edges[1]]
    return np.ascontiguousarray(np.unique(edges[::-1].T, axis=0).T[::-1]).astype(np.int64).reshape(2, -1)


def nodes_of(graphs: LabelledGraphs, rows: Sequence[int] | Rows) -> Int[np.ndarray, "m"]:
    """The nodes of these graphs, graph by graph."""
    spans = [np.arange(graphs.node_starts[i], graphs.node_starts[i + 1]) for i in rows]
    return np.concatenate(spans) if spans else np.empty(0, dtype=np.int64)


def joined(
    graphs: LabelledGraphs, x: Float[np.ndarray, "n c"], rows: Sequence[int] | Rows
) -> tuple[Float[np.ndarray, "m c"], Int[np.ndarray, "2 e"], Int[np.ndarray, "m"]]:
    """Features, edges and graph numbers of these graphs, their nodes numbered anew."""
    starts, ends = graphs.node_starts, graphs.edge_starts
    counts = np.array([starts[i + 1] - starts[i] for i in rows], dtype=np.int64)
    shifts = np.cumsum(counts) - counts - starts[np.asarray(rows, dtype=np.int64)]
    edges = [graphs.edges[:, ends[i] : ends[i + 1]] + shift for i, shift in zip(rows, shifts, strict=True)]
    joint = np.concatenate(edges, 1) if edges else graphs.edges[:, :0]
    return x[nodes_of(graphs, rows)], joint, np.repeat(np.arange(len(counts)), counts)


@dataclass(frozen=True)
class GraphBatch:
    """What a model reads, and the classes of some of its nodes, or of its graphs."""

    inputs: tuple[Tensor, ...]  # x "n c", edges "2 e", graph "n"
    rows: Int[Tensor, "b"]  # of which nodes or graphs
    labels: Int[Tensor, "b"]  # the classes are known

    couples_rows: ClassVar[bool] = True  # what a node becomes depends on its neighbours


class NodeBatches:
    """One batch, always the same: all nodes and edges, of which the nodes `rows` are to be named."""

    def __init__(
        self, graphs: LabelledGraphs, x: Float[np.ndarray, "n c"], rows: Rows, labels: Int[np.ndarray, "b"]
    ) -> None:
        arrays = (x.astype(np.float32), graphs.edges, graphs.graph, rows, labels)
        x_, edges, graph, of, known = (torch.from_numpy(np.ascontiguousarray(a)) for a in arrays)
        self.batch = GraphBatch((x_, edges, graph), of, known)

    def __len__(self) -> int:
        return 1

    def __getitem__(self, number: int) -> GraphBatch:
        return self.batch

    def largest(self) -> GraphBatch:
        return self.batch

    def in_order(self) -> Iterator[tuple[Rows, GraphBatch]]:
        yield self.batch.rows.numpy(), self.batch


class GraphBatches(EqualParts[GraphBatch]):
    """At most `size` graphs at a time, of the graphs `rows`."""

    def __init__(
        self,
        graphs: LabelledGraphs,
        x: Float[np.ndarray, "n c"],
        rows: Rows,
        labels: Int[np.ndarray, "b"],
        *,
        size: int,
        seed: int,
    ) -> None:
        super().__init__(len(rows), rows=size, seed=seed)
        self.graphs, self.x, self.rows, self.labels = graphs, x.astype(np.float32), rows, labels

    def at(self, rows: Rows) -> GraphBatch:
        arrays = (*joined(self.graphs, self.x, self.rows[rows]), np.arange(len(rows)), self.labels[rows])
        x, edges, graph, of, labels = (torch.from_numpy(np.ascontiguousarray(a)) for a in arrays)
        return GraphBatch((x, edges, graph), of, labels)

    def largest(self) -> GraphBatch:
        """As many graphs as a batch has, all of them the largest."""
        sizes = np.diff(self.graphs.node_starts)[self.rows]
        return self.at(np.argsort(-sizes, kind="stable")[: self.most])
