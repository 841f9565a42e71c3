"""A recipe: a plain value that binds task, data, model and training. Written beside the weights; enough to repeat the run.

`None` means "choose for me": the task proposes what depends on the data, `training/plan.py` settles the rest, and the result is a `Plan`.
"""

from dataclasses import dataclass, field, fields
from math import inf
from typing import Generic, Literal, TypeVar

from headway.core import registry
from headway.core.config import Choice, from_json, require, to_json
from headway.core.errors import ConfigError, UnknownName
from headway.core.folds import Split

D = TypeVar("D")  # the data of a task: what a person brings

Json = dict[str, object]
Precision = Literal["float32", "bfloat16", "auto"]  # what can be asked for; `auto` is the faster one on this machine
NAMED = {
    "optimizer": "optimizers",
    "schedule": "schedules",
    "initialisation": "initialisations",
}  # options that name an entry


@dataclass(frozen=True)
class Training:
    """How to train. The same fields for every task; `headway train TASK --help` lists them as `--training.<field>`."""

    minutes: float | None = None  # the budget: one of minutes, steps and epochs (default 10 minutes)
    steps: int | None = None  # or this many steps; early stopping may end sooner (see patience)
    epochs: float | None = None  # or this often through the data
    batch: int | None = None  # the size of a batch, in units of the task (tokens, examples)
    accumulate: int | None = None  # batches whose gradients make one step (default 1; gradient_descent: all)
    optimizer: str = "muon"  # muon, adamw, adam, rmsprop, adagrad, nesterov, heavy_ball, sgd or gradient_descent
    rate: float | None = None  # the highest learning rate
    schedule: str | None = None  # of the rate: cosine, trapezoid, linear, step, exponential, inverse_root, constant (default: by task)
    warmup: int | None = None  # steps until the highest rate is reached
    decay: float | None = None  # weight decay of matrices and tables (default 0.01; by task)
    l1: float = 0.0  # the strength of an L1 penalty on matrices and tables
    l2: float = 0.0  # the strength of an L2 penalty: part of the gradient, unlike decay with muon and adamw
    beta: float = 0.0  # of beta-lasso: after each step weights below beta times l1 become zero
    initialisation: str | None = (
        None  # of all matrices: he_normal, glorot_uniform, orthogonal ... (default: the model's own)
    )
    clip: float = 1.0  # the largest norm of the gradient
    average: float | None = None  # share of the running average of the weights that stays at each step
    validate: int | None = None  # steps between validations
    patience: int | None = 10  # validations without a better score before training stops early; none: never

    def __post_init__(self) -> None:
        wrong = [f.name for f in fields(self) if isinstance(getattr(self, f.name), str) and f.name not in NAMED]
        require(*((False, f"`training.{name}` must be a number, not {getattr(self, name)!r}") for name in wrong))
        counts = {
            name: getattr(self, name) for name in ("steps", "batch", "accumulate", "warmup", "validate", "patience")
        }
        spans = {name: getattr(self, name) for name in ("minutes", "epochs", "clip", "rate")}
        require(
            *((v is None or v >= 1, f"`training.{n}` must be at least 1, not {v}") for n, v in counts.items()),
            *(
                (v is None or 0 < v < inf, f"`training.{n}` must be a number above zero, not {v}")
                for n, v in spans.items()
            ),
            (
                self.average is None or 0 <= self.average < 1,
                f"`training.average` must be at least 0 and less than 1, not {self.average}",
            ),
            *(
                ((getattr(self, n) or 0) >= 0, f"`training.{n}` must not be negative, not {getattr(self, n)}")
                for n in ("decay", "l1", "l2", "beta")
            ),
            (
                not self.beta or self.l1 > 0,
                "`training.beta` must be 0 without `training.l1`, which it is multiplied by",
            ),
        )
        for name, room in NAMED.items():
            if (value := getattr(self, name)) is not None:
                object.__setattr__(self, name, _registered(name, room, value))
        full = registry.get("optimizers", self.optimizer).facts.get("full_batch")
        words = f"`{self.optimizer}` reads the whole training set for each step; leave out `training.accumulate`"
        require((not full or self.accumulate is None, words))


def _registered(name: str, room: str, value: str) -> str:
    """The registered name of what is meant, which may be written by any of its names."""
    try:
        return registry.get(room, value).name
    except UnknownName as problem:
        words = f"`training.{name}` must be the name of a registered {room.removesuffix('s')}, not `{value}`"
        raise ConfigError(words, problem.hint) from problem


@dataclass(frozen=True)
class Recipe(Generic[D]):
    """What is asked for."""

    task: str  # a registered name, or `package.module:Class`
    data: D  # the task's own dataclass `Data`
    model: Choice | None = None  # which architecture, and the options that were chosen; None: the task's default
    training: Training = field(default_factory=Training)
    seed: int = 1
    start: str | None = None  # a run whose weights and vocabulary are the beginning (`--from`)
    device: str = "auto"
    precision: Precision | None = None  # None: what the task proposes
    ensemble: int = 1  # members that are trained from different beginnings and averaged
    split: Split | None = None  # how the held-out parts are drawn; None: with `seed`

    def __post_init__(self) -> None:
        require(
            (self.ensemble >= 1, f"`ensemble` must be at least 1, not {self.ensemble}"),
            (
                self.model is None or isinstance(self.model, Choice),
                f"`model` must be a `Choice`, such as `Choice({self.model!r})`",
            ),
            (isinstance(self.training, Training), f"`training` must be a `Training`, not {self.training!r}"),
        )

    def to_json(self) -> Json:
        return {f.name: to_json(getattr(self, f.name)) for f in fields(self)}


@dataclass(frozen=True)
class Proposal(Generic[D]):
    """What a task chooses from its data and the budget: its own options, the model's options, and how to train."""

    data: D
    model: Choice
    batch: int
    rate: float
    schedule: str = "cosine"  # of the rate after its warm-up
    decay: float = 0.01  # of weights
    precision: Precision = "float32"


def read_recipe(value: object, data: type[D], where: str) -> Recipe[D]:
    """A recipe from JSON, whose `data` is of the task's own type."""
    if not isinstance(value, dict) or not isinstance(value.get("task"), str):
        raise ConfigError(
            f"`{where}` does not fit: it names no task", "the file was edited or damaged; restore it or train again."
        )
    shell = from_json(_Shell, {k: v for k, v in value.items() if k != "data"}, where)
    brought = from_json(data, value.get("data"), where)
    return Recipe(data=brought, **{f.name: getattr(shell, f.name) for f in fields(_Shell)})


@dataclass(frozen=True)
class _Shell:
    """A recipe without its data, whose type only the task knows."""

    task: str
    model: Choice | None = None
    training: Training = field(default_factory=Training)
    seed: int = 1
    start: str | None = None
    device: str = "auto"
    precision: Precision | None = None  # None: what the task proposes
    ensemble: int = 1
    split: Split | None = None
