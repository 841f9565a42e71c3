"""Headway: train, use and understand the architectures of the deep-learning lectures, on the computer at hand.

    run = headway.train("translation", source="a.en", target="a.de", minutes=10, out="runs/mine")
    run = headway.load("runs/mine")
    run.translate("A man is riding a bicycle.")
    run.evaluate(source="t.en", target="t.de")
    model = headway.model("gpt", vocabulary=65, width=128, mixer=MyMixer)      # an untrained model; objects where names are accepted
    headway.check(MyMixer)                                                     # the contracts, on a layer of your own
    headway.lab.run("telgarsky-32")                                            # an experiment: table, verdict and figure

Nothing heavy is imported before it is used.
"""

import dataclasses
import importlib
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from headway.core.machine import shares_cores

if TYPE_CHECKING:
    from torch import nn

    from headway import (
        compare,
        contracts,
        core,
        data,
        decode,
        evaluate,
        inspect,
        lab,
        layers,
        models,
        recipes,
        report,
        runs,
        tasks,
        training,
    )
    from headway.contracts.check import Contracts
    from headway.core import errors
    from headway.core.config import Choice, Value
    from headway.core.errors import HeadwayError
    from headway.runs.run import Run
    from headway.tasks.recipe import Recipe, Training
    from headway.tasks.task import Task

# torch's threads wait for each other by spinning. When another program wants a core, they spin against it, and a training step takes
# six times as long; sleeping at once costs a wake-up for each of the many short operations of a step. So: spin for a while on a machine
# that is ours alone, and hardly at all beside other programs (docs/findings.md). Must be set before torch is loaded.
if "OMP_WAIT_POLICY" not in os.environ:
    os.environ.setdefault("GOMP_SPINCOUNT", "1000" if shares_cores() else "100000")

