import re
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from headway.core.config import Choice, require
from headway.core.errors import DataError, UsageError
from headway.core.files import write_json
from headway.data.messages import count_noun
from headway.data.point_batches import IGNORED, DrawnBatches, PointBatch, Scale, SetBatches
from headway.data.point_problems import PROBLEMS
from headway.data.point_sets import PointSets
from headway.decode.pointing import Permutation, Rule, Subset
from headway.models.pointing import Pointing
from headway.tasks.brought import brought_parts, require_path
from headway.tasks.held_out import judged, once_per_folder, read_kept
from headway.tasks.panels import Mark, Panel, Plot
from headway.tasks.point_answers import FIGURES, PointAnswers, dots, numbered, way
from headway.tasks.point_corpus import (
    PointCorpus,
    collect_drawn,
    collect_table,
    draw_sets,
    guess_columns,
    read_given,
    read_held_out,
    write_held_out,
)
from headway.tasks.recipe import Proposal, Recipe
from headway.tasks.sizing import sized, usual_rate
from headway.tasks.task import Base, Judgement, Loss, Task, Validation
from headway.tasks.uses import Predicted

FILE = "points.json"
BEYOND = 5  # sizes beyond those of training that a judgement tries
TRIED = 200  # sets of each size there
DRAWN = 6  # predictions that are drawn
BATCH = 64  # sets that are measured at once
WHICH = "which points? `--table`: one point per row"


@dataclass(frozen=True)
class Data:
    kind: Literal["convex_hull", "sort", "tsp"] | None = (
        None  # drawn sets: corners of the hull; ascending; shortest tour
    )
    count: str = "5..10"  # points of a drawn set: a number, or a range
    table: str | None = None  # or sets of your own, one point per row: .tsv .csv .jsonl .parquet
    set: str | None = None  # the column that says which set a point belongs to (default: `set`)
    x: str | None = None  # the column of the first coordinate (default: `x`)
    y: str | None = None  # the column of the second coordinate (default: `y` if there is one)
    order: str | None = (
        None  # the column of the places in the sequence: 1, 2, 3, empty if not chosen (default: `order`)
    )
    validation_table: str | None = None  # held-out sets to choose the best weights by; without them a part is set apart
    test_table: str | None = None  # held-out sets to judge the end result by; without them a part is set apart
    beam: int = 1  # how many sequences are followed at once when points are chosen; 1: greedy

    def __post_init__(self) -> None:
        sizes = self.sizes
        most = PROBLEMS[self.kind].most if self.kind else 0
        require(
            (self.kind is None or self.table is None, "`--kind` and `--table` exclude each other"),
            (
                bool(sizes) and sizes[0] >= 3,
                f"`--count {self.count}` should be a number such as 5 or a range such as 5..10",
            ),
            (
                not most or not sizes or sizes[-1] <= most,
                f"`--count {self.count}`: exact answers of `{self.kind}` are found up to {most} points",
            ),
            (self.beam >= 1, f"`--beam` must be at least 1, not {self.beam}"),
        )

    @property
    def sizes(self) -> range:
        """The sizes of drawn sets; empty if `count` is no range."""
        found = re.fullmatch(r"(\d+)(?:\.\.(\d+))?", self.count.strip())
        return range(int(found[1]), int(found[2] or found[1]) + 1) if found else range(0)


@dataclass(frozen=True)
class Seen:
    """What training has seen: whether every point is chosen, the points of the largest set, and the scale of the points."""

    every: bool
    largest: int
    scale: Scale


