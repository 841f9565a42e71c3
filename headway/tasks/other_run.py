"""Another run that a task begins with or works against: the reference of preference tuning, the model that rates."""

import shutil
from pathlib import Path

from torch import nn

from headway.core.config import Choice, from_json
from headway.core.errors import ConfigError, RunError
from headway.core.files import read_json, read_tensors
from headway.models.build import build_model
from headway.models.weights import load_tensors
from headway.tasks.folder import MEMBERS, WEIGHTS, is_published, require_start, require_weights
from headway.tasks.names import data_class, read_task_name, task_class
from headway.tasks.published_bert import open_bert
from headway.tasks.task import Base

NEEDLESS = shutil.ignore_patterns(
    *("checkpoint*", "metrics.jsonl", "report.html", "held_out", "base", "cache", ".lock"),
    *("reference", "reward", "standard_input"),  # what another run only trained with
)


def open_base(folder: Path) -> Base:
    """The run in this folder: its task with its vocabulary, its data, and which model it is. Or a BERT of Hugging Face."""
    require_start(folder)
    if is_published(folder):
        return open_bert(folder)
    require_weights(folder)
    if (folder / MEMBERS).is_dir():
        hint = f"name one of its members: `{folder / MEMBERS / '1'}`."
        raise RunError(f"`{folder}` is an ensemble, and its weights are those of several models", hint)
    path, name = folder / "plan.json", read_task_name(folder)
    value = read_json(path)
    try:
        data = from_json(data_class(name), value.get("data") if isinstance(value, dict) else None, str(path))
        model = from_json(Choice, value.get("model") if isinstance(value, dict) else None, str(path))
    except ConfigError as problem:
        raise RunError(problem.message, problem.hint) from problem
    return Base(folder, task_class(name).load(data, folder), data, model, lambda: read_tensors(folder / WEIGHTS))


def load_model(base: Base) -> nn.Module:
    """Its model with its weights, which nothing changes any more."""
    model = build_model(base.model, base.task.sizes).eval().requires_grad_(False)
    load_tensors(model, base.weights(), base.folder / WEIGHTS)
    return model


def copy_run(folder: Path, out: Path) -> None:
    """What using a run needs, and no more, so that another run can keep it in its own directory."""
    shutil.copytree(folder, out, ignore=NEEDLESS, dirs_exist_ok=True)
