"""What would be trained, with every choice made as `headway train` makes it, before anything is."""

import dataclasses
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import torch
from torch import Tensor, nn

from headway.core import registry
from headway.core.config import Choice, to_json
from headway.core.device import choose_device
from headway.core.folds import Split, reading_fold
from headway.core.machine import held_memory, require_memory
from headway.core.seeds import derive
from headway.inspect.step_cost import StepCost, count_step, without_numbers
from headway.layers.cross_entropy import output_cross_entropy
from headway.models.build import build_model, count_parameters
from headway.models.choice import check_options
from headway.models.gpt import Config, presets
from headway.models.gpt3_sizes import BATCH, RATE, TOKENS, VOCABULARY, WARMUP
from headway.tasks.names import task_class
from headway.tasks.other_run import open_base
from headway.tasks.recipe import Recipe
from headway.tasks.task import Batches, Loss
from headway.training import plan as planning
from headway.training.base_run import chosen_model
from headway.training.loop import Loop
from headway.training.plan import Settings
from headway.training.precision import Arithmetic, choose_precision


@dataclass(frozen=True)
class Draft:
    """A training that could begin.

    batches   the batches of so many units
    settle    the settings, given the seconds of a step; a budget in minutes depends on them
    """

    name: str
    model: Choice
    sizes: dict[str, int]
    unit: str
    seed: int
    precision: Arithmetic
    batches: Callable[[int], Batches[object]]
    loss: Callable[[nn.Module, object], Loss]
    settle: Callable[[float | None], Settings]
    members: int = 1  # of an ensemble, trained one after the other
    held: int | None = None  # bytes of the process when the data had been read; None where that is not known

    @property
    def depth(self) -> int | None:
        """Repeated blocks, where the model has a dial for them."""
        entry = registry.get("models", self.model.name)
        default = {option.name: option.default for option in entry.options}.get("depth")
        found = self.model.options.get("depth", default)
        return found if isinstance(found, int) else None

    def with_depth(self, depth: int) -> "Draft":
        return dataclasses.replace(self, model=Choice(self.model.name, self.model.options | {"depth": depth}))

    def loop(self, batch: int, real: bool) -> Loop[object]:
        """Its training loop without a folder; `real`: with weights that can be trained, and not only shapes."""
        settings = dataclasses.replace(self.settle(None), batch=batch)
        torch.manual_seed(derive(self.seed, "weights"))
        build: Callable[[], nn.Module] = lambda: build_model(self.model, self.sizes)  # noqa: E731
        model = build() if real else without_numbers(build)
        with warnings.catch_warnings():  # a copy of a tensor without numbers asks for their address
            warnings.filterwarnings("ignore", message="Accessing the data pointer of FakeTensor")
            return Loop(model, self.batches(batch), self.loss, settings, self.seed, precision=self.precision)

    def cost(self, batch: int) -> StepCost:
        """The cost of a step with such batches; on real numbers where the loss depends on what the model computes (matching boxes)."""
        try:
            return count_step(self.loop(batch, real=False))
        except RuntimeError:  # the common ancestor of what fake tensors raise
            require_memory(count_parameters(self.model, self.sizes))
            return count_step(self.loop(batch, real=True))


@contextmanager
def recipe_draft(recipe: Recipe[object]) -> Iterator[Draft]:
    """The draft of a recipe: its data is read, its vocabulary learned. What is prepared lies in a folder that is removed afterwards."""
    recipe = dataclasses.replace(recipe, training=planning.budget_of(recipe.training))
    if recipe.model:
        check_options(recipe.model)
    kind = task_class(recipe.task)
    split = recipe.split or Split(recipe.seed)
    with reading_fold(split, recipe.task):
        corpus = kind.collect(recipe.data, split.seed)
    base = open_base(Path(recipe.start)) if recipe.start else None
    recipe = dataclasses.replace(recipe, model=chosen_model(recipe, kind, base))
    proposal = kind.propose(recipe, corpus, base)
    task = kind.fit(proposal.data, corpus, base)
    precision = choose_precision(recipe.precision or proposal.precision, choose_device(recipe.device))
    with TemporaryDirectory() as folder:

        @cache
        def batches(batch: int) -> Batches[object]:
            return task.prepare(corpus, Path(folder), batch, recipe.seed)

        per_epoch = len(batches(proposal.batch))

        def settle(seconds: float | None) -> Settings:
            minutes = recipe.training.minutes
            pace = None if seconds is None or minutes is None else planning.Pace(seconds, 60 * minutes)
            return planning.settle(recipe, proposal, per_epoch, pace)

        yield Draft(
            recipe.task,
            proposal.model,
            task.sizes,
            task.unit,
            recipe.seed,
            precision,
            batches,
            task.loss,
            settle,
            recipe.ensemble,
            held_memory(),
        )


class _Windows:
    """Batches of text that is the same token everywhere: only its shape is counted."""

    def __init__(self, rows: int, context: int) -> None:
        self.ids = torch.zeros(rows, context + 1, dtype=torch.long)

    def __len__(self) -> int:
        return 1

    def __getitem__(self, number: int) -> Tensor:
        return self.ids

    def largest(self) -> Tensor:
        return self.ids


def gpt3_draft(name: str, tokens: float | None, precision: Arithmetic) -> Draft:
    """One of the eight sizes of GPT-3, with the batch, the rate and the optimizer of the paper.

    A device holds one window of 2,048 tokens at a time; gradients are accumulated until the batch is full.
    """
    config = presets()[name]
    windows = round(BATCH[name] / config.context)
    steps = max(1, round((tokens or TOKENS) / (windows * config.context)))
    settings = Settings(
        steps,
        config.context,
        RATE[name],
        warmup=max(1, round(WARMUP / (windows * config.context))),
        accumulate=windows,
        optimizer="adamw",
        decay=0.1,
    )
    published = {key: value for key, value in to_json(config).items() if value != getattr(Config(), key)}

    def loss(model: nn.Module, ids: object) -> Loss:
        if not isinstance(ids, Tensor):
            raise TypeError(type(ids))
        total, plain = output_cross_entropy(model.output, model(ids[:, :-1]).flatten(0, 1), ids[:, 1:].flatten())  # type: ignore[arg-type]
        return Loss(total, plain, ids[:, 1:].numel())

    return Draft(
        name,
        Choice("gpt", published),
        {"vocabulary": VOCABULARY},
        "tokens",
        1,
        precision,
        lambda batch: _Windows(max(1, batch // config.context), config.context),
        loss,
        lambda seconds: settings,
    )
