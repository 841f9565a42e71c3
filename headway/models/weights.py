"""The weights of a model as a file keeps them, and how they come back."""

from collections.abc import Mapping
from pathlib import Path

import torch
from torch import Tensor, nn

from headway.core import registry
from headway.core.errors import RunError
from headway.layers.roles import roles


def saved_tensors(model: nn.Module) -> dict[str, Tensor]:
    """What a file keeps of a model: its parameters, each once, and what it drew or counted (persistent buffers)."""
    kept = model.state_dict()
    return dict(model.named_parameters()) | {name: buffer for name, buffer in model.named_buffers() if name in kept}


def redraw(model: nn.Module, initialisation: str) -> None:
    """Draw every matrix anew by the rule of this name (`layers/initialisation.py`); tables, vectors and rates stay as they are."""
    rule, declared = registry.get("initialisations", initialisation).load(), roles(model)
    for name, parameter in model.named_parameters():
        if declared[name] == "matrix":
            rule(parameter)


def load_tensors(model: nn.Module, tensors: Mapping[str, Tensor], path: Path) -> None:
    """Put stored weights into a model, all of them or none."""
    require_fitting(model, tensors, path)
    if odd := [name for name, _ in model.named_parameters() if not torch.isfinite(tensors[name]).all()]:
        hint = "restore the file from a copy, or train again."
        raise RunError(f"`{path}` is damaged: `{odd[0]}` holds numbers that are not finite", hint)
    with torch.no_grad():
        for name, mine in saved_tensors(model).items():
            mine.copy_(tensors[name])


def require_fitting(model: nn.Module, tensors: Mapping[str, Tensor], path: Path, prefix: str = "") -> None:
    """Raise if these are not the weights of this model. `prefix` stands before their names in the file."""
    problems = []
    for name, mine in saved_tensors(model).items():
        found = tensors.get(prefix + name)
        if found is None:
            problems.append(f"`{name}` is missing")
        elif found.shape != mine.shape or found.dtype != mine.dtype:
            problems.append(f"`{name}` is {found.dtype} {list(found.shape)}, expected {mine.dtype} {list(mine.shape)}")
    if problems:
        raise RunError(
            f"`{path}` does not hold this model: " + "; ".join(problems[:5]), "the file or `plan.json` was changed."
        )


def load_fitting(model: nn.Module, tensors: Mapping[str, Tensor]) -> tuple[list[str], list[str]]:
    """Take what fits by name and shape; returns the names that were taken, and those that stay as they were drawn."""
    mine = saved_tensors(model)
    taken = [name for name, tensor in mine.items() if name in tensors and tensors[name].shape == tensor.shape]
    with torch.no_grad():
        for name in taken:
            mine[name].copy_(tensors[name])
    return taken, [name for name in mine if name not in taken]
