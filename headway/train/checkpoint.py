"""Everything that changes during training, in one file that is there whole or not at all.

    model/*  average/*  first/*  second/*       weights, their running average, and the two moments of AdamW
    the note in the header                      step, rate scale, best score: plain JSON, nothing that depends on the clock
"""

import copy
import dataclasses
import json
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from headway.core.config import from_json, to_json
from headway.core.errors import ConfigError, RunError
from headway.core.files import read_tensors, write_tensors
from headway.core.recipe import Training

FILE = "checkpoint.safetensors"


@dataclasses.dataclass(frozen=True)
class Note:
    """Where training stands."""

    step: int = 0  # steps done
    total: int = 0  # steps planned
    scale: float = 1.0  # the learning rate is multiplied by this; halved after each rollback
    rollbacks: int = 0
    best: float | None = None  # the best validation score so far, and when
    best_step: int = 0
    stale: int = 0  # validations since then


class Learner:
    """A model, its running average and its optimizer: what one step changes."""

    def __init__(self, model: Any, training: Training) -> None:
        self.model = model
        self.average = copy.deepcopy(model).eval().requires_grad_(False)
        matrices = [p for p in model.parameters() if p.dim() > 1]
        others = [p for p in model.parameters() if p.dim() <= 1]  # biases and norms are not decayed
        groups = [{"params": matrices, "weight_decay": training.decay}, {"params": others, "weight_decay": 0.0}]
        self.optimizer = torch.optim.AdamW(groups, lr=training.rate or 1e-3, betas=(0.9, 0.98), fused=True)
        self.pairs = (list(self.average.parameters()), list(model.parameters()))

    def step(self, rate: float, clip: float, average: float) -> float:
        """One update from the gradients that are there; returns their norm before clipping."""
        norm = float(nn.utils.clip_grad_norm_(self.pairs[1], clip))
        if norm == norm and norm != float("inf"):
            for group in self.optimizer.param_groups:
                group["lr"] = rate
            self.optimizer.step()
            torch._foreach_lerp_(self.pairs[0], self.pairs[1], 1 - average)  # type: ignore[arg-type]
        self.optimizer.zero_grad(set_to_none=True)
        return norm

    def tensors(self) -> dict[str, Tensor]:
        named = {f"model/{n}": p for n, p in self.model.named_parameters()}
        named |= {f"average/{n}": p for n, p in self.average.named_parameters()}
        for name, parameter in self.model.named_parameters():
            state = self.optimizer.state.get(parameter)
            if state:
                named |= {f"first/{name}": state["exp_avg"], f"second/{name}": state["exp_avg_sq"]}
        return named

    def save(self, folder: Path, note: Note, recipe: dict[str, Any]) -> None:
        text = json.dumps({"note": to_json(note), "recipe": recipe}, sort_keys=True)
        write_tensors(folder / FILE, self.tensors(), text)

    def load(self, folder: Path) -> Note:
        """Continue from the checkpoint: weights, moments and step count are exactly those that were saved."""
        path = folder / FILE
        tensors, note, _ = read(path)
        fill(self.model, tensors, path, "model/")
        fill(self.average, tensors, path, "average/")
        for name, parameter in self.model.named_parameters():
            if f"first/{name}" in tensors:
                moments = [tensors.get(f"{kind}/{name}") for kind in ("first", "second")]
                if any(m is None or m.shape != parameter.shape for m in moments):
                    raise RunError(f"`{path}` is damaged: the optimizer's moments of `{name}` do not fit")
                step = torch.tensor(float(note.step))
                self.optimizer.state[parameter] = {"step": step, "exp_avg": moments[0], "exp_avg_sq": moments[1]}
            else:
                self.optimizer.state.pop(parameter, None)
        return note


def read(path: Path) -> tuple[dict[str, Tensor], Note, Any]:
    """The tensors, the note and the recipe of a checkpoint."""
    tensors, text = read_tensors(path)
    try:
        header = json.loads(text)
        return tensors, from_json(Note, header["note"], str(path)), header["recipe"]
    except (json.JSONDecodeError, KeyError, TypeError, ConfigError) as problem:
        raise RunError(f"`{path}` is damaged: {problem}", "restore the file from a copy, or train again.") from problem


def fill(model: nn.Module, tensors: dict[str, Tensor], path: Path, prefix: str = "") -> None:
    """Put stored weights into a model, all of them or none."""
    problems = []
    for name, parameter in model.named_parameters():
        stored = tensors.get(prefix + name)
        if stored is None:
            problems.append(f"`{name}` is missing")
        elif stored.shape != parameter.shape or stored.dtype != parameter.dtype:
            problems.append(f"`{name}` is {stored.dtype} {list(stored.shape)}, expected {parameter.dtype} {list(parameter.shape)}")
    if problems:
        raise RunError(f"`{path}` does not hold this model: " + "; ".join(problems[:5]), "the file or `plan.json` was changed.")
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            parameter.copy_(tensors[prefix + name])
