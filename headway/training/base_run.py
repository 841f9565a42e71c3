"""The run that another one begins with (`--from`): its vocabulary, its weights as far as they fit, and what it was judged by."""

import shutil
from pathlib import Path

from torch import nn

from headway.core import registry
from headway.core.config import Choice
from headway.core.errors import UsageError
from headway.models.weights import load_fitting
from headway.tasks.folder import HELD_OUT
from headway.tasks.recipe import Recipe
from headway.tasks.task import AnyTask, Base
from headway.training.progress import Progress


def chosen_model(recipe: Recipe[object], kind: type[AnyTask], base: Base | None) -> Choice | None:
    """The model that was asked for; else that of the run it begins with, if it fits. None: the task proposes one."""
    if base is None:
        return recipe.model
    if recipe.model is None and not registry.fits(registry.get("models", base.model.name), kind.reads, kind.gives):
        return Choice(kind.model)
    asked = recipe.model or Choice(base.model.name)
    same = asked.name == base.model.name
    return Choice(asked.name, base.model.options | asked.options) if same else asked


def keep_base(base: Base, out: Path) -> None:
    """What the other run was judged by, so that forgetting shows, also when that run has moved away."""
    if (base.folder / HELD_OUT).is_dir():
        shutil.copytree(base.folder / HELD_OUT, out / "base" / HELD_OUT, dirs_exist_ok=True)
        if (base.folder / "scores.json").exists():
            shutil.copy(base.folder / "scores.json", out / "base" / "scores.json")


def take_weights(model: nn.Module, base: Base, progress: Progress) -> None:
    taken, new = load_fitting(model, base.weights())
    if not taken:
        hint = "choose the same `--model` with the same width, or leave out `--from`."
        raise UsageError(f"no weight of `{base.folder}` fits this model", hint)
    sizes = {name: p.numel() for name, p in model.named_parameters()}
    share = sum(size for name, size in sizes.items() if name in taken) / sum(sizes.values())
    names = ", ".join(f"`{name}`" for name in new[:6]) + (" ..." if len(new) > 6 else "")
    progress.say(f"from `{base.folder}`: {share:.0%} of the weights taken over" + (f"; new: {names}" if new else ""))
