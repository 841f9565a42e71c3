from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from headway.core.config import Choice, require
from headway.core.errors import DataError
from headway.core.files import write_json
from headway.data.cells import kinds_of
from headway.data.labelled_batches import LabelledBatch
from headway.data.messages import count_noun, display_name, list_names
from headway.data.number_batches import NumberBatches
from headway.data.series import Series, Windows
from headway.data.table import glance
from headway.evaluate.conformal import conformal_radius
from headway.evaluate.least_squares import LeastSquares
from headway.models.classifier import Classifier
from headway.models.ensemble import first_member
from headway.tasks.brought import require_path
from headway.tasks.estimates import FIGURES, Estimates, Rival, Scale, outputs_of, squared_loss
from headway.tasks.forecast_panels import autocorrelation_panel, forecast_panel
from headway.tasks.held_out import loaded_from, once_per_folder, read_kept
from headway.tasks.recipe import Proposal, Recipe
from headway.tasks.series_rows import Kept, SeriesCorpus, collect_series, read_past
from headway.tasks.series_state import SeriesState, flat
from headway.tasks.sizing import default_rate, gentler, sized
from headway.tasks.task import Base, Judgement, Loss, Task, Validation
from headway.tasks.uses import Predicted

BATCH = 1024  # windows that are judged or predicted at once
FILE, RIVAL = "series.json", "least_squares.safetensors"
PARTS = ("validation", "test")
WHICH = "which series? `--table`: one time per row"


@dataclass(frozen=True)
class Data:
    table: str | None = None  # one time per row: .tsv .csv .jsonl .parquet, `-` for standard input
    target: str | None = None  # the column to be predicted
    time: str | None = None  # the column of times (default: the first of dates, else of growing numbers, else none)
    features: tuple[
        str, ...
    ] = ()  # columns whose past is read besides the target's, with commas (default: all numbers)
    categories: tuple[str, ...] = ()  # columns of words that are known in advance, such as the weekday
    lags: int = 5  # rows of the past that are read
    horizon: int = 1  # steps ahead that are predicted
    split: str | None = (
        None  # a column that is true for training and false for the test (default: the last fifth is the test)
    )
    coverage: float = 0.9  # the share of the intervals that should hold the true value

    def __post_init__(self) -> None:
        require(
            (self.lags >= 1, "`--lags` must be at least 1"),
            (self.horizon >= 1, "`--horizon` must be at least 1"),
            (0 < self.coverage < 1, f"`--coverage` must be between 0 and 1, not {self.coverage}"),
        )


