"""Graphs to learn from and what is held out of them: nodes of one graph, or whole graphs; kept in the run.

Nodes are held out by their classes alone: the model sees all nodes and all edges (semi-supervised learning), and learns from the classes
of the training part.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from jaxtyping import Float

from headway.core.files import read_arrays, write_arrays
from headway.data.findings import Report
from headway.data.graphs import LabelledGraphs
from headway.data.labelled_batches import Rows
from headway.tasks.held_out import damaged
from headway.tasks.labels import ENOUGH, split_by_class

FILE = "graphs.safetensors"


@dataclass(frozen=True, eq=False)
class GraphCorpus:
    """Graphs, and which of their nodes (or which of the graphs) are to learn from and to be judged by."""

    graphs: LabelledGraphs
    parts: dict[str, Rows]  # "train", "validation", and "test" where there is one
    reports: tuple[Report, ...]

    @cached_property
    def fingerprint(self) -> dict[str, str]:
        unit = self.graphs.unit
        return {"graphs": f"{len(self.graphs):,} {unit}, sha256 {self.graphs.fingerprint[:16]}"}

    def describe(self) -> str:
        unit = self.graphs.unit
        held = ", ".join(f"{len(rows):,} for {name}" for name, rows in self.parts.items() if name != "train")
        learning = f"learning from {len(self.parts['train']):,} {unit}; held out: {held}"
        unnamed = sum(not label for label in self.graphs.labels)
        rest = f"; {unnamed:,} {unit} have no class" if unnamed else ""
        return "\n".join([*(report.text() for report in self.reports), learning + rest])


def split_graphs(graphs: LabelledGraphs, reports: Sequence[Report], seed: int) -> GraphCorpus:
    """The same share of every class is held out for validation and, if there are enough, for a test."""
    known = [row for row, label in enumerate(graphs.labels) if label]
    names = ["validation", "test"] if len(known) >= ENOUGH else ["validation"]
    labels = [graphs.labels[row] for row in known]
    rest, chosen = split_by_class(labels, known, names, seed, graphs.origin)
    places = {"train": rest, **chosen}
    parts = {name: np.array([known[i] for i in rows], dtype=np.int64) for name, rows in places.items()}
    return GraphCorpus(graphs, parts, tuple(reports))


@dataclass(frozen=True, eq=False)
class Kept:
    """What the run keeps: graphs, their features as the model reads them, and the rows of each held-out part."""

    graphs: LabelledGraphs
    x: Float[np.ndarray, "n c"]
    parts: dict[str, Rows]

    @classmethod
    def of(cls, corpus: GraphCorpus, x: Float[np.ndarray, "n c"]) -> "Kept":
        """Of one graph everything, since its nodes need their neighbours; of many graphs those that are held out."""
        held = {name: rows for name, rows in corpus.parts.items() if name != "train"}
        if corpus.graphs.of_nodes:
            return cls(corpus.graphs, x, held)
        rows = np.sort(np.concatenate(list(held.values())))
        nodes = np.isin(corpus.graphs.graph, rows)
        parts = {name: np.searchsorted(rows, chosen) for name, chosen in held.items()}
        return cls(corpus.graphs.select(rows.tolist()), x[nodes], parts)

    def write(self, folder: Path) -> None:
        (folder / "held_out").mkdir(exist_ok=True)
        g = self.graphs
        arrays = {"x": self.x, "edges": g.edges, "graph": g.graph} | {f"rows/{n}": r for n, r in self.parts.items()}
        lists = {"names": g.names, "graph_names": g.graph_names, "labels": g.labels}
        note = lists | {"of_nodes": g.of_nodes, "origin": g.origin}
        write_arrays(folder / "held_out" / FILE, arrays, note)

    @classmethod
    def read(cls, folder: Path) -> "Kept":
        path = folder / "held_out" / FILE
        try:
            arrays, note = read_arrays(path)
            names, titles, labels = (tuple(map(str, note[key])) for key in ("names", "graph_names", "labels"))
            x, of_nodes = arrays["x"], bool(note["of_nodes"])
            graphs = LabelledGraphs(
                arrays["edges"], arrays["graph"], names, titles, labels, of_nodes, {}, str(note["origin"])
            )
            parts = {name.removeprefix("rows/"): rows for name, rows in arrays.items() if name.startswith("rows/")}
            validation = parts["validation"]
        except (ValueError, KeyError, TypeError) as problem:
            raise damaged(path, f"it does not hold graphs ({problem})") from problem
        whole = len(x) == len(graphs.graph) == len(names) and len(validation) > 0
        whole = whole and len(labels) == (len(names) if of_nodes else len(titles))
        inside = graphs.edges.size == 0 or 0 <= graphs.edges.min() <= graphs.edges.max() < len(x)
        if not whole or not inside or any(rows.max() >= len(labels) for rows in parts.values()):
            raise damaged(path, "its nodes, edges and labels do not fit together")
        return cls(graphs, x, parts)
