"""Headway: train, use and understand the architectures of the deep-learning lectures, on the computer at hand.

    run = headway.load("runs/mine")
    run.translate(["A man is riding a bicycle."])
    headway.lab.run("telgarsky-32")                  # an experiment: table, verdict and figure
    headway.train(recipe, out="runs/mine")           # as the command does; a recipe is a value: headway.core.recipe.Recipe

Nothing heavy is imported before it is used.
"""

import os
import types
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from headway.core.recipe import Recipe

# torch's threads wait for each other by spinning. When another program wants a core, they spin against it, and a training step takes
# several times as long; sleeping at once costs a wake-up for each of the many short operations of a step. So: spin for a while, then
# sleep (how long was measured: docs/findings.md). Must be set before torch is loaded.
if "OMP_WAIT_POLICY" not in os.environ:
    os.environ.setdefault("GOMP_SPINCOUNT", "100000")

__version__ = "0.1.0"
__all__ = ["lab", "load", "train"]


def load(folder: str) -> Any:
    """A finished (or interrupted) run, ready to use."""
    from headway.train.run import Run

    return Run(folder)


class Verb(types.ModuleType):
    """The room `headway.train`, which is also the verb: the module itself can be called."""

    def __call__(self, recipe: "Recipe", out: str | Path, quiet: bool = False) -> Any:
        """Train a recipe into the directory `out`, judge it and write its report; returns the run."""
        from headway.verbs.training import train

        train(recipe, Path(out), quiet)
        return load(str(out))


def __getattr__(name: str) -> Any:
    if name in ("lab", "train"):
        import importlib

        return importlib.import_module(f"headway.{name}")
    raise AttributeError(f"module `headway` has no attribute `{name}`")