class Forecasting(Task[Data, SeriesCorpus, LabelledBatch, Classifier]):
    """Forecasting: the last values of a series in, the next ones out, with intervals.

    loss: squared error of the standardised target; figures: R2 and RMSE of later times, beside the last value and AR by least squares.
    """

    aliases = ("time series forecasting", "time series prediction", "sequence regression")
    reads, gives, model = "series", "one vector", "series_encoder"
    unit, loss_unit = "examples", "per example"
    figures = FIGURES
    columns = ("time", "predicted", "true", "remark")
    uses = ("predict",)
    files = ("table",)
    tested = ("table",)

    averages = "numbers"

    def __init__(self, data: Data, state: SeriesState, rival: LeastSquares, folder: Path | None = None) -> None:
        self.data, self.state, self.rival, self.folder = data, state, rival, folder

    # -- data ----------------------------------------------------------------------------------------------------------

    @classmethod
    def collect(cls, data: Data, seed: int) -> SeriesCorpus:
        path, d = require_path(data.table, WHICH, "train forecasting"), data
        return collect_series(path, d.target, d.time, d.features, d.categories, d.split, d.lags, d.horizon)

    @classmethod
    def recognise(cls, paths: Sequence[str]) -> Data | None:
        """Dates beside one column of numbers; of several, which one is to be predicted cannot be seen."""
        kinds = kinds_of(glance(paths[0])) if len(paths) == 1 else {}
        target = next((name for name, kind in kinds.items() if kind == "numbers"), None)
        return Data(paths[0], target) if sorted(kinds.values()) == ["dates", "numbers"] else None

    @classmethod
    def options_for(cls, paths: Sequence[str]) -> tuple[str, ...]:
        kinds = kinds_of(glance(paths[0])) if len(paths) == 1 else {}
        numbers = [name for name, kind in kinds.items() if kind == "numbers"]
        return ("--table", paths[0], "--target", numbers[-1]) if numbers else ()

    @classmethod
    def propose(cls, recipe: Recipe[Data], corpus: SeriesCorpus, base: Base | None) -> Proposal[Data]:
        """Series are short and noisy, so networks are small, with much dropout, and take large steps; a linear model larger ones.

        Of grids on the training part of NYSE volumes the best by three later blocks of it: docs/findings.md.
        """
        t, count, chosen = recipe.training, len(corpus.parts["train"]), recipe.model or Choice(cls.model)
        straight, wide = chosen.name == "linear", chosen.name == "mlp"
        dropout = 0.0 if straight else 0.5 if wide else 0.3
        model = sized(chosen, width=128 if wide else 64, depth=1, inner=2, head_width=16, dropout=dropout)
        usual = default_rate(t.optimizer, 1e-2) * (2.0 if straight else 0.5 if wide else 1.0)
        return Proposal(recipe.data, model, t.batch or 64, t.rate or usual * (gentler(count) if base else 1.0))

    @classmethod
    def fit(cls, data: Data, corpus: SeriesCorpus, base: Base | None) -> "Forecasting":
        """Learn scales and words from the training rows, and AR by least squares from all rows before the test part."""
        before = base.task if base else None
        state = SeriesState.of(corpus.series, corpus.first, corpus.time)
        if isinstance(before, Forecasting) and before.state.channels == state.channels:
            state = before.state
        parts = [corpus.parts["train"], corpus.parts["validation"]]
        x = np.concatenate([flat(*state.encode(corpus.series, part, data.horizon)) for part in parts])
        return cls(data, state, LeastSquares.fit(x, np.concatenate([part.targets for part in parts])))

    def save(self, folder: Path) -> None:
        write_json(folder / FILE, asdict(self.state))
        self.rival.save(folder / RIVAL)

    @classmethod
    def load(cls, data: Data, folder: Path) -> "Forecasting":
        state = read_kept(SeriesState, folder / FILE)
        inputs = data.lags * len(state.channels) + state.width(data.horizon)
        return cls(data, state, LeastSquares.load(folder / RIVAL, inputs, data.horizon), folder)

    @property
    def sizes(self) -> dict[str, int]:
        channels, categories = len(self.state.channels), self.state.width(self.data.horizon)
        sizes = {"channels": channels, "categories": categories, "outputs": self.data.horizon}
        return sizes | {"features": self.data.lags * channels + categories}

    def describe(self) -> str:
        ahead = f" {self.data.horizon} steps ahead" if self.data.horizon > 1 else ""
        known = f" and {list_names(w.name for w in self.state.words)}" if self.state.words else ""
        return f"`{self.target}`{ahead} from {self.data.lags} lags of {list_names(self.state.channels)}{known}"

    @property
    def target(self) -> str:
        return self.state.channels[0]

    @property
    def scale(self) -> Scale:
        return self.state.scales[0]

    # -- training ------------------------------------------------------------------------------------------------------

    def prepare(self, corpus: SeriesCorpus, folder: Path, batch: int, seed: int) -> NumberBatches:
        (folder / "held_out").mkdir(exist_ok=True)
        for name in PARTS:
            part = corpus.parts[name]
            times = tuple(corpus.series.times[i] for i in part.rows)
            z = self.state.encode(corpus.series, part, self.data.horizon)[1]
            Kept(part, z, times).save(folder / "held_out" / f"{name}.safetensors")
        x, z = self.state.encode(corpus.series, corpus.parts["train"], self.data.horizon)
        return NumberBatches([x, z], self.scale.apply(corpus.parts["train"].targets), rows=batch, seed=seed)

    def loss(self, model: Classifier, batch: LabelledBatch) -> Loss:
        return squared_loss(model, batch)

    def validate(self, model: Classifier, folder: Path) -> Validation:
        kept = self._held_out(folder)["validation"]
        return self._estimates(model, kept).validation(lambda i: kept.times[i])

    def validation_batches(self, folder: Path) -> NumberBatches:
        return self._scaled_batches(self._held_out(folder)["validation"])

    def given_batches(self, data: Data, folder: Path, batch: int) -> NumberBatches:
        return self._scaled_batches(self._given(data)[0])

    @once_per_folder
    def _held_out(self, folder: Path) -> dict[str, Kept]:
        """The parts that the run keeps."""
        shape = (self.data.lags, len(self.state.channels), self.state.width(self.data.horizon), self.data.horizon)
        return {n: Kept.load(folder / "held_out" / f"{n}.safetensors", shape) for n in PARTS}

    def _scaled_batches(self, kept: Kept) -> NumberBatches:
        inputs = [self.state.scaled(kept.windows.series), kept.categories]
        return NumberBatches(inputs, self.scale.apply(kept.windows.targets), rows=BATCH)

    def _estimates(self, model: Classifier, kept: Kept) -> Estimates:
        found = self._outputs(model, self.state.scaled(kept.windows.series), kept.categories)
        block = max(self.data.lags, self.data.horizon, round(len(kept.windows) ** (1 / 3)))
        return Estimates(found, kept.windows.targets, self.scale, block)

    def _radius(self, model: Classifier, past: Kept) -> Float[np.ndarray, "h"]:
        """Half the length of the interval of each step ahead."""
        return conformal_radius(self._estimates(first_member(model), past).errors, self.data.coverage)

    def _outputs(self, model: Classifier, x: np.ndarray, z: np.ndarray) -> Float[np.ndarray, "n h"]:
        """Forecasts in the unit of the target."""
        return self.scale.undo(outputs_of(model, NumberBatches([x, z], np.zeros(len(x)), rows=BATCH)))

    # -- judging -------------------------------------------------------------------------------------------------------

    def judge(self, model: Classifier, folder: Path) -> Judgement:
        parts = self._held_out(folder)
        sizes = {name: len(part.windows) for name, part in parts.items()}
        return self._judgement(model, "test", parts["test"], parts["validation"], sizes)

    def _judgement(self, model: Classifier, name: str, part: Kept, past: Kept, sizes: dict[str, int]) -> Judgement:
        """Scores of a part; the intervals are made from the errors of another, earlier one (`past`)."""
        found = self._estimates(model, part)
        radius = self._radius(model, past)
        last = np.repeat(part.windows.series[:, -1, :1], self.data.horizon, 1)
        linear = self.rival.predict(flat(self.state.scaled(part.windows.series), part.categories))
        known = f" with {', '.join(w.name for w in self.state.words)}" if self.state.words else ""
        rivals = [Rival("the last value", last), Rival(f"AR({self.data.lags}){known} by least squares", linear)]
        panels = (
            forecast_panel(found, radius, part.times, self.target, self.data.coverage),
            autocorrelation_panel(found.errors[:, 0]),
        )
        notes = ["AR by least squares has learned from the validation part, too; the model was chosen by it"]
        return found.judgement(
            name,
            rivals,
            radius,
            self.data.coverage,
            lambda i: part.times[i],
            sizes,
            "windows",
            (*panels, *found.panels(self.target)),
            notes,
        )

    def evaluate(self, model: Classifier, data: Data) -> Judgement:
        """Scores of a table: one forecast for each row that has enough past in it."""
        kept, notes = self._given(data)
        found = self._judgement(model, "given", kept, self._validation(), {"given": len(kept.windows)})
        return replace(found, notes=(*found.notes, *notes))

    def _given(self, data: Data) -> tuple[Kept, tuple[str, ...]]:
        """Windows of a table, and what was left out of it or filled."""
        series, _, notes = self._read(data, "evaluate")
        part = series.windows(self.data.lags, self.data.horizon)
        if not len(part):
            raise self._short(data, len(series.values))
        z = self.state.encode(series, part, self.data.horizon)[1]
        return Kept(part, z, tuple(series.times[i] for i in part.rows)), notes

    def _read(self, data: Data, verb: str) -> tuple[Series, int, tuple[str, ...]]:
        path = require_path(data.table, WHICH, verb)
        return read_past(path, self.state.channels, [w.name for w in self.state.words], self.state.time)

    def _short(self, data: Data, rows: int) -> DataError:
        words = (
            f"{display_name(data.table or '')} has {count_noun(rows, 'row')}; a forecast is read from {self.data.lags}"
        )
        return DataError(words, "bring more of the past.")

    def _validation(self) -> Kept:
        """The validation part of the run that this task was loaded from: intervals are made from it."""
        return self._held_out(loaded_from(self.folder))["validation"]

    def example(self, model: Classifier) -> tuple[Callable[[], Tensor], int]:
        device, sizes = next(iter(model.parameters())).device, self.sizes
        x = torch.zeros(1, self.data.lags, sizes["channels"], device=device)
        z = torch.zeros(1, sizes["categories"], device=device)
        return lambda: model.logits(model(x, z)), 1

    def commands(self, folder: str, judgement: Judgement) -> list[str]:
        return [f"predict {folder} --table recent.csv --out forecast.html", f"evaluate {folder} --table later.csv"]

    # -- using ---------------------------------------------------------------------------------------------------------

    def predict(self, model: Classifier, data: Data) -> Predicted:
        """A forecast with its interval for each row that has enough past, and for the first row that is still to come."""
        series, future, notes = self._read(data, "predict")
        count, lags, horizon = len(series.values), self.data.lags, self.data.horizon
        if count < lags:
            raise self._short(data, count)
        rows = np.arange(lags, count + 1)
        part = Windows(series.values[rows[:, None] + np.arange(-lags, 0)], np.zeros((len(rows), horizon)), rows)
        x, z = self.state.encode(series, part, horizon)
        found = self._outputs(model, x, z)
        radius = self._radius(model, self._validation())
        times = [*series.times, "next"][lags : count + 1]
        pairs = zip(series.values[lags:, 0], series.given[lags:], strict=True)
        true = [*(f"{value:.6g}" if given else "" for value, given in pairs), ""]
        share, step = f"{self.data.coverage:.0%}", [f" +{h}" if horizon > 1 else "" for h in range(1, horizon + 1)]
        names = [name for s in step for name in (f"forecast{s}", f"{share} from{s}", f"{share} to{s}")]
        cells = np.stack([found, found - radius, found + radius], 2).reshape(len(rows), -1)
        table = tuple((t, y, *(f"{v:.6g}" for v in row)) for t, y, row in zip(times, true, cells, strict=True))
        past = series.windows(lags, horizon)
        known, of = Estimates(found[past.rows - lags], past.targets, self.scale), [series.times[i] for i in past.rows]
        panels = (forecast_panel(known, radius, of, self.target, self.data.coverage),) if len(past) else ()
        warnings = (*notes, *self.state.warnings(series, horizon, future))
        return Predicted(("time", self.target, *names), table, panels, warnings)
