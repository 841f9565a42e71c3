"""What the tasks that name a class share of their answers: the loss, and how the answers are judged.

    loss = -log p(y | x),  p = softmax(logits)            score = accuracy - loss / 1000

So of equally accurate weights the surer ones are kept. With fewer than 100 examples the accuracy moves in steps of more
than a hundredth, and the loss alone decides.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor

from headway.data.labelled_batches import LabelledBatch
from headway.data.length_buckets import Rows
from headway.evaluate.classification import (
    Accuracy,
    accuracy,
    calibration,
    confident_errors,
    confusion_matrix,
    macro_f1,
)
from headway.models.classifier import Classifier
from headway.tasks.panels import Mark, Matrix, Panel, Plot
from headway.tasks.task import Figure, Judgement, Loss, Score, Validation
from headway.tasks.uses import Classified

FEW = 100  # validation examples below which weights are ranked by their loss alone
SHOWN = 10  # samples of a judgement
FIGURES = (
    Figure("accuracy", digits=4, scale="0 to 1"),
    Figure("macro F1", digits=4, scale="0 to 1"),
    Figure("loss", "nats per example", "lower", 4),
)


class OrderedBatches(Protocol):
    def in_order(self) -> Iterator[tuple[Rows, LabelledBatch]]: ...


def label_loss(model: Classifier, batch: LabelledBatch, smoothing: float) -> Loss:
    """Cross-entropy of the classes, smoothed while the model trains; of both classes of each example if the batch is mixed."""
    logits = model.logits(model(*batch.inputs)).float()
    plain = _cross_entropy(logits, batch, 0.0)
    total = _cross_entropy(logits, batch, smoothing) if model.training and smoothing else plain
    return Loss(total, plain.detach(), len(batch.labels))


def _cross_entropy(logits: Float[Tensor, "b c"], batch: LabelledBatch, smoothing: float) -> Float[Tensor, ""]:
    if batch.mixed is None:
        return F.cross_entropy(logits, batch.labels, reduction="sum", label_smoothing=smoothing)
    other, weight = batch.mixed
    first, second = (
        F.cross_entropy(logits, labels, reduction="none", label_smoothing=smoothing) for labels in (batch.labels, other)
    )
    return torch.lerp(second, first, weight).sum()


@dataclass(frozen=True)
class Predictions:
    """The probabilities that a model gives to the classes of some examples, and the true classes."""

    logs: Float[np.ndarray, "n c"]  # log-probabilities
    true: Int[np.ndarray, "n"]
    names: tuple[str, ...]

    @classmethod
    def of(cls, model: Classifier, batches: OrderedBatches, names: tuple[str, ...]) -> "Predictions":
        device = next(iter(model.parameters())).device
        rows, logs, true = [], [], []
        with torch.inference_mode():
            for which, batch in batches.in_order():
                logits = model.logits(model(*batch.to(device).inputs))
                rows.append(which)
                logs.append(logits.double().log_softmax(-1).cpu().numpy())
                true.append(batch.labels.numpy())
        back = np.argsort(np.concatenate(rows))
        return cls(np.concatenate(logs)[back], np.concatenate(true)[back], names)

    @cached_property
    def probabilities(self) -> Float[np.ndarray, "n c"]:
        return np.exp(self.logs)

    @cached_property
    def predicted(self) -> Int[np.ndarray, "n"]:
        return self.logs.argmax(1)

    @property
    def loss(self) -> float:
        return float(-self.logs[np.arange(len(self.true)), self.true].mean())

    def samples(self, show: Callable[[int], str], count: int) -> tuple[tuple[str, ...], ...]:
        """The wrong answers, most confident first, then the right ones, least confident first."""
        confidence = self.probabilities.max(1)
        wrong = [mistake.example for mistake in confident_errors(self.probabilities, self.true, count)]
        right = np.flatnonzero(self.predicted == self.true)
        doubtful = right[np.argsort(confidence[right], kind="stable")].tolist()
        rows = [*wrong, *doubtful][:count]
        name = self.names
        return tuple((show(i), name[self.predicted[i]], name[self.true[i]], f"{confidence[i]:.3f}") for i in rows)

    def worst(self, count: int) -> tuple[Int[np.ndarray, "_"], list[str]]:
        """The wrong answers that the model was surest of: which examples, and "true → answer (confidence)" of each."""
        found = confident_errors(self.probabilities, self.true, count)
        rows = np.array([mistake.example for mistake in found], dtype=np.int64)
        names, sure = self.names, self.probabilities.max(1)
        return rows, [f"{names[self.true[i]]} → {names[self.predicted[i]]} ({sure[i]:.2f})" for i in rows]

    def validation(self, show: Callable[[int], str]) -> Validation:
        right, loss = accuracy(self.predicted, self.true).value, self.loss
        figures = {"accuracy": right, "macro F1": macro_f1(self.predicted, self.true), "loss": loss}
        return Validation(figures, -loss if len(self.true) < FEW else right - 1e-3 * loss, self.samples(show, 3))

    def judgement(
        self,
        part: str,
        majority: str,
        show: Callable[[int], str],
        sizes: dict[str, int],
        unit: str,
        notes: Sequence[str],
    ) -> Judgement:
        found, size = accuracy(self.predicted, self.true), f"{len(self.true):,} {unit}"
        error = calibration(self.probabilities, self.true).error
        scores = (
            Score(part, "accuracy", found.value, found.low, found.high, 4, f"{size}, Wilson's interval"),
            Score(part, "macro F1", macro_f1(self.predicted, self.true), digits=4),
            Score(part, "calibration error", error, digits=4, signature="15 bins"),
        )
        always = float((self.true == self.names.index(majority)).mean())
        every = (*self._confusions(), *notes)
        return Judgement(
            scores,
            self.samples(show, SHOWN),
            verdict(found, always, majority),
            sizes,
            unit,
            every,
            panels=self.panels(),
        )

    def panels(self) -> tuple[Panel, ...]:
        """The confusion matrix, and how often answers of a given confidence are right."""
        counts = np.array(confusion_matrix(self.predicted, self.true, self.names).counts, dtype=np.float64)
        confusion = Matrix(
            "Confusion matrix",
            self.names,
            self.names,
            counts,
            "true",
            "predicted",
            "Each row is a class: how its examples were named. Right answers are on the diagonal.",
        )
        bins = [b for b in calibration(self.probabilities, self.true).bins if b.count]
        diagonal = Mark("line", (0.0, 1.0), (0.0, 1.0), soft=True)
        labels = [f"{b.count:,} answers, {b.accuracy:.1%} right" for b in bins]
        confidence, right = [b.confidence for b in bins], [b.accuracy for b in bins]
        marks = (diagonal, Mark("line", confidence, right), Mark("points", confidence, right, labels=labels))
        caption = "On the diagonal, answers given with 90 % confidence are right 90 % of the time; below it the model is too sure."
        return confusion, Plot("Calibration", marks, "confidence", "share right", caption, equal=True)

    def _confusions(self) -> list[str]:
        """Which class was taken for which, the most frequent three."""
        counts = np.array(confusion_matrix(self.predicted, self.true, self.names).counts)
        np.fill_diagonal(counts, 0)
        order = np.argsort(-counts, axis=None, kind="stable")[:3]
        pairs = [(i // len(counts), i % len(counts)) for i in order.tolist() if counts.flat[i]]
        listed = ", ".join(f"`{self.names[i]}` taken for `{self.names[j]}` {counts[i, j]:,} x" for i, j in pairs)
        return [f"most frequent confusions: {listed}"] if pairs else []

    def classified(self, notes: Sequence[tuple[str, ...]]) -> list[Classified]:
        """For each example its classes, the most probable first."""
        found = []
        for p, warnings in zip(self.probabilities, notes, strict=True):
            order = np.argsort(-p, kind="stable").tolist()
            found.append(Classified(self.names[order[0]], {self.names[i]: float(p[i]) for i in order}, warnings))
        return found


def named(row: tuple[str, ...]) -> tuple[str, ...]:
    """A sample whose last cell says what it is, for tasks that predict classes or numbers."""
    return (*row[:3], f"confidence {row[3]}")


def verdict(found: Accuracy, always: float, majority: str) -> str:
    """What the accuracy means, against the share that always answering the most frequent class would get right."""
    if found.low <= always:
        return f"no better than always answering `{majority}` ({always:.1%} right): train longer, or bring more data."
    right = f"right for {found.value:.1%} of the examples"
    right += f"; always answering `{majority}` would be right for {always:.1%}"
    if found.value < 0.8:
        return f"{right}: it has learned something, but each answer needs checking."
    if found.value < 0.95:
        return f"{right}: useful where some mistakes can be afforded."
    return f"{right}."
