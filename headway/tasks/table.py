import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from headway.core.config import Choice, require
from headway.core.files import write_json
from headway.data import table as tables
from headway.data.doctor_columns import TargetKind
from headway.data.features import Features
from headway.data.labelled_batches import LabelledBatch
from headway.data.messages import count_noun, excerpt
from headway.data.number_batches import NumberBatches
from headway.data.table import glance
from headway.evaluate.importance import permutation_importance
from headway.models.classifier import Classifier
from headway.tasks import answers, estimates
from headway.tasks.brought import brought_parts, require_path
from headway.tasks.held_out import judged, loaded_from, once_per_folder, read_kept, read_tables, write_tables
from headway.tasks.labels import Classes
from headway.tasks.panels import Mark, Plot
from headway.tasks.recipe import Proposal, Recipe
from headway.tasks.sizing import default_rate, gentler, sized
from headway.tasks.table_rows import TableCorpus, collect_rows, guess_target, read_given
from headway.tasks.targets import ClassTarget, NumberTarget, Part, Target
from headway.tasks.task import Base, Figure, Judgement, Loss, Task, Validation
from headway.tasks.uses import Predicted

BATCH = 1024  # rows that are judged or predicted at once
FILE = "features.json"
KINDS: dict[TargetKind, Literal["regression", "classification"]] = {
    "numbers": "regression",
    "classes": "classification",
}
WHICH = "which table? `--table`: one example per row"
MOST_SHUFFLED = 2000  # rows that the importance of features is measured on


@dataclass(frozen=True)
class Data:
    table: str | None = None  # one example per row: .tsv .csv .jsonl .parquet, `-` for standard input
    target: str | None = None  # the column to be predicted, by name or number
    features: tuple[str, ...] = ()  # the columns to learn from, with commas (default: all others)
    kind: Literal["regression", "classification"] | None = None  # what the target is (default: found from the column)
    validation_table: str | None = None  # held-out rows to choose the best weights by; without them a part is set apart
    test_table: str | None = None  # held-out rows to judge the end result by; without them a part is set apart
    smoothing: float = 0.0  # label smoothing, of a classification

    def __post_init__(self) -> None:
        require((0 <= self.smoothing < 1, f"`--smoothing` must be at least 0 and less than 1, not {self.smoothing}"))


