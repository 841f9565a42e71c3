import shlex
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

from headway.core import registry
from headway.core.config import Choice, require
from headway.core.errors import ConfigError, UsageError
from headway.core.files import write_json
from headway.data.graph_generators import generate_graphs
from headway.data.graph_tables import Files, read_graphs, recognise_files
from headway.data.graphs import GraphBatch, LabelledGraphs
from headway.data.labelled_batches import Rows
from headway.data.node_features import NodeFeatures
from headway.models.graph_network import GraphNetwork
from headway.tasks.answers import FIGURES, Predictions
from headway.tasks.graph_level import LEVELS, Features, Level, log_probabilities
from headway.tasks.graph_parts import GraphCorpus, Kept, split_graphs
from headway.tasks.held_out import damaged, judged, once_per_folder, read_kept
from headway.tasks.labels import Classes
from headway.tasks.recipe import Proposal, Recipe
from headway.tasks.sizing import sized, usual_rate
from headway.tasks.task import Base, Batches, Judgement, Loss, Task, Validation
from headway.tasks.uses import Predicted

FILE = "features.json"
BATCH = 32  # graphs that are measured at once


@dataclass(frozen=True)
class Data:
    edges: str | None = None  # one edge per row, columns `source` and `target`: .tsv .csv .jsonl .parquet
    nodes: str | None = None  # one node per row: its name, its class (empty: to be predicted), columns that describe it
    graphs: str | None = None  # for classes of whole graphs: one graph per row; the nodes then have a column `graph`
    label: str | None = None  # the column of the classes (default: `label`, `class` or `target`)
    directed: bool = False  # edges go one way only; otherwise both
    kind: Literal["communities", "cycles", "motifs"] | None = None  # or generated graphs
    size: int = 1000  # nodes of generated communities; of the others, how many graphs

    def __post_init__(self) -> None:
        given = any(path is not None for path in (self.edges, self.nodes, self.graphs))
        require(
            (self.kind is None or not given, "`--kind` and files exclude each other"),
            (self.size >= 30, f"`--size` must be at least 30, not {self.size}"),
        )

    def named(self, command: str) -> Files:
        if self.edges is None or self.nodes is None:
            missing = " and ".join(f"`--{n}`" for n in ("edges", "nodes") if getattr(self, n) is None)
            hint = f"a table of edges and one of nodes; `headway {command} --help` explains them."
            raise UsageError(f"which graphs? {missing} missing", hint)
        return Files(self.edges, self.nodes, self.graphs, self.label, self.directed)


@dataclass(frozen=True)
class Learned:
    """What is named, nodes or graphs, and what describes a node."""

    of_nodes: bool
    features: NodeFeatures


