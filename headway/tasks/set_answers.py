"""What a set should give: classes or a number. Each knows its loss, how it is judged, and what is written for a person.

classes   loss = -log p(y | X), p = softmax(logits)
number    loss = (z - f(X))^2,  z = (y - m) / s with mean m and standard deviation s of the training part
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Protocol

import numpy as np
import torch
from jaxtyping import Float, Int, Shaped

from headway.core.errors import DataError
from headway.core.files import write_json
from headway.data.cells import to_number
from headway.data.labelled_batches import LabelledBatch
from headway.data.messages import display_name, excerpt
from headway.data.sets import SetBatches
from headway.models.classifier import Classifier
from headway.tasks.answers import Predictions, label_loss
from headway.tasks.held_out import read_kept
from headway.tasks.labels import Classes
from headway.tasks.panels import Mark, Panel, Plot
from headway.tasks.task import Figure, Judgement, Loss, Score, Validation

FILE = "target.json"
SHOWN, RESAMPLES, MOST_DOTS, MOST_SIZES = 10, 1000, 1000, 25
FIGURES = (Figure("R2", digits=4, scale="0 to 1"), Figure("RMSE", "", "lower", 4))
Show = Callable[[int], str]


class Answer(Protocol):
    @property
    def outputs(self) -> int: ...

    def describe(self) -> str: ...

    def save(self, folder: Path) -> None: ...

    def encode(self, targets: Sequence[str], origin: str) -> Shaped[np.ndarray, "n"]:
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
        return replace(found, samples=named(found.samples))

    def judgement(
        self, model: Classifier, part: str, batches: SetBatches, show: Show, sizes: dict[str, int], seen: int
    ) -> Judgement:
        found = Predictions.of(model, batches, self.classes.names)
        made = found.judgement(part, self.classes.majority, show, sizes, "sets", [])
        wrong = (found.predicted != found.true).astype(np.float64)
        panel = size_panel(batches.sets.counts, lambda rows: float(wrong[rows].mean()), "share wrong", seen)
        return replace(made, samples=named(made.samples), panels=(*made.panels, panel))

    def predicted(self, model: Classifier, batches: SetBatches) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        found = Predictions.of(model, batches, self.classes.names).classified([()] * len(batches.sets))
        return ("predicted", "probability"), [(f.label, f"{f.probabilities[f.label]:.3f}") for f in found]


@dataclass(frozen=True)
class NumberAnswer:
    mean: float  # of the targets of training
    deviation: float
    outputs = 1

    @classmethod
    def fit(cls, targets: Sequence[str]) -> "NumberAnswer":
        values = np.array([to_number(target) for target in targets])
        return cls(float(values.mean()), float(values.std()) or 1.0)

    @classmethod
    def load(cls, folder: Path) -> "NumberAnswer":
        return read_kept(cls, folder / FILE)

    def describe(self) -> str:
        return f"numbers of mean {self.mean:.4g} and standard deviation {self.deviation:.4g}"

    def save(self, folder: Path) -> None:
        write_json(folder / FILE, asdict(self))

    def encode(self, targets: Sequence[str], origin: str) -> Float[np.ndarray, "n"]:
        values = np.array([to_number(target) for target in targets])
        wrong = np.flatnonzero(np.isnan(values))
        if len(wrong):
            words = (
                f"{display_name(origin)} has targets that are no numbers, such as `{excerpt(targets[wrong[0]], 30)}`"
            )
            raise DataError(words, "this model predicts numbers; every target should be one.")
        return ((values - self.mean) / self.deviation).astype(np.float32)

    def loss(self, model: Classifier, batch: LabelledBatch) -> Loss:
        total = (model.logits(model(*batch.inputs)).float()[:, 0] - batch.labels).square().sum()
        return Loss(total, total.detach(), len(batch.labels))

    def _both(self, model: Classifier, batches: SetBatches) -> tuple[np.ndarray, np.ndarray]:
        """Predicted and true numbers."""
        device = next(iter(model.parameters())).device
        with torch.inference_mode():
            parts = [model.logits(model(*batch.to(device).inputs))[:, 0] for _, batch in batches.in_order()]
        scaled = torch.cat(parts).double().cpu().numpy(), batches.wanted.double().numpy()
        return scaled[0] * self.deviation + self.mean, scaled[1] * self.deviation + self.mean

    def validation(self, model: Classifier, batches: SetBatches, show: Show) -> Validation:
        predicted, true = self._both(model, batches)
        error = rmse(predicted, true)
        return Validation({"R2": r2(predicted, true), "RMSE": error}, -error, samples(predicted, true, show, 3))

    def judgement(
        self, model: Classifier, part: str, batches: SetBatches, show: Show, sizes: dict[str, int], seen: int
    ) -> Judgement:
        predicted, true = self._both(model, batches)
        counts = batches.sets.counts
        drawn = np.random.default_rng(0).integers(0, len(true), (RESAMPLES, len(true)))
        low, high = np.quantile(np.sqrt(((predicted - true) ** 2)[drawn].mean(1)), (0.025, 0.975)).tolist()
        signature = f"{len(true):,} sets, {RESAMPLES:,} bootstrap resamples"
        scores = [Score(part, "RMSE", rmse(predicted, true), low, high, 4, signature)]
        scores.append(Score(part, "R2", r2(predicted, true), digits=4))
        for name, rows in (("sets as large as in training", counts <= seen), ("larger sets", counts > seen)):
            if rows.any() and not rows.all():
                scores.append(Score(part, f"RMSE of {name}", rmse(predicted[rows], true[rows]), digits=4))
        chosen = slice(None, None, -(-len(true) // MOST_DOTS))
        ends = (float(min(predicted.min(), true.min())), float(max(predicted.max(), true.max())))
        caption = "On the diagonal the prediction is right."
        marks = (Mark("line", ends, ends, soft=True), Mark("points", true[chosen], predicted[chosen]))
        by_size = size_panel(counts, lambda rows: rmse(predicted[rows], true[rows]), "RMSE", seen)
        panels = (Plot("Predicted and true", marks, "true", "predicted", caption, equal=True), by_size)
        words = verdict(r2(predicted, true))
        return Judgement(tuple(scores), samples(predicted, true, show, SHOWN), words, sizes, "sets", panels=panels)

    def predicted(self, model: Classifier, batches: SetBatches) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        return ("predicted",), [(f"{value:.6g}",) for value in self._both(model, batches)[0]]


def rmse(predicted: Float[np.ndarray, "n"], true: Float[np.ndarray, "n"]) -> float:
    return float(np.sqrt(np.mean((predicted - true) ** 2)))


def r2(predicted: Float[np.ndarray, "n"], true: Float[np.ndarray, "n"]) -> float:
    """1 - (mean squared error) / (variance): 1 is perfect, 0 as good as always predicting the mean."""
    variance = float(np.var(true))
    return 1 - float(np.mean((predicted - true) ** 2)) / variance if variance else 0.0


def samples(predicted: np.ndarray, true: np.ndarray, show: Show, count: int) -> tuple[tuple[str, ...], ...]:
    """The largest errors first."""
    rows = np.argsort(-np.abs(predicted - true), kind="stable")[:count].tolist()
    return tuple(
        (show(i), f"{predicted[i]:.4g}", f"{true[i]:.4g}", f"error {predicted[i] - true[i]:+.4g}") for i in rows
    )


def named(rows: tuple[tuple[str, ...], ...]) -> tuple[tuple[str, ...], ...]:
    """Samples of classes whose last cell says what it is."""
    return tuple((*row[:3], f"confidence {row[3]}") for row in rows)


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
