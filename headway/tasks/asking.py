"""What a person asks for, from the command line or from Python, checked before anything heavy is loaded.

The task's options are read from its file (`core/registry.py`), so every misspelling is answered at once; the recipe itself is made when
the task is imported.
"""

import dataclasses
import os
import typing
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from headway.core import registry
from headway.core.config import Choice, Value, from_json, option_type, parse, replaced, to_json
from headway.core.entries import Entry
from headway.core.errors import DataError, UnknownName, UsageError
from headway.models.choice import choose_model
from headway.tasks.recipe import Precision, Recipe, Training

BUDGETS = ("minutes", "steps", "epochs")


@dataclass(frozen=True)
class Asked:
    """A checked wish. `recipe()` loads the task and makes the recipe."""

    entry: Entry  # of a task, or of a recipe that has a name
    data: dict[str, Value] = field(default_factory=dict)
    model: Choice | None = None
    training: dict[str, Value] = field(default_factory=dict)
    seed: int = 1
    start: str | None = None
    device: str = "auto"
    precision: Precision | None = None

    def recipe(self) -> Recipe[object]:
        if self.entry.room == "recipes":
            made = self.entry.load()()
            if self.model:
                kept = made.model.options if made.model and made.model.name == self.model.name else {}
                made = dataclasses.replace(made, model=Choice(self.model.name, kept | self.model.options))
            data, training = replaced(made.data, self.data, "data"), made.training
        else:
            kind = self.entry.module.Data
            hint = f"`headway train {self.entry.name} --help` explains the options."
            made, data, training = None, from_json(kind, to_json(self.data), self.entry.name, hint), Training()
        if any(name in self.training for name in BUDGETS):
            training = dataclasses.replace(training, **dict.fromkeys(BUDGETS))
        training = replaced(training, self.training, "training")
        model = made.model if made is not None else self.model
        name = made.task if made is not None else self.entry.name
        return Recipe(name, data, model, training, self.seed, self.start, self.device, self.precision)


def known_tasks() -> dict[str, Entry]:
    """What can be trained: tasks, and recipes that have a name."""
    return registry.entries("tasks") | registry.entries("recipes")


def find_task(name: str) -> Entry:
    """The task or recipe of that name, or the class that `package.module:Class` names."""
    if registry.is_reference(name):
        return registry.get("tasks", name)
    known = known_tasks()
    for entry in known.values():
        if registry.named(entry, name):
            return entry
    raise UnknownName("task", name, known, "headway list tasks")


def task_of(entry: Entry) -> Entry:
    """The task of a recipe, or the task itself."""
    return registry.get("tasks", entry.facts["task"]) if entry.room == "recipes" else entry


def ask(
    task: str,
    data: Mapping[str, Value],
    model: str | None = None,
    options: Mapping[str, Value | type] | None = None,
    training: Mapping[str, Value] | None = None,
    seed: int = 1,
    start: str | None = None,
    device: str = "auto",
    precision: Precision | None = None,
) -> Asked:
    """Check names, types and files; words of a command line are turned into values of the right type."""
    entry = find_task(task)
    owner = task_of(entry)
    chosen = None
    if model or options:
        name = model or entry.facts.get("model") or owner.facts["model"]
        chosen = choose_model(owner.facts["reads"], owner.facts["gives"], name, options or {})
    values = {name: _typed(owner, name, value) for name, value in data.items()}
    for name in owner.facts.get("files") or ():
        if isinstance(path := values.get(name), str):
            values[name] = absolute(path, name)
    settings = {name: _training(name, value) for name, value in (training or {}).items()}
    given = [name for name in BUDGETS if settings.get(name) is not None]
    if len(given) > 1:
        raise UsageError(f"{' and '.join(f'`--{name}`' for name in given)} are two budgets", "choose one of them.")
    for name in given:
        if not isinstance(value := settings[name], int | float) or not 0 < value < float("inf"):
            raise UsageError(f"`--{name} {settings[name]}` is not a budget", "it must be a number above zero.")
    return Asked(entry, values, chosen, settings, seed, start, device, precision)


def _typed(owner: Entry, name: str, value: Value) -> Value:
    options = {option.name: option for option in owner.options}
    if name not in options:
        raise UnknownName(
            "option",
            f"--{name.replace('_', '-')}",
            [f"--{n.replace('_', '-')}" for n in options],
            f"headway train {owner.name} --help",
        )
    kind = option_type(options[name].type)
    found: Value = parse(kind, value, name.replace("_", "-")) if isinstance(value, str) else value
    return found


def _training(name: str, value: Value) -> Value:
    hints = typing.get_type_hints(Training)
    if name not in hints:
        raise UnknownName("option", f"--training.{name}", [f"--training.{n}" for n in hints])
    option = name if name in BUDGETS else f"training.{name}"
    found: Value = parse(hints[name], value, option) if isinstance(value, str) else value
    return found


def absolute(path: str, name: str = "") -> str:
    """An absolute path, so that the run can be continued from anywhere; a missing file is reported before anything heavy is loaded."""
    if path == "-":
        return path
    if not os.path.exists(path):
        option = f" (`--{name.replace('_', '-')}`)" if name else ""
        raise DataError(f"there is no file `{path}`{option}", f"looked in `{Path(path).resolve().parent}`.")
    return str(Path(path).resolve())
