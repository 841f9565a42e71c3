"""What is named, the nodes of a graph or whole graphs: which head of a model, which batches, and how the answers are drawn."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from headway.data.graphs import GraphBatch, GraphBatches, LabelledGraphs, NodeBatches
from headway.data.labelled_batches import Rows
from headway.models.graph_network import GraphNetwork
from headway.tasks.graph_drawing import MOST_GRAPHS, draw_graphs, draw_nodes
from headway.tasks.panels import Panel

BATCH = 128  # graphs that are judged at once
Features = Float[np.ndarray, "n c"]
Numbers = Int[np.ndarray, "b"]


class Level(Protocol):
    model: str  # the default architecture
    gives: str  # what a model must give
    head: str  # the size that makes its head
    columns: tuple[str, ...]  # of a prediction, before the class

    def logits(self, model: GraphNetwork, batch: GraphBatch) -> Float[Tensor, "b c"]: ...

    def batches(
        self, graphs: LabelledGraphs, x: Features, rows: Rows, labels: Numbers, size: int, seed: int
    ) -> NodeBatches | GraphBatches: ...

    def title(self, graphs: LabelledGraphs, row: int) -> tuple[str, ...]:
        """What one of them is called, as cells of `columns`."""

    def draw(self, graphs: LabelledGraphs, rows: Rows, predicted: Sequence[str], true: Sequence[str]) -> Panel:
        """The graph in the colours of the predicted classes; `true` are the classes that should come out, empty if not known."""


def log_probabilities(
    level: Level, model: GraphNetwork, graphs: LabelledGraphs, x: Features, rows: Rows
) -> Float[np.ndarray, "b c"]:
    """Of the classes of these nodes or graphs."""
    device, unknown = next(iter(model.parameters())).device, np.zeros(len(rows), dtype=np.int64)
    found = []
    with torch.inference_mode():
        for _, batch in level.batches(graphs, x, rows, unknown, BATCH, 0).in_order():
            moved = GraphBatch(tuple(t.to(device) for t in batch.inputs), batch.rows.to(device), batch.labels)
            found.append(level.logits(model, moved).double().log_softmax(-1).cpu().numpy())
    return np.concatenate(found)


class NodeLevel:
    model, gives, head = "gcn", "one per node", "tags"
    columns: tuple[str, ...] = ("graph", "node")

    def logits(self, model: GraphNetwork, batch: GraphBatch) -> Float[Tensor, "b c"]:
        return model.tag_logits(model.states(*batch.inputs)[batch.rows])

    def batches(
        self, graphs: LabelledGraphs, x: Features, rows: Rows, labels: Numbers, size: int, seed: int
    ) -> NodeBatches:
        return NodeBatches(graphs, x, rows, labels)

    def title(self, graphs: LabelledGraphs, row: int) -> tuple[str, ...]:
        return graphs.graph_names[graphs.graph[row]], graphs.names[row]

    def draw(self, graphs: LabelledGraphs, rows: Rows, predicted: Sequence[str], true: Sequence[str]) -> Panel:
        """All nodes; the pointer tells which ones were asked for, and whether they are right."""
        notes = [f"{name}: {p}" for name, p in zip(graphs.names, predicted, strict=True)]
        for row in rows.tolist():
            if true[row]:
                notes[row] += ", right" if true[row] == predicted[row] else f", should be {true[row]}"
        caption = "Each node in the colour of the class that the model gives it."
        return draw_nodes("The graph and its predicted classes", graphs, predicted, notes, caption)


class GraphLevel:
    model, gives, head = "gin", "one vector", "outputs"  # the sum of GIN tells graphs apart that the mean of GCN cannot
    columns: tuple[str, ...] = ("graph",)

    def logits(self, model: GraphNetwork, batch: GraphBatch) -> Float[Tensor, "b c"]:
        return model.logits(model(*batch.inputs)[batch.rows])

    def batches(
        self, graphs: LabelledGraphs, x: Features, rows: Rows, labels: Numbers, size: int, seed: int
    ) -> GraphBatches:
        return GraphBatches(graphs, x, rows, labels, size=size, seed=seed)

    def title(self, graphs: LabelledGraphs, row: int) -> tuple[str, ...]:
        return (graphs.graph_names[row],)

    def draw(self, graphs: LabelledGraphs, rows: Rows, predicted: Sequence[str], true: Sequence[str]) -> Panel:
        """A few graphs, the wrong answers first."""
        order = sorted(rows.tolist(), key=lambda row: not true[row] or true[row] == predicted[row])[:MOST_GRAPHS]
        notes = []
        for row in order:
            right = "" if not true[row] else ", right" if true[row] == predicted[row] else f", should be {true[row]}"
            notes.append(f"{graphs.graph_names[row]}: {predicted[row]}{right}")
        caption = "Each graph in the colour of the class that the model gives it; those that are wrong come first."
        return draw_graphs(
            "Some graphs and their predicted classes", graphs, order, [predicted[r] for r in order], notes, caption
        )


LEVELS: dict[bool, Level] = {True: NodeLevel(), False: GraphLevel()}  # by `LabelledGraphs.of_nodes`