class Table(Task[Data, TableCorpus, LabelledBatch, Classifier]):
    """Tables: a row in, a number (regression) or the probability of each class (classification) out.

    loss: squared error of the standardised number, or cross-entropy of the class; figures: R2 and RMSE, or accuracy and macro F1.
    """

    aliases = ("regression", "tabular data", "table regression", "table classification", "tabular classification")
    reads, gives, model = "vectors", "one vector", "mlp"
    unit, loss_unit = "examples", "per example"
    figures = (*estimates.FIGURES[:2], *answers.FIGURES[:2], Figure("loss", "per example", "lower", 4))
    columns = ("row", "predicted", "true", "remark")
    uses = ("predict",)
    files = ("table", "validation_table", "test_table")
    tested = ("table",)

    def __init__(self, data: Data, features: Features, target: Target, folder: Path | None = None) -> None:
        self.data, self.features, self.target, self.folder = data, features, target, folder
        self.averages = "numbers" if isinstance(target, NumberTarget) else "probabilities"

    # -- data ----------------------------------------------------------------------------------------------------------

    @classmethod
    def collect(cls, data: Data, seed: int) -> TableCorpus:
        path = require_path(data.table, WHICH, "train table")
        brought = brought_parts(data.validation_table, data.test_table)
        asked = next((kind for kind, name in KINDS.items() if name == data.kind), None)
        return collect_rows(path, data.target, data.features or None, asked, brought, seed)

    @classmethod
    def recognise(cls, paths: Sequence[str]) -> Data | None:
        target = guess_target(paths[0]) if len(paths) == 1 else None
        return Data(paths[0], target) if target else None

    @classmethod
    def options_for(cls, paths: Sequence[str]) -> tuple[str, ...]:
        columns = list(glance(paths[0])) if len(paths) == 1 else []
        return ("--table", paths[0], "--target", columns[-1]) if len(columns) > 1 else ()

    @classmethod
    def propose(cls, recipe: Recipe[Data], corpus: TableCorpus, base: Base | None) -> Proposal[Data]:
        """Few rows want a small model and some dropout; a linear model none."""
        t, count, chosen = recipe.training, len(corpus.train), recipe.model or Choice(cls.model)
        grade = (count >= 2000) + (count >= 20_000)
        straight = chosen.name == "linear"  # one matrix that starts at zero: it may take larger steps
        dropout = 0.0 if straight else (0.1, 0.05, 0.0)[grade]
        model = sized(chosen, width=(64, 128, 256)[grade], depth=2, inner=2, head_width=32, dropout=dropout)
        settled = dataclasses.replace(recipe.data, kind=KINDS[corpus.kind])
        usual = default_rate(t.optimizer) * (10 if straight else 1) * (gentler(count) if base else 1.0)
        return Proposal(settled, model, t.batch or (32, 64, 128)[grade], t.rate or usual)

    @classmethod
    def fit(cls, data: Data, corpus: TableCorpus, base: Base | None) -> "Table":
        """Learn the scale of numbers and the words of columns, or take them over from the run that this one begins with."""
        before = base.task if base else None
        same = isinstance(before, Table) and set(before.features.names) == set(corpus.features)
        features = before.features if isinstance(before, Table) and same else Features.of(corpus.train, corpus.features)
        known, name = before.target if isinstance(before, Table) else None, data.target or ""
        cells = corpus.train.column(name)
        if corpus.kind == "classes":
            classes = Classes.of([cell.strip() for cell in cells], known)
            return cls(data, features, ClassTarget(name, classes, data.smoothing))
        return cls(data, features, NumberTarget.fit(name, cells, features.encode(corpus.train), known))

    def save(self, folder: Path) -> None:
        write_json(folder / FILE, asdict(self.features))
        self.target.save(folder)

    @classmethod
    def load(cls, data: Data, folder: Path) -> "Table":
        path, name = folder / FILE, data.target or ""
        features = read_kept(Features, path)
        if data.kind == "classification":
            return cls(data, features, ClassTarget(name, Classes.load(folder), data.smoothing), folder)
        return cls(data, features, NumberTarget.load(name, folder, features.width), folder)

    @property
    def sizes(self) -> dict[str, int]:
        return {"features": self.features.width, "outputs": self.target.outputs}

    def describe(self) -> str:
        count = count_noun(len(self.features.names), "feature")
        return f"{count} in {count_noun(self.features.width, 'column')}, {self.target.describe()}"

    # -- training ------------------------------------------------------------------------------------------------------

    def prepare(self, corpus: TableCorpus, folder: Path, batch: int, seed: int) -> NumberBatches:
        for part in corpus.held_out.values():  # a label that training lacks is reported now
            self._batches(part, BATCH)
        write_tables(corpus.held_out, folder)
        return self._batches(corpus.train, batch, seed)

    def _batches(self, part: tables.Table, batch: int, seed: int = 0) -> NumberBatches:
        wanted = self.target.encode(part.column(self.data.target or ""), part.origin)
        return NumberBatches([self.features.encode(part)], wanted, rows=batch, seed=seed)

    def loss(self, model: Classifier, batch: LabelledBatch) -> Loss:
        return self.target.loss(model, batch)

    def validate(self, model: Classifier, folder: Path) -> Validation:
        return self.target.validation(model, self._held_out(folder)["validation"])

    def validation_batches(self, folder: Path) -> NumberBatches:
        return self._held_out(folder)["validation"].batches

    def given_batches(self, data: Data, folder: Path, batch: int) -> NumberBatches:
        return self._given(data)[0].batches

    @once_per_folder
    def _held_out(self, folder: Path) -> dict[str, Part]:
        """The parts that the run keeps."""
        found = read_tables(folder, [*self.features.names, self.data.target or ""])
        sizes = {name: len(part) for name, part in found.items()}
        return {name: self._part(name, part, sizes) for name, part in found.items()}

    def _part(self, name: str, part: tables.Table, sizes: dict[str, int]) -> Part:
        columns = {n: part.column(n) for n in self.features.names[:8]}
        return Part(
            name,
            self._batches(part, BATCH),
            lambda i: ", ".join(f"{n} {excerpt(c[i], 20) or 'missing'}" for n, c in columns.items()),
            sizes,
        )

    # -- judging -------------------------------------------------------------------------------------------------------

    def judge(self, model: Classifier, folder: Path) -> Judgement:
        """Scores of the test part, or of the validation part if the data was too small to set a test part apart."""
        parts = self._held_out(folder)
        return self._judgement(model, parts[judged(parts)], parts["validation"].batches)

    def _judgement(self, model: Classifier, part: Part, validation: NumberBatches) -> Judgement:
        return self.target.judgement(model, part, validation, [self._importance(model, part.batches)])

    def _importance(self, model: Classifier, batches: NumberBatches) -> Plot:
        """Bars: what the figure loses when a feature is shuffled."""
        inputs, wanted = batches.inputs[0].numpy()[:MOST_SHUFFLED], batches.wanted.numpy()[:MOST_SHUFFLED]

        def score(x: Float[np.ndarray, "n f"]) -> float:
            return self.target.score(model, NumberBatches([x], wanted, rows=BATCH))

        found = permutation_importance(score, inputs, self.features.columns)[:12][::-1]
        rows = np.arange(1, len(found) + 1, dtype=np.float64)
        means = np.array([f.mean for f in found])
        labels = [f"{f.name}: {f.mean:.4f} ± {f.deviation:.4f}" for f in found]
        bars = [
            Mark("segments", [0.0], [y], f"{f.name} {f.mean:.3f}", [y], [f.mean])
            for y, f in zip(rows, found, strict=True)
        ][::-1]
        caption = f"What {self.target.figure} loses when a feature is shuffled; features that say the same share their importance."
        marks = (*bars, Mark("points", means, rows, labels=labels, soft=True))
        return Plot("Importance of the features", marks, f"loss of {self.target.figure}", "", caption)

    def evaluate(self, model: Classifier, data: Data) -> Judgement:
        part, notes = self._given(data)
        found = self._judgement(model, part, self._validation().batches)
        return dataclasses.replace(found, notes=(*found.notes, *notes))

    def _given(self, data: Data) -> tuple[Part, tuple[str, ...]]:
        """A table that a person brings, its columns named as in training; what was left out, and what training has not seen."""
        path = require_path(data.table, WHICH, "evaluate")
        table, report = read_given(path, self.data.target or "", self.features.names, self.target.kind)
        notes = (*report.left_out, *self.features.warnings(table))
        return self._part("given", table, {"given": len(table)}), notes

    def _validation(self) -> Part:
        """The validation part of the run that this task was loaded from: intervals are made from it."""
        return self._held_out(loaded_from(self.folder))["validation"]

    def example(self, model: Classifier) -> tuple[Callable[[], Tensor], int]:
        row = torch.zeros(1, self.features.width, device=next(iter(model.parameters())).device)
        return lambda: model.logits(model(row)), 1

    def commands(self, folder: str, judgement: Judgement) -> list[str]:
        return [f"predict {folder} --table new.csv --output predictions.csv", f"evaluate {folder} --table test.csv"]

    # -- using ---------------------------------------------------------------------------------------------------------

    def predict(self, model: Classifier, data: Data) -> Predicted:
        """The table with the predictions beside it; it needs the columns of the features, the target need not be there."""
        table = tables.read_table(require_path(data.table, WHICH, "predict"), self.features.names)
        batches = NumberBatches([self.features.encode(table)], np.zeros(len(table), dtype=np.int64), rows=BATCH)
        names, found = self.target.predicted(model, batches, self._validation().batches)
        rows = tuple(
            (*cells, *more) for cells, more in zip(zip(*table.columns.values(), strict=True), found, strict=True)
        )
        unread = [f"{count_noun(len(table.problems), 'row')} could not be read"] * bool(table.problems)
        return Predicted((*table.columns, *names), rows, (), (*unread, *self.features.warnings(table)))