# oneDNN keeps what it has prepared for the products of each size, half a megabyte each, and torch keeps some of it once more: up to 1,024
# each. Sizes change with every batch of sentences, but one step needs only some dozens (docs/findings.md, 2026-11-18).
os.environ.setdefault("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "128")
os.environ.setdefault("LRU_CACHE_CAPACITY", "128")

__version__ = "0.1.0"
__all__ = [
    "Choice", "HeadwayError", "Recipe", "Run", "Task", "Training", "check", "compare", "contracts", "core", "data", "decode",
    "errors", "evaluate", "inspect", "lab", "layers", "load", "model", "models", "recipes", "report", "runs", "tasks", "train",
    "training",
]  # fmt: skip

_LAZY = {
    "Choice": "headway.core.config",
    "HeadwayError": "headway.core.errors",
    "Recipe": "headway.tasks.recipe",
    "Run": "headway.runs.run",
    "Task": "headway.tasks.task",
    "Training": "headway.tasks.recipe",
}


def load(folder: str | Path, device: str = "auto") -> "Run":
    """A finished (or interrupted) run, ready to use.

    folder   the directory that training made
    device   where the model computes: "auto", "cpu", "cuda", "mps"
    """
    from headway.runs.run import Run

    with _python_words():
        return Run(folder, device)


def train(
    task: "str | Recipe[object] | type",
    *,
    out: str | Path,
    model: "str | type | None" = None,
    options: "Mapping[str, Value | type] | None" = None,
    minutes: float | None = None,
    steps: int | None = None,
    epochs: float | None = None,
    training: "Mapping[str, Value] | None" = None,
    seed: int = 1,
    ensemble: int = 1,
    start: str | Path | None = None,
    device: str = "auto",
    precision: Literal["float32", "bfloat16", "auto"] | None = None,
    anyway: bool = False,
    quiet: bool = False,
    **data: "str | int | float | bool | None",
) -> "Run":
    """Train, judge, write the report; returns the run. The same checks as the command `headway train`.

    task        the name of a task ("translation", "language" ...), of a recipe ("demo"), a class of your own, or a `Recipe`
    out         where the run goes; must not exist yet
    model       an architecture or a mixer by name, or a class of your own; None: the task's default
    options     of the model: {"width": 128, "depth": 2}
    minutes, steps, epochs
                the budget, one of them; ten minutes if none is given
    training    any field of `headway.Training`: {"rate": 1e-3, "batch": 2048}
    seed        the same seed gives the same run
    ensemble    train so many models from different beginnings, each with the whole budget, and average what they predict
    start       begin with the weights and the vocabulary of this run
    device      "auto", "cpu", "cuda", "mps"
    precision   "float32", "bfloat16", or "auto": the faster one on this machine (default: float32, unless the task proposes another)
    anyway      train also on data with errors
    quiet       print nothing
    data        what the task reads, by the names that `headway train TASK --help` lists: source="a.en", target="a.de"
    """
    from headway.report.summary import summarise
    from headway.runs.run import Run
    from headway.tasks.asking import ask
    from headway.tasks.recipe import Recipe
    from headway.training.progress import Progress
    from headway.training.session import start as begin

    with _python_words():
        if isinstance(task, Recipe):
            recipe = task
        else:
            given: dict[str, Value] = {name: value for name, value in data.items() if value is not None}
            budget: dict[str, Value] = {
                n: v for n, v in (("minutes", minutes), ("steps", steps), ("epochs", epochs)) if v is not None
            }
            begun = str(Path(start).resolve()) if start is not None else None
            chosen = _name(model) if model else None
            asked = ask(
                _name(task), given, chosen, options, {**(training or {}), **budget}, seed, begun, device, precision
            )
            recipe = dataclasses.replace(asked.recipe(), ensemble=ensemble)
        if not begin(recipe, Path(out), Progress(quiet), anyway):
            raise KeyboardInterrupt
        run = Run(out, device)
        summary = summarise(run)
        if not quiet:
            print(summary.text)
        return run


def model(name: "str | type", *, sizes: "Mapping[str, int] | None" = None, **options: "Value | type") -> "nn.Module":
    """An untrained model, ready for a loop of your own.

    name      an architecture ("gpt", "transformer", "encoder", "cnn" ...), the name of a mixer, or a class of your own
    sizes     what the constructor needs to know, if a name is also that of an option: {"width": 28} of a picture
    options   sizes such as `vocabulary=65`, `outputs=10`, and the model's own options: `width=128`, `mixer=MyMixer`
    """
    from headway.models.build import build_named

    with _python_words():
        return build_named(_name(name), options, sizes or {})


def check(thing: "str | type") -> "Contracts":
    """Run the contracts on a layer or a model of your own (or a registered one by name); prints as a table, `.ok` is the verdict."""
    from headway.contracts.check import check_name

    with _python_words():
        return check_name(_name(thing))


def _name(thing: "str | type") -> str:
    """A name as it is, a class as `package.module:Class`."""
    if isinstance(thing, str):
        return thing
    if not isinstance(thing, type):
        from headway.core.errors import UsageError

        raise UsageError(
            f"expected a name or a class, not {type(thing).__name__}",
            'for example `headway.train("translation", ...)`.',
        )
    from headway.core.registry import reference

    return reference(thing)


@contextmanager
def _python_words() -> Iterator[None]:
    """Messages name options as a command line spells them; in Python they are arguments: `--validation-source` is `validation_source=`."""
    import re

    from headway.core.errors import HeadwayError

    try:
        yield
    except HeadwayError as problem:

        def argument(match: re.Match[str]) -> str:
            name, value = match[1].replace("-", "_").replace("from", "start"), match[2] or ""
            return f"`{name}={value.strip()}`"

        problem.message = re.sub(r"`--([a-z][a-z_-]*)( [^`]*)?`", argument, problem.message)
        problem.hint = re.sub(r"`--([a-z][a-z_-]*)( [^`]*)?`", argument, problem.hint)
        problem.args = (problem.message,)
        raise


if not TYPE_CHECKING:  # for a type checker a misspelt name is an error, not an object

    def __getattr__(name: str) -> object:
        if name in _LAZY:
            return getattr(importlib.import_module(_LAZY[name]), name)
        if name == "errors":
            return importlib.import_module("headway.core.errors")
        if name in __all__:
            return importlib.import_module(f"headway.{name}")
        raise AttributeError(f"module `headway` has no attribute `{name}`")


def __dir__() -> list[str]:
    return sorted(__all__)
