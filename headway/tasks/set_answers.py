"""What a set should give: classes or a number. Each knows its loss, how it is judged, and what is written for a person.

classes   loss = -log p(y | X), p = softmax(logits)
number    loss = (z - f(X))^2,  z = (y - m) / s with mean m and standard deviation s of the training part
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Protocol

import numpy as np
from jaxtyping import Float, Int, Shaped

from headway.core.files import write_json
from headway.data.cells import to_number
from headway.data.labelled_batches import LabelledBatch
from headway.data.sets import SetBatches
from headway.evaluate.regression import rmse
from headway.models.classifier import Classifier
from headway.tasks.answers import Predictions, label_loss, named
from headway.tasks.estimates import SHOWN, Estimates, Scale, outputs_of, squared_loss
from headway.tasks.held_out import read_kept
from headway.tasks.labels import Classes
from headway.tasks.panels import Mark, Panel, Plot
from headway.tasks.task import Judgement, Loss, Score, Validation

FILE = "target.json"
MOST_SIZES = 25  # points of the curve over the sizes of the sets
Show = Callable[[int], str]


class Answer(Protocol):
    @property
    def outputs(self) -> int: ...

    def describe(self) -> str: ...

    def save(self, folder: Path) -> None: ...

    def encode(self, targets: Sequence[str], origin: str) -> Shaped[np.ndarray, "n ..."]:
        """What should come out, as a model is trained on it."""

    def loss(self, model: Classifier, batch: LabelledBatch) -> Loss: ...

    def validation(self, model: Classifier, batches: SetBatches, show: Show) -> Validation: ...

    def judgement(
        self, model: Classifier, part: str, batches: SetBatches, show: Show, sizes: dict[str, int], seen: int
    ) -> Judgement:
        """`seen` is the size of the largest set of training."""

    def predicted(self, model: Classifier, batches: SetBatches) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        """The names of the columns that a prediction has, and its cells for each set."""


@dataclass(frozen=True)
class ClassAnswer:
    classes: Classes

    @property
    def outputs(self) -> int:
        return len(self.classes.names)

    def describe(self) -> str:
        return self.classes.describe()

    def save(self, folder: Path) -> None:
        self.classes.save(folder)

    def encode(self, targets: Sequence[str], origin: str) -> Int[np.ndarray, "n"]:
        return self.classes.numbers(targets, origin)

    def loss(self, model: Classifier, batch: LabelledBatch) -> Loss:
        return label_loss(model, batch, 0.0)

    def validation(self, model: Classifier, batches: SetBatches, show: Show) -> Validation:
        found = Predictions.of(model, batches, self.classes.names).validation(show)
        return replace(found, samples=tuple(named(row) for row in found.samples))

    def judgement(
        self, model: Classifier, part: str, batches: SetBatches, show: Show, sizes: dict[str, int], seen: int
    ) -> Judgement:
        found = Predictions.of(model, batches, self.classes.names)
        made = found.judgement(part, self.classes.majority, show, sizes, "sets", [])
        wrong = (found.predicted != found.true).astype(np.float64)
        panel = size_panel(batches.sets.counts, lambda rows: float(wrong[rows].mean()), "share wrong", seen)
        samples = tuple(named(row) for row in made.samples)
        return replace(made, samples=samples, panels=(*made.panels, panel))

    def predicted(self, model: Classifier, batches: SetBatches) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        found = Predictions.of(model, batches, self.classes.names).classified([()] * len(batches.sets))
        return ("predicted", "probability"), [(f.label, f"{f.probabilities[f.label]:.3f}") for f in found]


@dataclass(frozen=True)
class NumberAnswer:
    scale: Scale  # of the targets of training
    outputs = 1

    @classmethod
    def fit(cls, targets: Sequence[str]) -> "NumberAnswer":
        return cls(Scale.of(np.array([to_number(target) for target in targets])))

    @classmethod
    def load(cls, folder: Path) -> "NumberAnswer":
        return cls(read_kept(Scale, folder / FILE))

    def describe(self) -> str:
        return self.scale.describe()

    def save(self, folder: Path) -> None:
        write_json(folder / FILE, asdict(self.scale))

    def encode(self, targets: Sequence[str], origin: str) -> Float[np.ndarray, "n 1"]:
        hint = "this model predicts numbers; every target should be one."
        return self.scale.encode(np.array([to_number(target) for target in targets]), targets, origin, hint)

    def loss(self, model: Classifier, batch: LabelledBatch) -> Loss:
        return squared_loss(model, batch)

    def validation(self, model: Classifier, batches: SetBatches, show: Show) -> Validation:
        return Estimates.of(model, batches, self.scale).validation(show)

    def judgement(
        self, model: Classifier, part: str, batches: SetBatches, show: Show, sizes: dict[str, int], seen: int
    ) -> Judgement:
        found, counts = Estimates.of(model, batches, self.scale), batches.sets.counts
        error = found.figure(rmse)
        scores = [Score(part, "RMSE", error.value, error.low, error.high, 4, f"{len(counts):,} sets, bootstrap")]
        scores.append(Score(part, "R2", found.r2(), digits=4))
        for name, rows in (("sets as large as in training", counts <= seen), ("larger sets", counts > seen)):
            if rows.any() and not rows.all():
                scores.append(Score(part, f"RMSE of {name}", found.select(rows).rmse(), digits=4))
        by_size = size_panel(counts, lambda rows: found.select(rows).rmse(), "RMSE", seen)
        samples, panels = found.samples(show, SHOWN), (*found.panels("number"), by_size)
        return Judgement(tuple(scores), samples, verdict(found.r2()), sizes, "sets", panels=panels)

    def predicted(self, model: Classifier, batches: SetBatches) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        found = self.scale.undo(outputs_of(model, batches))[:, 0]
        return ("predicted",), [(f"{value:.6g}",) for value in found]


def verdict(value: float) -> str:
    if value <= 0:
        return f"R2 {value:.3f}: no better than always predicting the mean; train longer, or bring more sets."
    share = f"explains {value:.1%} of the variance"
    return f"{share}." if value >= 0.95 else f"{share}: it has learned something, but each number needs checking."


def size_panel(counts: np.ndarray, error: Callable[[np.ndarray], float], name: str, seen: int) -> Panel:
    """The error against the size of the sets: does what was learned go on beyond the sizes of training?"""
    groups = np.array_split(np.unique(counts), min(MOST_SIZES, len(np.unique(counts))))
    rows = [np.flatnonzero(np.isin(counts, group)) for group in groups]
    x, y = [float(group.mean()) for group in groups], [error(r) for r in rows]
    labels = [f"{len(r):,} sets" for r in rows]
    marks: tuple[Mark, ...] = (Mark("line", x, y), Mark("points", x, y, labels=labels))
    caption = "Each point is the error of the sets of about one size."
    if counts.max() > seen:
        edge = (float(seen), float(seen))
        marks = (Mark("line", edge, (0.0, max(y)), soft=True), *marks)
        caption += f" Right of the line they are larger than any set of training ({seen:,} elements)."
    return Plot("Error and size of the sets", marks, "elements of a set", name, caption)
