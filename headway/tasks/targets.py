"""What a column to be predicted is: classes or a number. Each knows its loss, how it is judged, and what is written for a person."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import ClassVar, Protocol

import numpy as np
from jaxtyping import Float, Shaped

from headway.core.files import write_json
from headway.data.cells import read_column
from headway.data.doctor_columns import TargetKind
from headway.data.labelled_batches import LabelledBatch
from headway.data.number_batches import NumberBatches
from headway.evaluate.classification import accuracy
from headway.evaluate.conformal import conformal_radius
from headway.evaluate.least_squares import LeastSquares
from headway.models.classifier import Classifier
from headway.models.ensemble import first_member
from headway.tasks.answers import Predictions, label_loss, named
from headway.tasks.estimates import Estimates, Rival, Scale, outputs_of, squared_loss
from headway.tasks.held_out import read_kept
from headway.tasks.labels import Classes
from headway.tasks.panels import Panel
from headway.tasks.task import Judgement, Loss, Validation

COVERAGE = 0.9  # of the intervals around predicted numbers
Show = Callable[[int], str]


@dataclass(frozen=True, eq=False)
class Part:
    """A part that the model is judged by: its name, its batches, what an example looks like, and how large all parts are."""

    name: str
    batches: NumberBatches
    show: Show
    sizes: dict[str, int]


class Target(Protocol):
    """What the task `table` asks of the column that it predicts."""

    kind: ClassVar[TargetKind]
    figure: ClassVar[str]  # what the importance of a feature is measured in

    @property
    def outputs(self) -> int: ...

    def describe(self) -> str: ...

    def encode(self, cells: Sequence[str], origin: str) -> Shaped[np.ndarray, "n ..."]:
        """What should come out, as a model is trained on it."""

    def save(self, folder: Path) -> None: ...

    def loss(self, model: Classifier, batch: LabelledBatch) -> Loss: ...

    def validation(self, model: Classifier, part: Part) -> Validation: ...

    def score(self, model: Classifier, batches: NumberBatches) -> float:
        """The figure that ranks, of these examples."""

    def judgement(self, model: Classifier, part: Part, validation: NumberBatches, panels: Sequence[Panel]) -> Judgement:
        """`validation` has examples that were not learned from: intervals are made from them."""

    def predicted(
        self, model: Classifier, batches: NumberBatches, validation: NumberBatches
    ) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        """The names of the columns that a prediction has, and its cells for each example."""


@dataclass(frozen=True)
class ClassTarget:
    """A column of classes."""

    name: str
    classes: Classes
    smoothing: float
    kind: ClassVar[TargetKind] = "classes"
    figure: ClassVar[str] = "accuracy"

    @property
    def outputs(self) -> int:
        return len(self.classes.names)

    def describe(self) -> str:
        return self.classes.describe()

    def encode(self, cells: Sequence[str], origin: str) -> Shaped[np.ndarray, "n"]:
        return self.classes.numbers([cell.strip() for cell in cells], origin)

    def save(self, folder: Path) -> None:
        self.classes.save(folder)

    def loss(self, model: Classifier, batch: LabelledBatch) -> Loss:
        return label_loss(model, batch, self.smoothing)

    def validation(self, model: Classifier, part: Part) -> Validation:
        found = Predictions.of(model, part.batches, self.classes.names).validation(part.show)
        return Validation(found.figures, found.score, tuple(named(row) for row in found.samples))

    def score(self, model: Classifier, batches: NumberBatches) -> float:
        found = Predictions.of(model, batches, self.classes.names)
        return accuracy(found.predicted, found.true).value

    def judgement(self, model: Classifier, part: Part, validation: NumberBatches, panels: Sequence[Panel]) -> Judgement:
        found = Predictions.of(model, part.batches, self.classes.names)
        made = found.judgement(part.name, self.classes.majority, part.show, part.sizes, "rows", [])
        samples = tuple(named(row) for row in made.samples)
        return Judgement(
            made.scores, samples, made.verdict, made.sizes, made.unit, made.notes, panels=(*made.panels, *panels)
        )

    def predicted(
        self, model: Classifier, batches: NumberBatches, validation: NumberBatches
    ) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        found = Predictions.of(model, batches, self.classes.names).classified([()] * len(batches.wanted))
        rows: list[tuple[str, ...]] = [(f.label, f"{f.probabilities[f.label]:.3f}") for f in found]
        return (f"predicted {self.name}", "probability"), rows


@dataclass(frozen=True)
class NumberTarget:
    """A column of numbers, standardised for training; `rival` is least squares on the same rows."""

    name: str
    scale: Scale
    rival: LeastSquares
    kind: ClassVar[TargetKind] = "numbers"
    figure: ClassVar[str] = "R2"
    FILE: ClassVar[str] = "target.json"
    RIVAL: ClassVar[str] = "least_squares.safetensors"

    @property
    def outputs(self) -> int:
        return 1

    @classmethod
    def fit(
        cls, name: str, cells: Sequence[str], inputs: Float[np.ndarray, "n f"], before: "Target | None"
    ) -> "NumberTarget":
        """From the training rows; the scale is that of the run that this one begins with (`before`), if it has one."""
        values = read_column(name, cells).values
        scale = before.scale if isinstance(before, NumberTarget) else Scale.of(values)
        return cls(name, scale, LeastSquares.fit(inputs, values[:, None]))

    @classmethod
    def load(cls, name: str, folder: Path, inputs: int) -> "NumberTarget":
        path = folder / cls.FILE
        scale = read_kept(Scale, path)
        return cls(name, scale, LeastSquares.load(folder / cls.RIVAL, inputs, 1))

    def save(self, folder: Path) -> None:
        write_json(folder / self.FILE, asdict(self.scale))
        self.rival.save(folder / self.RIVAL)

    def describe(self) -> str:
        return self.scale.describe()

    def encode(self, cells: Sequence[str], origin: str) -> Float[np.ndarray, "n 1"]:
        hint = f"every cell of `{self.name}` should be a number."
        return self.scale.encode(read_column(self.name, cells).values, cells, origin, hint)

    def loss(self, model: Classifier, batch: LabelledBatch) -> Loss:
        return squared_loss(model, batch)

    def validation(self, model: Classifier, part: Part) -> Validation:
        return Estimates.of(model, part.batches, self.scale).validation(part.show)

    def score(self, model: Classifier, batches: NumberBatches) -> float:
        return Estimates.of(model, batches, self.scale).r2()

    def judgement(self, model: Classifier, part: Part, validation: NumberBatches, panels: Sequence[Panel]) -> Judgement:
        found = Estimates.of(model, part.batches, self.scale)
        rivals = [Rival("least squares", self.rival.predict(part.batches.inputs[0].double().numpy()))]
        radius = self._radius(model, validation)
        every = (*found.panels(self.name), *panels)
        return found.judgement(part.name, rivals, radius, COVERAGE, part.show, part.sizes, "rows", every)

    def predicted(
        self, model: Classifier, batches: NumberBatches, validation: NumberBatches
    ) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        found = self.scale.undo(outputs_of(model, batches))[:, 0]
        radius = float(self._radius(model, validation)[0])
        rows: list[tuple[str, ...]] = [
            (f"{value:.6g}", f"{value - radius:.6g}", f"{value + radius:.6g}") for value in found
        ]
        return (f"predicted {self.name}", f"{COVERAGE:.0%} from", f"{COVERAGE:.0%} to"), rows

    def _radius(self, model: Classifier, validation: NumberBatches) -> Float[np.ndarray, "1"]:
        return conformal_radius(Estimates.of(first_member(model), validation, self.scale).errors, COVERAGE)
