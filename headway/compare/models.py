"""Several models on one task and the same data, with as many parameters and as much training each.

Every run is an ordinary one, in a directory and a process of its own (`child.py`). A comparison that was interrupted
continues with what is missing, and a run that is half done is resumed.

models.json                  the sizes that make the models equal
MODEL-SEED/                  a run, as `headway train` makes one, and its `outcome.json`
comparison.json, .html       what came out
"""

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from headway.compare.child import train_in_child
from headway.compare.equal_sizes import equal_sizes
from headway.compare.outcome import FILE, Outcome, read_outcome
from headway.compare.page import comparison_page
from headway.compare.table import terminal_text
from headway.core import machine
from headway.core.config import Choice, difference, from_json, to_json
from headway.core.errors import RunError, UsageError, raise_all
from headway.core.files import disk_errors, read_json, write_json, write_text
from headway.core.lock import locked
from headway.tasks.names import task_class
from headway.tasks.recipe import Recipe
from headway.tasks.task import AnyTask
from headway.training.plan import budget_of


@dataclasses.dataclass(frozen=True)
class Equal:
    """models.json: what was asked for, and the models that follow from it."""

    asked: dict[str, Any]  # recipes as JSON, by the name of the model; the first one sets the size
    data: Any  # as the task settled it for the first model: the same for all
    models: dict[str, Choice]
    parameters: dict[str, int]


def compare(recipes: Mapping[str, Recipe[object]], seeds: int, out: Path, quiet: bool, anyway: bool) -> str:
    """Train what is missing, write `comparison.json` and `comparison.html`; returns the table for a terminal.

    recipes   one for each model, by the name it goes by; they differ in nothing but the model
    seeds     runs of each model, with seeds 1, 2 ...
    quiet     print nothing
    anyway    train also on data with errors
    """
    if "-" in to_json(next(iter(recipes.values())).data).values():
        raise UsageError("standard input can be read only once, but every run reads the data", "bring a file.")
    with disk_errors(out):
        out.mkdir(parents=True, exist_ok=True)
    with locked(out):
        wanted = equal_recipes(recipes, out)
        pairs = [(name, seed) for seed in range(1, seeds + 1) for name in wanted]
        runs = {(name, seed): out / f"{name.replace(':', '-')}-{seed}" for name, seed in pairs}
        for (name, seed), folder in runs.items():
            recipe = dataclasses.replace(wanted[name], seed=seed)
            refuse_another(recipe, folder)
            if not (folder / FILE).exists():
                if not quiet:
                    print(f"== {name}, seed {seed}: {recipe.model.describe() if recipe.model else ''}", flush=True)
                train_in_child(name, recipe, folder, quiet, anyway)
        found = {folder: read_outcome(folder) for folder in runs.values()}
        first = next(iter(wanted.values()))
        write_json(out / "comparison.json", as_json(first, found))
        write_text(out / "comparison.html", comparison_page(out.name, first, {f.name: o for f, o in found.items()}))
    return f"{terminal_text(list(found.values()))}\n\ncurves, samples and each run: {out / 'comparison.html'}"


def as_json(recipe: Recipe[object], found: Mapping[Path, Outcome]) -> dict[str, object]:
    """comparison.json: what was compared, and every outcome with the directory of its run."""
    asked = {"task": recipe.task, "data": to_json(recipe.data), "training": to_json(recipe.training)}
    return {**asked, "runs": [{"folder": folder.name, **to_json(one)} for folder, one in found.items()]}


def equal_recipes(recipes: Mapping[str, Recipe[object]], out: Path) -> dict[str, Recipe[object]]:
    """The recipes with models of equal size and the same data, from `models.json` if a comparison continues."""
    path = out / "models.json"
    asked = {name: recipe.to_json() for name, recipe in recipes.items()}
    kind = task_class(next(iter(recipes.values())).task)
    kept = from_json(Equal, read_json(path), str(path)) if path.exists() else None
    if kept is None or kept.asked != asked or list(kept.asked) != list(asked):
        kept = settle(kind, recipes, asked)
        write_json(path, to_json(kept) | {"models": {name: to_json(choice) for name, choice in kept.models.items()}})
    first = next(iter(recipes.values()))
    data = from_json(type(first.data), to_json(kept.data), str(path))
    return {name: dataclasses.replace(recipe, data=data, model=kept.models[name]) for name, recipe in recipes.items()}


def settle(kind: type[AnyTask], recipes: Mapping[str, Recipe[object]], asked: dict[str, Any]) -> Equal:
    """Read the data, let the task propose a model of each kind, and make the others as large as the first."""
    machine.prepare()
    first = next(iter(recipes.values()))
    corpus = kind.collect(first.data, 1)
    proposals = {}
    for name, recipe in recipes.items():
        proposals[name] = kind.propose(dataclasses.replace(recipe, training=budget_of(recipe.training)), corpus, None)
    data = proposals[next(iter(recipes))].data
    sizes = kind.fit(data, corpus, None).sizes
    found = equal_sizes({name: proposal.model for name, proposal in proposals.items()}, sizes)
    models = {name: choice for name, (choice, _) in found.items()}
    return Equal(asked, data, models, {name: count for name, (_, count) in found.items()})


def refuse_another(recipe: Recipe[object], folder: Path) -> None:
    """Raise if the directory holds a run that was made for something else than this comparison."""
    if not (folder / "recipe.json").exists():
        return
    changes = difference(read_json(folder / "recipe.json"), recipe.to_json())
    hint = "choose another `--out`, or ask for the same as before."
    raise_all(changes, RunError, f"`{folder}` was trained for another comparison", hint)
