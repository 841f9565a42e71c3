"""Runs of one model in several sizes, each trained for several lengths: what a scaling law is fitted to (`headway lab scaling`).

Every pair of a size and a length is a run of its own, with a schedule that ends where it ends: the loss in the middle of a
longer run is not that of a shorter one, because its learning rate has not fallen yet (Hoffmann et al. 2022,
https://arxiv.org/abs/2203.15556, section 3.1). The runs are made as in a comparison: each in a directory and a process of
its own (`child.py`), so that a sweep that was interrupted continues with what is missing.

width24-500000/              a run, as `headway train` makes one: this width, trained on so many tokens
"""

import dataclasses
from collections.abc import Callable, Sequence
from pathlib import Path

from headway.compare.child import train_in_child
from headway.compare.models import refuse_another
from headway.compare.outcome import FILE, read_outcome
from headway.core import machine, registry
from headway.core.config import Choice, to_json
from headway.core.errors import UsageError
from headway.core.files import disk_errors
from headway.core.lock import locked
from headway.data.messages import count_noun
from headway.models.build import count_parameters
from headway.tasks.names import task_class
from headway.tasks.recipe import Recipe

STEP = 8  # widths are multiples of this: computed faster, and divided by the usual numbers of heads
WIDEST = 1 << 14
FEWEST = 20  # steps of the shortest run


@dataclasses.dataclass(frozen=True)
class Member:
    """One run of a sweep before it is made."""

    recipe: Recipe[object]
    width: int
    parameters: int
    length: int  # what it is trained on, in units of the task (tokens)

    @property
    def name(self) -> str:
        return f"width{self.width}-{self.length}"


def sweep(
    recipe: Recipe[object], parameters: Sequence[int], lengths: Sequence[int], out: Path, quiet: bool, anyway: bool
) -> list[Path]:
    """Train what is missing, the shortest runs first; returns the directories of all runs.

    recipe       what all runs share; its budget is not used
    parameters   how large the models should be; the width that comes nearest is taken
    lengths      what each of them is trained on, in units of the task
    """
    if "-" in to_json(recipe.data).values():
        raise UsageError("standard input can be read only once, but every run reads the data", "bring a file.")
    with disk_errors(out):
        out.mkdir(parents=True, exist_ok=True)
    with locked(out):
        members = plan_members(recipe, parameters, lengths)
        for member in members:
            refuse_another(member.recipe, out / member.name)
        for number, member in enumerate(members, 1):
            if not (out / member.name / FILE).exists():
                if not quiet:
                    print(
                        f"== run {number} of {len(members)}: {describe(member)}{describe_rest(members, out)}",
                        flush=True,
                    )
                train_in_child(member.name, member.recipe, out / member.name, quiet, anyway)
    return [out / member.name for member in members]


def plan_members(recipe: Recipe[object], parameters: Sequence[int], lengths: Sequence[int]) -> list[Member]:
    """Every size with every length, ordered by length, then size: the longest run of the largest model comes last."""
    kind = task_class(recipe.task)
    chosen = recipe.model or Choice(kind.model)
    if "width" not in {option.name for option in registry.get("models", chosen.name).options}:
        raise UsageError(
            f"`{chosen.name}` has no `width`, so it has no sizes to sweep over", "choose another `--model`."
        )
    machine.prepare()
    corpus = kind.collect(recipe.data, recipe.seed)
    recipe = dataclasses.replace(recipe, training=dataclasses.replace(recipe.training, minutes=None, epochs=None))
    asked = dataclasses.replace(recipe, training=dataclasses.replace(recipe.training, steps=1))

    def proposed(width: int) -> Recipe[object]:
        model = Choice(chosen.name, chosen.options | {"width": width})
        found = kind.propose(dataclasses.replace(asked, model=model), corpus, None)
        training = dataclasses.replace(recipe.training, batch=found.batch, rate=found.rate, patience=None)
        return dataclasses.replace(recipe, data=found.data, model=found.model, training=training)

    sizes = kind.fit(proposed(STEP).data, corpus, None).sizes

    def count(width: int) -> int:
        model = proposed(width).model
        return count_parameters(model, sizes) if model else 0

    widths = [nearest_width(target, count) for target in sorted(parameters)]
    if len(set(widths)) < len(widths):
        smallest = f"the smallest of width {STEP} has {count(STEP):,} parameters"
        raise UsageError(
            "two of the sizes have the same width", f"ask for sizes that differ more in `--parameters`; {smallest}."
        )
    members = []
    for length in sorted(lengths):
        for width in widths:
            one = proposed(width)
            steps = round(length / ((one.training.batch or 1) * (one.training.accumulate or 1)))
            if steps < FEWEST:
                message = f"a length of {length:,} {kind.unit} is {count_noun(steps, 'step')} of {one.training.batch:,}"
                raise UsageError(message, f"ask for at least {FEWEST} steps, or for a smaller `--training.batch`.")
            budget = dataclasses.replace(one.training, steps=steps)
            members.append(Member(dataclasses.replace(one, training=budget), width, count(width), length))
    return members


def nearest_width(target: int, count: Callable[[int], int]) -> int:
    """The width whose number of parameters comes nearest to the target, in ratio; the number grows with the width."""
    low, high = 1, WIDEST // STEP
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if count(middle * STEP) < target else (low, middle)
    return STEP * min((low, high), key=lambda n: max(count(n * STEP) / target, target / count(n * STEP)))


def describe(member: Member) -> str:
    unit = task_class(member.recipe.task).unit
    return f"width {member.width}, {member.parameters:,} parameters, {member.length:,} {unit}"


def describe_rest(members: Sequence[Member], out: Path) -> str:
    """How long the missing runs take at the speed of the finished ones, once there is one of each size."""
    done = [member for member in members if (out / member.name / FILE).exists()]
    minutes = {member.width: read_outcome(out / member.name).minutes / member.length for member in done}
    if any(member.width not in minutes for member in members):
        return ""
    left = sum(minutes[member.width] * member.length for member in members if member not in done)
    return f"; about {count_noun(max(1, round(left)), 'minute')} left"