class Graphs(Task[Data, GraphCorpus, GraphBatch, GraphNetwork]):
    """Classes of nodes or of graphs: nodes with their edges in, the probability of each class out.

    One graph, some of whose nodes have a class (semi-supervised; by default with gcn), or many graphs with a class each (gin).
    loss: cross-entropy of the class; figures: accuracy, macro F1 and loss of held-out nodes or graphs.
    """

    aliases = ("node classification", "graph classification", "semi-supervised node classification")
    reads, gives, model = "graphs", "one per node", "gcn"
    unit, loss_unit = "examples", "nats per example"
    figures = FIGURES
    columns = ("input", "predicted", "true", "confidence")
    uses = ("predict",)
    files = ("edges", "nodes", "graphs")
    tested = ("edges", "nodes", "graphs", "label", "directed")

    def __init__(self, data: Data, classes: Classes, learned: Learned) -> None:
        self.data, self.classes, self.learned = data, classes, learned

    @property
    def level(self) -> Level:
        return LEVELS[self.learned.of_nodes]

    # -- data ----------------------------------------------------------------------------------------------------------

    @classmethod
    def collect(cls, data: Data, seed: int) -> GraphCorpus:
        if data.kind is not None:
            return split_graphs(generate_graphs(data.kind, data.size, seed), (), seed)
        graphs, reports = read_graphs(data.named("train graphs"))
        return split_graphs(graphs, reports, seed)

    @classmethod
    def recognise(cls, paths: Sequence[str]) -> Data | None:
        found = recognise_files(paths)
        return Data(found.edges, found.nodes, found.graphs) if found else None

    @classmethod
    def propose(cls, recipe: Recipe[Data], corpus: GraphCorpus, base: Base | None) -> Proposal[Data]:
        """Few labelled nodes want much dropout; whole graphs less of it. A person's model must give what is named here."""
        t, count, of_nodes = recipe.training, len(corpus.parts["train"]), corpus.graphs.of_nodes
        chosen, gives = recipe.model or Choice(LEVELS[of_nodes].model), LEVELS[of_nodes].gives
        entry = registry.get("models", chosen.name)
        if not registry.fits(entry, cls.reads, gives):
            known = ", ".join(f"`{name}`" for name in registry.models_for(cls.reads, gives))
            raise ConfigError(
                f"`{chosen.name}` does not give {gives} of graphs, which this data needs", f"these do: {known}."
            )
        model = sized(
            chosen,
            width=64 if count < 20_000 else 128,
            depth=2 if of_nodes else 4,
            inner=2,
            head_width=8,
            dropout=(0.5 if count < 2000 else 0.3) if of_nodes else 0.1,
        )
        batch = count if of_nodes else t.batch or (32 if count < 2000 else 64)  # nodes are learned from all at once
        return Proposal(recipe.data, model, batch, usual_rate(t, base, count))

    @classmethod
    def fit(cls, data: Data, corpus: GraphCorpus, base: Base | None) -> "Graphs":
        """The classes and the scale of the features, or those of the run that this one begins with.

        Of many graphs those of training are measured; of one graph all nodes, which the model sees anyway.
        """
        before, graphs, rows = base.task if base else None, corpus.graphs, corpus.parts["train"].tolist()
        labels = [graphs.labels[row] for row in rows]
        seen = graphs if graphs.of_nodes else graphs.select(rows)
        same = isinstance(before, Graphs) and set(before.learned.features.wanted) == set(graphs.attributes)
        features = before.learned.features if same and isinstance(before, Graphs) else NodeFeatures.of(seen)
        return cls(data, Classes.of(labels, before), Learned(graphs.of_nodes, features))

    def save(self, folder: Path) -> None:
        self.classes.save(folder)
        write_json(folder / FILE, asdict(self.learned))

    @classmethod
    def load(cls, data: Data, folder: Path) -> "Graphs":
        learned = read_kept(Learned, folder / FILE)
        f = learned.features
        if len({len(f.columns), len(f.values), len(f.mean), len(f.deviation)}) != 1:
            raise damaged(folder / FILE, "every feature needs a column and a scale")
        return cls(data, Classes.load(folder), learned)

    @property
    def sizes(self) -> dict[str, int]:
        return {"features": len(self.learned.features), self.level.head: len(self.classes.names)}

    def describe(self) -> str:
        return f"{self.learned.features.describe()}, {self.classes.describe()}"

    # -- training ------------------------------------------------------------------------------------------------------

    def prepare(self, corpus: GraphCorpus, folder: Path, batch: int, seed: int) -> Batches[GraphBatch]:
        x, rows = self.learned.features.apply(corpus.graphs), corpus.parts["train"]
        for held in corpus.parts.values():  # a class that training lacks is reported now
            self._numbers(corpus.graphs, held)
        Kept.of(corpus, x).write(folder)
        return self.level.batches(corpus.graphs, x, rows, self._numbers(corpus.graphs, rows), batch, seed)

    def _rows(self, graphs: LabelledGraphs, x: Features, rows: Rows) -> Batches[GraphBatch]:
        """Batches of these nodes or graphs."""
        return self.level.batches(graphs, x, rows, self._numbers(graphs, rows), BATCH, 0)

    def _numbers(self, graphs: LabelledGraphs, rows: Rows) -> Rows:
        return self.classes.numbers([graphs.labels[row] for row in rows.tolist()], graphs.origin)

    def loss(self, model: GraphNetwork, batch: GraphBatch) -> Loss:
        total = F.cross_entropy(self.level.logits(model, batch).float(), batch.labels, reduction="sum")
        return Loss(total, total.detach(), len(batch.labels))

    def validate(self, model: GraphNetwork, folder: Path) -> Validation:
        kept = self._kept(folder)
        rows = kept.parts["validation"]
        return self._predictions(model, kept.graphs, kept.x, rows).validation(
            lambda i: self._show(kept.graphs, rows[i])
        )

    def _predictions(self, model: GraphNetwork, graphs: LabelledGraphs, x: Features, rows: Rows) -> Predictions:
        logs = log_probabilities(self.level, model, graphs, x, rows)
        return Predictions(logs, self._numbers(graphs, rows), self.classes.names)

    def _show(self, graphs: LabelledGraphs, row: int) -> str:
        return " ".join(cell for cell in self.level.title(graphs, row) if cell)

    def validation_batches(self, folder: Path) -> Batches[GraphBatch]:
        kept = self._kept(folder)
        return self._rows(kept.graphs, kept.x, kept.parts["validation"])

    def given_batches(self, data: Data, folder: Path, batch: int) -> Batches[GraphBatch]:
        graphs = self._bring(data, "evaluate")[0]
        return self._rows(graphs, self.learned.features.apply(graphs), labelled(graphs))

    @once_per_folder
    def _kept(self, folder: Path) -> Kept:
        """What the run keeps."""
        return Kept.read(folder)

    # -- judging -------------------------------------------------------------------------------------------------------

    def judge(self, model: GraphNetwork, folder: Path) -> Judgement:
        """Scores of the test part, or of the validation part if the data was too small to set a test part apart."""
        kept = self._kept(folder)
        name = judged(kept.parts)
        sizes = {part: len(rows) for part, rows in kept.parts.items()}
        return self._judgement(model, name, kept.graphs, kept.x, kept.parts[name], sizes)

    def _judgement(
        self, model: GraphNetwork, name: str, graphs: LabelledGraphs, x: Features, rows: Rows, sizes: dict[str, int]
    ) -> Judgement:
        found = self._predictions(model, graphs, x, rows)
        made = found.judgement(
            name, self.classes.majority, lambda i: self._show(graphs, rows[i]), sizes, graphs.unit, []
        )
        predicted = self._named(model, graphs, x)
        return replace(made, panels=(self.level.draw(graphs, rows, predicted, graphs.labels), *made.panels))

    def _named(self, model: GraphNetwork, graphs: LabelledGraphs, x: Features) -> list[str]:
        """The class of every node, or of every graph."""
        return [self.classes.names[i] for i in self._all(model, graphs, x).argmax(1)]

    def _all(self, model: GraphNetwork, graphs: LabelledGraphs, x: Features) -> Float[np.ndarray, "n c"]:
        """The probabilities of the classes of every node, or of every graph."""
        return np.exp(log_probabilities(self.level, model, graphs, x, np.arange(len(graphs))))

    def evaluate(self, model: GraphNetwork, data: Data) -> Judgement:
        """Scores of the nodes or graphs that have a class; columns are named as in training unless they are given."""
        graphs, warnings = self._bring(data, "evaluate")
        rows, x = labelled(graphs), self.learned.features.apply(graphs)
        found = self._judgement(model, "given", graphs, x, rows, {"given": len(rows)})
        return replace(found, notes=(*found.notes, *warnings))

    def _bring(self, data: Data, verb: str) -> tuple[LabelledGraphs, tuple[str, ...]]:
        """The graphs of tables that a person brings, and what was left out or filled in."""
        files = replace(data.named(verb), label=data.label or self.data.label)
        if self.learned.of_nodes != (files.graphs is None):
            words = "nodes" if self.learned.of_nodes else "whole graphs"
            hint = "leave `--graphs` out." if self.learned.of_nodes else "name them: `--graphs graphs.csv`."
            raise UsageError(f"this model was trained for the classes of {words}", hint)
        graphs, reports = read_graphs(files, self.learned.features.wanted, with_labels=verb == "evaluate")
        left_out = [words for report in reports for words in report.left_out]
        return graphs, (*left_out, *self.learned.features.warnings(graphs))

    def example(self, model: GraphNetwork) -> tuple[Callable[[], Tensor], int]:
        """A ring of 100 nodes: what a node or a graph costs depends on how many edges there are."""
        device = next(iter(model.parameters())).device
        ring = np.arange(100)
        edges = np.stack((np.concatenate((ring, ring)), np.concatenate(((ring + 1) % 100, (ring - 1) % 100))))
        one = LabelledGraphs(edges, 0 * ring, ("",) * 100, ("",), ("",) * (100 if self.learned.of_nodes else 1),
                             self.learned.of_nodes, {}, "")  # fmt: skip
        rows = np.arange(len(one))
        batch = self.level.batches(one, np.zeros((100, len(self.learned.features))), rows, rows, 1, 0)[0]
        inputs = tuple(tensor.to(device) for tensor in batch.inputs)
        return lambda: self.level.logits(model, GraphBatch(inputs, batch.rows.to(device), batch.labels)), len(rows)

    def commands(self, folder: str, judgement: Judgement) -> list[str]:
        files = "--edges edges.csv --nodes nodes.csv" + ("" if self.learned.of_nodes else " --graphs graphs.csv")
        same = files
        if (
            self.learned.of_nodes and self.data.edges and self.data.nodes
        ):  # their nodes without a class are to be predicted
            same = f"--edges {shlex.quote(self.data.edges)} --nodes {shlex.quote(self.data.nodes)}"
        return [f"predict {folder} {same}", f"evaluate {folder} {files}"]

    # -- using ---------------------------------------------------------------------------------------------------------

    def predict(self, model: GraphNetwork, data: Data) -> Predicted:
        """The classes of all nodes or graphs, of this graph or new ones; classes in the tables are not looked at."""
        graphs, warnings = self._bring(data, "predict")
        found = self._all(model, graphs, self.learned.features.apply(graphs))
        best, names = found.max(1), [self.classes.names[i] for i in found.argmax(1)]
        rows = [(*self.level.title(graphs, i), names[i], f"{best[i]:.3f}") for i in range(len(graphs))]
        columns = (*self.level.columns, "predicted", "probability")
        if self.learned.of_nodes and len(graphs.graph_names) == 1:  # one graph needs no name
            columns, rows = columns[1:], [row[1:] for row in rows]
        panel = self.level.draw(graphs, np.arange(len(graphs)), names, ("",) * len(graphs))
        return Predicted(columns, tuple(rows), (panel,), warnings)


def labelled(graphs: LabelledGraphs) -> Rows:
    """The nodes or graphs that have a class."""
    return np.array([row for row, label in enumerate(graphs.labels) if label], dtype=np.int64)
