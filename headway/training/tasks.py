"""A task by its name: the one place where a name becomes a type."""

from pathlib import Path

from headway.core import registry
from headway.core.errors import RunError
from headway.core.files import read_json
from headway.tasks.task import B, C, D, M, Task

TaskClass = type[Task[D, C, B, M]]


def task_class(name: str) -> TaskClass[D, C, B, M]:
    found: TaskClass[D, C, B, M] = registry.get("tasks", name).load()
    return found


def data_class(name: str) -> type[D]:
    """The dataclass of what a person brings to the task."""
    found: type[D] = registry.get("tasks", name).module.Data
    return found


def read_task_name(folder: Path) -> str:
    """The task that the run in this folder was trained for."""
    value = read_json(folder / "recipe.json")
    name = value.get("task") if isinstance(value, dict) else None
    if not isinstance(name, str) or not isinstance(value.get("seed"), int) or "tokens" in value:
        hint = "it was made by an older version of Headway, or the file was edited; train again."
        raise RunError(f"`{folder / 'recipe.json'}` is not a recipe of this version", hint)
    return name