class Points(Task[Data, PointCorpus, PointBatch, Pointing]):
    """Pointing: a set of points in, a sequence of some or all of them out; a hull, an order, a tour.

    loss: cross-entropy of each pointer; figures: exact sequences, single pointers and loss of held-out sets.
    """

    aliases = ("convex hull", "pointing at inputs", "sorting by pointing", "travelling salesman problem")
    reads, gives, model = "points", "pointers", "pointer_network"
    unit, loss_unit = "pointers", "nats per pointer"
    figures = FIGURES
    columns = ("set", "chosen", "expected")
    uses = ("predict",)
    files = ("table", "validation_table", "test_table")
    tested = ("table", "set", "x", "y", "order", "beam")

    def __init__(self, data: Data, seen: Seen) -> None:
        self.data, self.seen = data, seen

    # -- data ----------------------------------------------------------------------------------------------------------

    @classmethod
    def collect(cls, data: Data, seed: int) -> PointCorpus:
        if data.kind is not None:
            return collect_drawn(data.kind, data.sizes, seed)
        if data.table is None:
            hint = "`--kind convex_hull` draws some; `headway train points --help` explains both."
            raise UsageError(WHICH, hint)
        brought = brought_parts(data.validation_table, data.test_table)
        return collect_table(data.table, (data.set, data.x, data.y, data.order), brought, seed)

    @classmethod
    def recognise(cls, paths: Sequence[str]) -> Data | None:
        return Data(table=paths[0]) if len(paths) == 1 and guess_columns(paths[0]) else None

    @classmethod
    def propose(cls, recipe: Recipe[Data], corpus: PointCorpus, base: Base | None) -> Proposal[Data]:
        """Drawn sets never come again, so there is nothing to learn by heart; few sets of a table want dropout."""
        t, few = recipe.training, corpus.train is not None and len(corpus.train) < 5000
        chosen = recipe.model or Choice(cls.model)
        model = sized(chosen, width=128, depth=2, inner=2, head_width=32, dropout=0.1 if few else 0.0)
        return Proposal(recipe.data, model, t.batch or (250 if few else 1000), usual_rate(t, base, len(corpus.sets)))

    @classmethod
    def fit(cls, data: Data, corpus: PointCorpus, base: Base | None) -> "Points":
        """Measure the points, or take the measure over from the run that this one begins with."""
        sets = corpus.sets
        before = base.task.seen.scale if base and isinstance(base.task, Points) else None
        known = before is not None and len(before.shift) == sets.coordinates
        scale = before if known and before is not None else Scale.of(sets.points)
        return cls(data, Seen(sets.every, max(len(points) for points in sets.points), scale))

    def save(self, folder: Path) -> None:
        write_json(folder / FILE, asdict(self.seen))

    @classmethod
    def load(cls, data: Data, folder: Path) -> "Points":
        return cls(data, read_kept(Seen, folder / FILE))

    @property
    def sizes(self) -> dict[str, int]:
        return {"coordinates": len(self.seen.scale.shift)}

    @property
    def rule(self) -> Rule:
        return Permutation() if self.seen.every else Subset()

    def describe(self) -> str:
        chosen = "every point is chosen once" if self.seen.every else "some points are chosen"
        return f"sets of up to {self.seen.largest} points, {chosen}"

    # -- training ------------------------------------------------------------------------------------------------------

    def prepare(self, corpus: PointCorpus, folder: Path, batch: int, seed: int) -> DrawnBatches | SetBatches:
        for part in corpus.held_out.values():
            self._check(part)
        write_held_out(corpus.held_out, folder)
        pointers = np.mean([len(order) + 1 for order in corpus.sets.orders])  # of a set, with the end
        rows = max(1, round(batch / pointers))
        if self.data.kind is not None:
            return DrawnBatches(self.data.kind, self.data.sizes, rows=rows, seed=seed, scale=self.seen.scale)
        return SetBatches(corpus.sets, rows=rows, seed=seed, scale=self.seen.scale)

    def _check(self, sets: PointSets) -> None:
        """Sets to be judged are of the kind of those in training."""
        known = len(self.seen.scale.shift)
        if sets.coordinates != known:
            words = f"points of `{sets.origin}` have {sets.coordinates} coordinates, those of training {known}"
            raise DataError(words, "name the columns with `--x` and `--y`.")
        if self.seen.every and not sets.every:
            words = f"`{sets.origin}` leaves points out, and training never did"
            raise DataError(words, "number all points of every set, or train with such sets.")

    def loss(self, model: Pointing, batch: PointBatch) -> Loss:
        logs = model(batch.points, batch.keep, batch.chosen).float()
        total = F.nll_loss(logs.flatten(0, 1), batch.wanted.flatten(), ignore_index=IGNORED, reduction="sum")
        return Loss(total, total.detach(), int((batch.wanted != IGNORED).sum()))

    def validate(self, model: Pointing, folder: Path) -> Validation:
        return self._answers(model, self._held_out(folder)["validation"], 1).validation()

    def _answers(self, model: Pointing, sets: PointSets, beam: int) -> PointAnswers:
        return PointAnswers.of(model, sets, self.seen.scale, self.rule, beam)

    def validation_batches(self, folder: Path) -> SetBatches:
        return SetBatches(self._held_out(folder)["validation"], rows=BATCH, seed=0, scale=self.seen.scale)

    def given_batches(self, data: Data, folder: Path, batch: int) -> SetBatches:
        return SetBatches(self._given(data), rows=BATCH, seed=0, scale=self.seen.scale)

    @once_per_folder
    def _held_out(self, folder: Path) -> dict[str, PointSets]:
        """The parts that the run keeps."""
        return read_held_out(folder)

    # -- judging -------------------------------------------------------------------------------------------------------

    def judge(self, model: Pointing, folder: Path) -> Judgement:
        """Scores of the test part, or of the validation part if the data was too small to set a test part apart."""
        parts = self._held_out(folder)
        name = judged(parts)
        found = self._answers(model, parts[name], self.data.beam)
        sizes = {n: len(part) for n, part in parts.items()}
        return found.judgement(name, self.data.kind, sizes, self._against_size(model, found))

    def _against_size(self, model: Pointing, found: PointAnswers) -> list[Panel]:
        """Exact sequences by the number of points; of drawn sets also beyond the sizes of training."""
        counts = np.array([len(points) for points in found.sets.points])
        known = {int(n): float(found.right[counts == n].mean()) for n in np.unique(counts)}
        marks = [Mark("line", list(known), list(known.values()), "sizes of training")]
        kind, largest = self.data.kind, max(known)
        if kind is not None:
            tried = range(largest, min(largest + BEYOND, PROBLEMS[kind].most) + 1)
            shares = []
            for n in tried:
                sets = draw_sets(kind, range(n, n + 1), TRIED, 1, f"size {n}")
                shares.append(float(self._answers(model, sets, self.data.beam).right.mean()))
            marks.append(Mark("line", list(tried), shares, "larger"))
        caption = "Longer sequences have more places to go wrong; beyond the sizes of training the model extrapolates."
        return [Plot("Exact sequences by the number of points", tuple(marks), "points in a set", "share", caption)]

    def evaluate(self, model: Pointing, data: Data) -> Judgement:
        sets = self._given(data)
        found = self._answers(model, sets, data.beam).judgement("given", self.data.kind, {"given": len(sets)}, ())
        return replace(found, notes=(*found.notes, *sets.left_out))

    def _given(self, data: Data) -> PointSets:
        sets = read_given(require_path(data.table, WHICH, "evaluate"), self._columns(data), ordered=True)
        self._check(sets)
        return sets

    def _columns(self, data: Data) -> tuple[str | None, ...]:
        """The columns that are named, or those of training."""
        mine = self.data
        return data.set or mine.set, data.x or mine.x, data.y or mine.y, data.order or mine.order

    def example(self, model: Pointing) -> tuple[Callable[[], Tensor], int]:
        n, device = self.seen.largest, next(iter(model.parameters())).device
        points = torch.zeros(1, n, len(self.seen.scale.shift), device=device)
        keep, chosen = torch.ones(1, n, dtype=torch.bool, device=device), torch.zeros(1, n + 1, dtype=torch.long)
        return lambda: model(points, keep, chosen.to(device)), n + 1

    def commands(self, folder: str, judgement: Judgement) -> list[str]:
        return [f"predict {folder} --table points.csv", f"evaluate {folder} --table points.csv"]

    # -- using ---------------------------------------------------------------------------------------------------------

    def predict(self, model: Pointing, data: Data) -> Predicted:
        """For each set of a table the points that are chosen, numbered as they stand in the table among those that can be read."""
        sets = read_given(require_path(data.table, WHICH, "predict"), self._columns(data), ordered=False)
        found = self._answers(model, sets, data.beam)
        rows = tuple((name, numbered(chosen)) for name, chosen in zip(sets.names, found.chosen, strict=True))
        large = sum(len(points) > self.seen.largest for points in sets.points)
        words = f"{count_noun(large, 'set')} with more than {self.seen.largest} points, the most that training has seen"
        panels = []
        for i in range(min(DRAWN, len(sets)) if sets.coordinates == 2 else 0):
            marks = (
                way(sets.points[i], found.chosen[i], "chosen", closed=self.data.kind is not None),
                dots(sets.points[i]),
            )
            panels.append(Plot(f"Set {sets.names[i]}", marks, "x", "y", equal=True))
        return Predicted(("set", "order"), rows, tuple(panels), (*sets.left_out, *(words,) * bool(large)))
