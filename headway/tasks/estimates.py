"""What the tasks that predict numbers share: the loss, and how the predictions are judged.

    loss = 1/c sum_j (z_j - f_j)^2,  z = (y - m) / s       score = -loss of the validation part

z is the target scaled by mean and standard deviation of the training part, so the loss of always predicting the mean is 1.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from headway.core.errors import DataError
from headway.data.labelled_batches import LabelledBatch, Rows
from headway.data.messages import display_name, excerpt
from headway.evaluate.conformal import coverage_of
from headway.evaluate.regression import Estimate, mae, r2, rmse
from headway.models.classifier import Classifier
from headway.tasks.panels import Mark, Panel, Plot
from headway.tasks.task import Figure, Judgement, Loss, Score, Validation

SHOWN = 10  # samples of a judgement
FIGURES = (
    Figure("R2", digits=4, scale="share of the variance"),
    Figure("RMSE", "", "lower", 4),
    Figure("loss", "", "lower", 4),
)


class OrderedBatches(Protocol):
    wanted: Tensor  # what should come out, scaled

    def in_order(self) -> Iterator[tuple[Rows, LabelledBatch]]: ...


def squared_loss(model: Classifier, batch: LabelledBatch) -> Loss:
    """Squared error, the mean over the outputs of an example."""
    found = model.logits(model(*batch.inputs)).float()
    total = ((found - batch.labels) ** 2).mean(1).sum()
    return Loss(total, total.detach(), len(batch.labels))


def outputs_of(model: Classifier, batches: OrderedBatches) -> Float[np.ndarray, "n c"]:
    """What the model gives for each example, in the order of the examples."""
    device = next(iter(model.parameters())).device
    with torch.inference_mode():
        found = [
            model.logits(model(*batch.to(device).inputs)).double().cpu().numpy() for _, batch in batches.in_order()
        ]
    return np.concatenate(found)


@dataclass(frozen=True)
class Scale:
    """How numbers are standardised: z = (y - mean) / deviation."""

    mean: float
    deviation: float

    @classmethod
    def of(cls, values: Float[np.ndarray, "n"]) -> "Scale":
        return cls(float(values.mean()), float(values.std() * (np.ptp(values) > 0)) or 1.0)

    def apply(self, values: Float[np.ndarray, "*n"]) -> Float[np.ndarray, "*n"]:
        return (values - self.mean) / self.deviation

    def undo(self, values: Float[np.ndarray, "*n"]) -> Float[np.ndarray, "*n"]:
        return values * self.deviation + self.mean

    def encode(
        self, values: Float[np.ndarray, "n"], cells: Sequence[str], origin: str, hint: str
    ) -> Float[np.ndarray, "n 1"]:
        """The numbers of these cells as a model is trained on them; a cell that is none raises."""
        wrong = np.flatnonzero(np.isnan(values))
        if len(wrong):
            words = f"{display_name(origin)} has targets that are no numbers, such as `{excerpt(cells[wrong[0]], 30)}`"
            raise DataError(words, hint)
        return self.apply(values)[:, None].astype(np.float32)

    def describe(self) -> str:
        return f"numbers of mean {self.mean:.4g} and standard deviation {self.deviation:.4g}"


@dataclass(frozen=True, eq=False)
class Rival:
    """Something simpler that the model is compared with, and what it predicts for the same examples."""

    name: str
    predicted: Float[np.ndarray, "n h"]


@dataclass(frozen=True, eq=False)
class Estimates:
    """Predicted numbers and true ones, in the unit of the target; h of them for each example."""

    predicted: Float[np.ndarray, "n h"]
    true: Float[np.ndarray, "n h"]
    scale: Scale
    block: int = 1  # examples that are neighbours in time, whose errors are alike: for the intervals of the figures

    @classmethod
    def of(cls, model: Classifier, batches: OrderedBatches, scale: Scale) -> "Estimates":
        true = batches.wanted.double().numpy()
        return cls(scale.undo(outputs_of(model, batches)), scale.undo(true), scale)

    def select(self, rows: np.ndarray) -> "Estimates":
        return Estimates(self.predicted[rows], self.true[rows], self.scale)

    @property
    def errors(self) -> Float[np.ndarray, "n h"]:
        return self.true - self.predicted

    @cached_property
    def loss(self) -> float:
        return float((self.errors**2).mean()) / self.scale.deviation**2

    def r2(self, predicted: Float[np.ndarray, "n h"] | None = None) -> float:
        """R2 over all outputs, of the model or of a rival."""
        found = self.predicted if predicted is None else predicted
        return r2(found.ravel(), self.true.ravel(), resamples=0).value

    def rmse(self) -> float:
        return rmse(self.predicted.ravel(), self.true.ravel(), resamples=0).value

    def figure(self, name: Callable[..., Estimate]) -> Estimate:
        """`r2`, `rmse` or `mae` over all outputs, with its interval."""
        return name(self.predicted.ravel(), self.true.ravel(), block=self.block * self.true.shape[1])

    def samples(self, show: Callable[[int], str], count: int) -> tuple[tuple[str, ...], ...]:
        """The examples with the largest errors, the largest first."""
        rows = np.argsort(-np.abs(self.errors).max(1), kind="stable")[:count].tolist()
        return tuple(
            (show(i), numbers(self.predicted[i]), numbers(self.true[i]), f"error {numbers(self.errors[i], sign=True)}")
            for i in rows
        )

    def validation(self, show: Callable[[int], str]) -> Validation:
        figures = {"R2": self.r2(), "RMSE": self.rmse(), "loss": self.loss}
        return Validation(figures, -self.loss, self.samples(show, 3))

    def judgement(
        self,
        part: str,
        rivals: Sequence[Rival],
        radius: Float[np.ndarray, "h"],
        coverage: float,
        show: Callable[[int], str],
        sizes: dict[str, int],
        unit: str,
        panels: Sequence[Panel],
        notes: Sequence[str] = (),
    ) -> Judgement:
        """Figures with intervals beside those of the rivals.

        radius, coverage   half the length of the intervals of the predictions, and the share that they should cover
        """
        size = f"{len(self.true):,} {unit}, bootstrap" + (f" in blocks of {self.block}" if self.block > 1 else "")
        found = [(name, self.figure(of)) for name, of in (("R2", r2), ("RMSE", rmse), ("MAE", mae))]
        scores = [Score(part, name, e.value, e.low, e.high, 4, size) for name, e in found]
        if self.true.shape[1] > 1:
            steps = [r2(self.predicted[:, h], self.true[:, h], resamples=0).value for h in range(self.true.shape[1])]
            scores += [Score(part, f"R2 of step {h}", value, digits=4) for h, value in enumerate(steps, 1)]
        scores += [Score(part, f"R2 of {rival.name}", self.r2(rival.predicted), digits=4) for rival in rivals]
        held = coverage_of(self.predicted, self.true, radius)
        width = " ".join(f"{r:.4g}" for r in radius)
        about = f"intervals of {coverage:.0%}: ± {width} around each prediction (conformal, from the validation part); "
        every = (f"{about}of this part they cover {held:.1%}", *notes)
        words = verdict(
            found[0][1].low, found[0][1].value, [(rival.name, self.r2(rival.predicted)) for rival in rivals]
        )
        samples = self.samples(show, SHOWN)
        return Judgement(tuple(scores), samples, words, sizes, unit, every, panels=tuple(panels))

    def panels(self, name: str) -> tuple[Panel, ...]:
        """Predicted against true numbers, and the errors over the predictions."""
        f, y = thinned(self.predicted[:, 0], self.true[:, 0])
        ends = (float(min(f.min(), y.min())), float(max(f.max(), y.max())))
        diagonal = Mark("line", ends, ends, soft=True)
        caption = "On the diagonal the prediction is right; a cloud flatter than the diagonal: large values are underestimated."
        both = Plot(
            "Predicted and true", (diagonal, Mark("points", y, f)), f"true {name}", f"predicted {name}", caption
        )
        zero = Mark("line", (float(f.min()), float(f.max())), (0.0, 0.0), soft=True)
        caption = "A band around zero without a shape is what chance leaves. A funnel: large values are harder."
        return both, Plot(
            "Residuals", (zero, Mark("points", f, y - f)), f"predicted {name}", "true - predicted", caption
        )


def thinned(*columns: Float[np.ndarray, "n"]) -> list[Float[np.ndarray, "m"]]:
    """At most 1,000 of the examples, the same of each column: a page must not hold a million dots."""
    step = -(-len(columns[0]) // 1000)
    return [column[::step] for column in columns]


def numbers(values: Float[np.ndarray, "h"], sign: bool = False) -> str:
    return " ".join(f"{value:+.4g}" if sign else f"{value:.4g}" for value in values)


def verdict(low: float, value: float, rivals: Sequence[tuple[str, float]]) -> str:
    """What R2 means, beside that of the simpler predictions."""
    if low <= 0:
        return (
            f"R2 {value:.3f}: not surely better than always predicting the mean; train longer, or bring other columns."
        )
    listed = ", ".join(f"{name} {found:.3f}" for name, found in rivals)
    words = f"explains {value:.1%} of the variance (R2 {value:.3f}; {listed})"
    best = max((found for _, found in rivals), default=0.0)
    if value < best:
        return f"{words}: something simpler predicts better here."
    if value < best + 0.005:
        return f"{words}: hardly better than something simpler."
    return f"{words}: better than each of them."
