"""An ensemble over random beginnings (`headway train ... --ensemble 5`): one run whose model is that of all its members.

members/1 ... k      ordinary runs, trained one after the other: other weights, order, dropout, and another part to validate by
plan.json ...        those of the first member; `plan.ensemble` counts the members
weights.safetensors  the weights of all members, written when the last one is trained

A training that was interrupted goes on with the member that is not finished. Lecture D.

What one member holds out to choose its weights by, the others learn from, so that together they learn from every example but those of
the test part: Krogh & Vedelsby 1995, "Neural network ensembles, cross validation, and active learning". The first member validates by
what a single run would; the vocabulary, the scales and the choices of the plan are those of the first, for all.
"""

import dataclasses
import shutil
from collections.abc import Callable
from pathlib import Path

from headway.core.errors import UsageError
from headway.core.files import disk_errors, read_json, read_tensors, write_json, write_tensors
from headway.core.folds import Split
from headway.core.seeds import derive
from headway.models.ensemble import GIVES
from headway.tasks.folder import MEMBERS, WEIGHTS
from headway.tasks.names import data_class, task_class
from headway.tasks.recipe import Recipe
from headway.training.checkpoint import finished
from headway.training.plan import read_plan
from headway.training.processes import ALONE, Processes
from headway.training.progress import Progress

OWN = ("checkpoint*", "metrics.jsonl", "report.html", "scores.json", WEIGHTS, "recipe.json", "plan.json")
OWN_FILES = shutil.ignore_patterns(*OWN, ".lock", "*.part")  # of each member; the rest is the same for all


def require_ensemble(recipe: Recipe[object]) -> None:
    """Raise if predictions of this task cannot be averaged."""
    if recipe.ensemble > 1 and task_class(recipe.task).gives not in GIVES:
        hint = "leave out `--ensemble`; `--seed` trains one run after the other."
        raise UsageError(f"models for {recipe.task} cannot be averaged", hint)


def member_recipe(recipe: Recipe[object], number: int) -> Recipe[object]:
    """The recipe of one member, from 1 on: a seed of its own for everything but the test part, and a validation part of its own."""
    split = dataclasses.replace(recipe.split or Split(recipe.seed), turn=number - 1)
    return dataclasses.replace(recipe, ensemble=1, seed=derive(recipe.seed, "member", number), split=split)


def train_members(
    recipe: Recipe[object],
    out: Path,
    progress: Progress,
    train: Callable[[Recipe[object], Path, Path | None], bool],
    processes: Processes = ALONE,
) -> bool:
    """Train what is missing of each member, then join them. Returns False if a person interrupted it.

    train   trains a run or the rest of it, in a directory that holds its recipe, and like the first member, if there is one
    """
    first = out / MEMBERS / "1"
    for number in range(1, recipe.ensemble + 1):
        folder, member = out / MEMBERS / str(number), member_recipe(recipe, number)
        if processes.agree(finished(folder)):
            continue
        progress.say(f"member {number} of {recipe.ensemble}")
        if processes.first:
            with disk_errors(folder):
                folder.mkdir(parents=True, exist_ok=True)
            write_json(folder / "recipe.json", member.to_json())
        if not train(member, folder, first if number > 1 else None):
            return False
    if processes.first:
        join(recipe, out)
    return True


def copy_shared(member: Path, out: Path) -> None:
    """Copy what a member shares with all others. Files of its subfolders are no files of its own, whatever their names."""

    def own(folder: str, names: list[str]) -> set[str]:
        return OWN_FILES(folder, names) if folder == str(member) else set()

    shutil.copytree(str(member), out, ignore=own, dirs_exist_ok=True)


def join(recipe: Recipe[object], out: Path) -> None:
    """Make one run of the members: what they share, a plan, and the weights of all; the weights last."""
    folders = [out / MEMBERS / str(number) for number in range(1, recipe.ensemble + 1)]
    copy_shared(folders[0], out)
    path = folders[0] / "plan.json"
    plan = read_plan(read_json(path), data_class(recipe.task), str(path))
    write_json(out / "plan.json", dataclasses.replace(plan, seed=recipe.seed, ensemble=recipe.ensemble).to_json())
    weights = [read_tensors(folder / WEIGHTS) for folder in folders]
    joined = {f"members.{i}.{name}": tensor for i, each in enumerate(weights) for name, tensor in each.items()}
    write_tensors(out / WEIGHTS, joined)
