"""The plan: a recipe in which every choice is made, which data and machine it was made for, and how the choices are made.

A task proposes what depends on its data (`Task.propose`); what follows from the budget is settled here, once: the schedule is a function of
the number of steps, so a budget in minutes is turned into steps by timing a few of them before training begins.
"""

import dataclasses
import statistics
from dataclasses import dataclass
from typing import Generic, Literal, NamedTuple, TypeVar

from headway.core import registry
from headway.core.config import Choice, from_json, to_json
from headway.core.errors import UsageError
from headway.data.messages import count_noun
from headway.tasks.recipe import Json, Proposal, Recipe, Training
from headway.training.schedules import rate_factor

D = TypeVar("D")
BUDGETS = ("minutes", "steps", "epochs")


@dataclass(frozen=True)
class Settings:
    """`Training` with nothing left open."""

    steps: int
    batch: int
    rate: float
    warmup: int = 1
    average: float = 0.0
    validate: int = 1
    accumulate: int = 1
    optimizer: str = "muon"
    schedule: str = "cosine"
    decay: float = 0.01
    l1: float = 0.0
    l2: float = 0.0
    beta: float = 0.0
    initialisation: str | None = None
    clip: float = 1.0
    patience: int | None = None
    minutes: float | None = None  # the budget that the steps were planned for, if it was one of time
    seconds: float | None = None  # what is left of it for steps and validations
    epochs: float | None = None  # or one of passes through the data


@dataclass(frozen=True)
class Plan(Generic[D]):
    """plan.json: every choice made, and which data and machine it was made for."""

    task: str
    data: D
    model: Choice
    training: Settings
    seed: int
    start: str | None
    device: str
    precision: Literal["float32", "bfloat16"]
    threads: int  # another number of threads adds in another order, and the last bits differ
    fingerprint: dict[str, str]
    ensemble: int = 1  # how many members it has

    def to_json(self) -> Json:
        return {f.name: to_json(getattr(self, f.name)) for f in dataclasses.fields(self)}


class Pace(NamedTuple):
    """How fast training is, measured before it begins."""

    step: float  # seconds, with a step's share of the validations
    left: float  # seconds for all steps and validations


@dataclass(frozen=True)
class _Shell:
    """A plan without its data, whose type only the task knows."""

    task: str
    model: Choice
    training: Settings
    seed: int
    device: str
    precision: Literal["float32", "bfloat16"]
    threads: int
    fingerprint: dict[str, str]
    start: str | None = None
    ensemble: int = 1


def read_plan(value: object, data: type[D], where: str) -> Plan[D]:
    shell = from_json(
        _Shell, {k: v for k, v in value.items() if k != "data"} if isinstance(value, dict) else value, where
    )
    brought = from_json(data, value.get("data") if isinstance(value, dict) else None, where)
    return Plan(data=brought, **{f.name: getattr(shell, f.name) for f in dataclasses.fields(_Shell)})


def budget_of(training: Training) -> Training:
    """The training with exactly one budget: ten minutes if none was given."""
    given = [name for name in BUDGETS if getattr(training, name) is not None]
    if len(given) > 1:
        raise UsageError(f"{' and '.join(f'`--{name}`' for name in given)} are two budgets", "choose one of them.")
    return training if given else dataclasses.replace(training, minutes=10.0)


def settle(recipe: Recipe[D], proposal: Proposal[D], per_epoch: int, pace: Pace | None) -> Settings:
    """The settings of training. The pace, with steps of `training.accumulate` batches, was measured if the budget is in minutes."""
    t = recipe.training
    total, accumulate = t.steps or 1, t.accumulate or 1
    if registry.get("optimizers", t.optimizer).facts.get("full_batch"):
        accumulate, pace = per_epoch, pace and pace._replace(step=pace.step * per_epoch)
    if t.epochs is not None:
        total = max(1, round(t.epochs * per_epoch / accumulate))
    elif pace is not None:
        total = max(1, int(pace.left / pace.step))
    gentle = recipe.start is not None  # weights that know something already: a longer warm-up
    return Settings(
        steps=total,
        batch=proposal.batch,
        rate=proposal.rate,
        warmup=t.warmup or max(1, min(1000, total // (5 if gentle else 10))),
        average=round(1 - 1 / max(2.0, min(1000.0, total / 20)), 6) if t.average is None else t.average,
        validate=t.validate or min(2000, -(-total // validations(t.minutes))),
        accumulate=accumulate,
        optimizer=t.optimizer,
        schedule=t.schedule or proposal.schedule,
        decay=proposal.decay if t.decay is None else t.decay,
        l1=t.l1,
        l2=t.l2,
        beta=t.beta,
        initialisation=t.initialisation,
        clip=t.clip,
        patience=t.patience,
        minutes=t.minutes,
        seconds=pace and round(pace.left, 1),
        epochs=t.epochs,
    )


def validations(minutes: float | None) -> int:
    """How often a run is validated, unless its steps are very many: less often if it is short."""
    return 12 if minutes is None or minutes >= 5 else 6 if minutes >= 1.5 else 4


def pace(times: list[float], minutes: float, spent: float, validation: float) -> Pace:
    """What training may be reckoned with so that reading (`spent` seconds), all validations and judging the result fit into the budget.

    The median of the timed steps: the mean would plan for every delay of the first seconds.
    """
    budget = 60 * minutes
    left = max(0.5 * budget, budget - spent - validation)
    steps = max(0.5 * budget, left - validations(minutes) * validation)
    return Pace(statistics.median(times[1:]) * left / steps, left)


def planned_again(s: Settings, step: int, total: int, passed: float) -> int:
    """The steps of a budget in minutes, when `step` of them took `passed` seconds: fewer or more, if the machine is slower or faster.

    Seconds were too short to measure it exactly, and an untrained model, which cannot end its sentences, takes long to validate. More steps
    only as long as they hardly raise the rate.
    """
    if s.seconds is None or step == total:
        return total
    possible = max(step + 1, step + int((s.seconds - passed) / (passed / step)))
    before, after = (rate_factor(s.schedule, step, steps, s.warmup) for steps in (total, possible))
    slower, faster = possible < 0.93 * total, possible > 1.03 * total and after < 1.05 * before
    return possible if slower or faster else total


def describe(plan: Plan[D], state: str, parameters: int, per_epoch: int, unit: str) -> str:
    """The plan in two sentences."""
    t = plan.training
    budget = f"{t.minutes:g} minutes = " if t.minutes else ""
    several = f"{t.accumulate} x " if t.accumulate > 1 else ""
    where = f" on {plan.device}" if plan.device != "cpu" else ""
    half = f" in {plan.precision}" if plan.precision != "float32" else ""
    size = f"{parameters / 1e6:.2f} million" if parameters >= 100_000 else f"{parameters:,}"
    epochs, warmup, validate = (
        t.steps * t.accumulate / per_epoch,
        count_noun(t.warmup, "step"),
        count_noun(t.validate, "step"),
    )
    return (
        f"model: {plan.model.describe()}, {size} parameters, {state}\n"
        f"plan: {budget}{count_noun(t.steps, 'step')} of {several}{t.batch:,} {unit} = {epochs:.1f} epochs{where}{half}, "
        f"{t.optimizer} at {t.rate:g} ({t.schedule}, warm-up of {warmup}), validation every {validate}"
    )
