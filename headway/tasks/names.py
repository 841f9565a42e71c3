"""A task by its name: the one place where a name becomes a type."""

from pathlib import Path

from headway.core import registry
from headway.core.errors import RunError
from headway.core.files import read_json
from headway.tasks.task import AnyTask


def task_class(name: str) -> type[AnyTask]:
    found: type[AnyTask] = registry.get("tasks", name).load()
    return found


def data_class(name: str) -> type[object]:
    """The dataclass of what a person brings to the task."""
    found: type[object] = registry.get("tasks", name).module.Data
    return found


def read_task_name(folder: Path) -> str:
    """The task that the run in this folder was trained for."""
    value = read_json(folder / "recipe.json")
    name = value.get("task") if isinstance(value, dict) else None
    if not isinstance(name, str) or not isinstance(value.get("seed"), int) or "tokens" in value:
        hint = "it was made by an older version of Headway, or the file was edited; train again."
        raise RunError(f"`{folder / 'recipe.json'}` is not a recipe of this version", hint)
    return name
