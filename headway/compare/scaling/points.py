"""What a scaling law is fitted to: of every run its parameters, what it was trained on, the FLOPs of that, and its held-out loss.

    C = 3 F D          F: FLOPs of a forward pass for each token (`inspect/cost.py`), D: tokens seen; backwards costs twice as much

Runs are comparable if nothing differs but the size of the model and the length of training. All else is refused with a sentence.
"""

import dataclasses
import itertools
import math
from collections.abc import Iterable, Sequence
from pathlib import Path

from headway.core.config import difference, to_json
from headway.core.errors import RunError, UsageError, raise_all
from headway.data.messages import list_names
from headway.inspect.cost import run_cost
from headway.layers.roles import roles
from headway.runs.run import Run
from headway.tasks.folder import MEMBERS, require_run
from headway.training.checkpoint import finished

FEWEST = 4  # runs
SAME = 1.05  # numbers that differ by less than this ratio count as one size, or one length
MAKE = "`headway lab sweep` makes such runs."


@dataclasses.dataclass(frozen=True)
class Point:
    """One run."""

    folder: str
    model: str
    parameters: int  # all that are learned, also the tables of embeddings
    embeddings: int  # those of the tables
    units: int  # tokens or examples that it was trained on, repetitions counted
    flops: float  # of the whole training
    loss: float  # on held-out data
    kept: float  # the share of training after which the weights were best


@dataclasses.dataclass(frozen=True)
class Points:
    """Comparable runs, the one with the most FLOPs last."""

    each: tuple[Point, ...]
    task: str
    unit: str  # what `units` counts
    loss: str  # what the loss is


def find_runs(names: Iterable[str]) -> list[Path]:
    """The runs of these names; a directory that is no run stands for the runs in it."""
    found: list[Path] = []
    for name in names:
        folder = Path(name)
        inside = sorted(path.parent for path in folder.glob("*/recipe.json"))
        if (folder / "recipe.json").exists() or not inside:
            require_run(folder)
            inside = [folder]
        found += inside
    return list(dict.fromkeys(found))


def read_points(folders: Sequence[Path]) -> Points:
    """Open every run, refuse what cannot be compared, and measure."""
    unfinished = [
        f"`{folder}`" for folder in folders if finished(folder) is None or not (folder / "scores.json").exists()
    ]
    raise_all(
        unfinished,
        RunError,
        "these runs are not finished",
        "`headway train --resume RUN` finishes one, or leave them out.",
    )
    if len(folders) < FEWEST:
        raise UsageError(f"{len(folders)} runs are too few for a scaling law, which needs at least {FEWEST}", MAKE)
    several = [f"`{folder}`" for folder in folders if (folder / MEMBERS).is_dir()]
    raise_all(several, UsageError, "an ensemble is not one model of one size", "name the runs in its `members`.")
    runs = [Run(folder, "cpu") for folder in folders]
    first = runs[0]
    kinds: dict[str, Path] = {}
    for run in runs:
        refuse_unlike(first, run)
        kinds.setdefault(loss_of(run)[1], run.folder)
    if len(kinds) > 1:
        found = "; ".join(f"`{folder}`: {kind}" for kind, folder in kinds.items())
        raise UsageError(
            f"the losses of the runs are not of one kind: {found}", "bring runs whose held-out part is the same."
        )
    points = sorted((measure(run) for run in runs), key=lambda point: point.flops)
    if count_distinct(p.parameters for p in points) < 2:
        raise UsageError(
            f"all runs have one size, {points[0].parameters:,} parameters", f"a law needs different sizes; {MAKE}"
        )
    return Points(tuple(points), first.plan.task, first.task.unit, next(iter(kinds)))


def refuse_unlike(first: Run, run: Run) -> None:
    """Raise if a run differs from the first in more than size and length."""
    pair = f"`{first.folder}` and `{run.folder}`"
    if run.plan.task != first.plan.task:
        raise UsageError(
            f"{pair} are of different tasks: {first.plan.task}, {run.plan.task}", "bring runs of one task."
        )
    parts = [name for name, mark in first.plan.fingerprint.items() if run.plan.fingerprint.get(name) != mark]
    if parts:
        raise UsageError(
            f"{pair} were trained on different data: {list_names(parts)} differs", "bring runs on the same data."
        )
    before, now = ({k: v for k, v in to_json(one.plan.data).items() if k not in one.task.files} for one in (first, run))
    hint = "then their losses are not in one unit; bring runs with the same options."
    raise_all(difference(before, now), UsageError, f"{pair} read the data in different ways", hint)


def measure(run: Run) -> Point:
    state = run.state()
    if state is None:
        raise RunError(f"`{run.folder}` has no checkpoint, so its length is unknown", "leave the run out.")
    counts = [record.count for record in run.metrics if record.count is not None]
    each = sum(counts) / len(counts) if counts else run.plan.training.batch * run.plan.training.accumulate
    units = round(state.step * each)
    loss = loss_of(run)[0]
    if not (math.isfinite(loss) and loss > 0):
        raise UsageError(f"the loss of `{run.folder}` is {loss:g}, which has no logarithm", "leave the run out.")
    kinds = roles(run.model)
    tables = sum(p.numel() for name, p in run.model.named_parameters() if kinds[name] == "table")
    kept = state.best_step / state.step if state.validations else 1.0
    return Point(
        str(run.folder), run.plan.model.name, run.parameters, tables, units, run_cost(run).training * units, loss, kept
    )


def loss_of(run: Run) -> tuple[float, str]:
    """The held-out loss and what it is: a score in the unit of the loss, else the loss of the best validation."""
    falling = sorted((f for f in run.task.figures if f.better == "lower"), key=lambda f: f.name != "loss")
    for figure in falling:
        for score in run.scores:
            if score.name in (figure.name, figure.unit):
                return score.value, f"{score.name}, {score.part}" + (
                    f" of {score.signature}" if score.signature else ""
                )
        validated = [
            record.validation
            for record in run.metrics
            if record.validation and figure.name in record.validation.figures
        ]
        if validated:
            return max(validated, key=lambda v: v.score).figures[figure.name], f"{figure.name}, validation"
    raise UsageError(f"`{run.folder}` has no held-out loss", "bring runs of a task that reports one.")


def count_distinct(numbers: Iterable[float]) -> int:
    """How many of the numbers differ by more than a few percent."""
    return 1 + sum(b > SAME * a for a, b in itertools.pairwise(sorted(numbers)))
