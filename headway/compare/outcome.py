"""What one run of a comparison came to (`outcome.json` in the run): scores, speed, cost, curves, samples."""

import itertools
import time
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Literal

from headway.core.config import from_json, to_json
from headway.core.errors import ConfigError, RunError
from headway.core.files import read_json, write_json
from headway.inspect.cost import run_cost
from headway.runs.run import Run
from headway.tasks.task import Figure, Judgement, Score
from headway.tasks.uses import Generates
from headway.training.metrics import Record

FILE = "outcome.json"
WRITTEN = 200  # pieces of text that the speed of generation is measured by
TEXTS = 8  # at most; a text may end early

Point = tuple[float, float, float]  # step, minutes, value


@dataclass(frozen=True)
class Outcome:
    """What one run came to."""

    model: str
    seed: int
    scores: list[Score]  # the first one ranks
    better: Literal["higher", "lower"]  # which direction of the first score is better
    parameters: int
    steps: int
    minutes: float  # of training
    unit: str  # what the loss is a mean over: tokens, examples
    training_speed: float  # units per second
    flops: float  # of a training step, per unit
    memory: float | None  # the most that the process held while it trained, in MiB
    generation_speed: float | None  # pieces of text per second, one text at a time; None: it does not generate
    curves: dict[str, list[Point]]  # of the validations, and the loss in training, by name
    units: dict[str, str]  # of the curves
    columns: list[str]  # of the samples
    samples: list[list[str]] = field(default_factory=list)


def outcome(model: str, run: Run, judgement: Judgement, memory: int | None) -> Outcome:
    """Measure a finished run that was judged already. `memory` in bytes."""
    state, records, figures = run.state(), run.metrics, run.task.figures
    curves, units = learning_curves(records, figures, run.task.loss_unit)
    return Outcome(
        model=model,
        seed=run.plan.seed,
        scores=list(judgement.scores),
        better=direction(judgement.scores[0], figures),
        parameters=run.parameters,
        steps=state.step if state else 0,
        minutes=max((r.seconds for r in records), default=0.0) / 60,
        unit=run.task.unit,
        training_speed=training_speed(records),
        flops=run_cost(run).training,
        memory=None if memory is None else memory / 2**20,
        generation_speed=generation_speed(run, judgement),
        curves=curves,
        units=units,
        columns=list(run.task.columns),
        samples=[list(row) for row in judgement.samples],
    )


def direction(score: Score, figures: tuple[Figure, ...]) -> Literal["higher", "lower"]:
    """Which direction of a score is better: that of the figure of this name or unit, else that of the first figure."""
    same = [f for f in figures if score.name in (f.name, f.unit)]
    return (same or list(figures))[0].better


def learning_curves(
    records: list[Record], figures: tuple[Figure, ...], loss_unit: str
) -> tuple[dict[str, list[Point]], dict[str, str]]:
    """The first figure of the validations, their loss if they have one, and the loss in training; and their units."""
    curves: dict[str, list[Point]] = {}
    units: dict[str, str] = {}
    for number, figure in enumerate(figures):
        if number == 0 or figure.name == "loss":
            name = f"{figure.name} in validation"
            found = [(r, r.validation.figures.get(figure.name)) for r in records if r.validation]
            curves[name] = [(float(r.step), r.seconds / 60, value) for r, value in found if value is not None]
            units[name] = figure.unit
    curves["loss in training"] = [(float(r.step), r.seconds / 60, r.loss) for r in records if r.loss is not None]
    units["loss in training"] = loss_unit
    return {name: points for name, points in curves.items() if points}, units


def training_speed(records: list[Record]) -> float:
    """Units per second. A validation has a record of its own, written at its end, so the span before it is left out."""
    units = seconds = 0.0
    for before, now in itertools.pairwise([Record(0, 0.0), *records]):
        if now.count is not None:
            units += now.count * (now.step - before.step)
            seconds += now.seconds - before.seconds
    return units / seconds if seconds else 0.0


def generation_speed(run: Run, judgement: Judgement) -> float | None:
    """Pieces of text per second: those that were really written, also if a text ended early."""
    if "generate" not in run.task.uses or not isinstance(run.task, Generates):
        return None
    prompt = judgement.samples[0][0] if judgement.samples else ""
    written, began = 0, time.monotonic()
    for seed in range(1, TEXTS + 1):
        written += sum(1 for _ in islice(run.task.generate(run.model, prompt, seed=seed), WRITTEN - written))
        if written >= WRITTEN:
            break
    return written / (time.monotonic() - began)


def write_outcome(folder: Path, found: Outcome) -> None:
    write_json(folder / FILE, to_json(found))


def read_outcome(folder: Path) -> Outcome:
    path = folder / FILE
    try:
        return from_json(Outcome, read_json(path), str(path), "delete the file; the run is judged again.")
    except ConfigError as problem:
        raise RunError(problem.message, problem.hint) from problem
