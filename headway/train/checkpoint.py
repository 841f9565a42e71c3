"""Everything that changes during training, in one file that is there whole or not at all.

model/*  average/*  optimizer/*/*       weights, their running average, and the moments of the optimizers
the note in the header                  step, rate scale, best score: plain JSON, nothing that depends on the clock
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
from headway.core.files import read_note, read_tensors, write_tensors
from headway.core.recipe import Training
from headway.layers.embedding import Embedding
from headway.layers.positions.learned import Learned
from headway.train.muon import Muon

FILE = "checkpoint.safetensors"


@dataclasses.dataclass(frozen=True)
class Note:
    """Where training stands."""

    step: int = 0  # steps done
    total: int = 0  # steps planned
    scale: float = 1.0  # the learning rate is multiplied by this; halved after each rollback
    rollbacks: int = 0
    best: float | None = None  # the best validation score so far, its nats per token, and when
    best_nats: float = 0.0
    best_step: int = 0
    stale: int = 0  # validations since then


class Learner:
    """A model, its running average and its optimizer: what one step changes."""

    def __init__(self, model: Any, training: Training) -> None:
        self.model = model
        self.average = copy.deepcopy(model).eval().requires_grad_(False)
        rows = {id(p) for m in model.modules() if isinstance(m, Embedding | Learned) for p in m.parameters()}  # looked up, not maps
        tables = [p for p in model.parameters() if id(p) in rows]
        inside = [p for p in model.parameters() if p.dim() == 2 and id(p) not in rows]
        vectors = [p for p in model.parameters() if p.dim() != 2]  # biases and norms are not decayed
        rate = training.rate or 1e-3
        adamw = [{"params": tables, "weight_decay": training.decay}, {"params": vectors, "weight_decay": 0.0}]
        self.optimizers: list[torch.optim.Optimizer] = []
        if training.optimizer == "muon":
            self.optimizers.append(Muon(inside, rate, weight_decay=training.decay))
        else:
            adamw.append({"params": inside, "weight_decay": training.decay})
        self.optimizers.append(torch.optim.AdamW(adamw, lr=rate, betas=(0.9, 0.98), fused=True))
        self.pairs = (list(self.average.parameters()), list(model.parameters()))

    def step(self, rate: float, clip: float, average: float) -> float:
        """One update from the gradients that are there; returns their norm before clipping."""
        norm = float(nn.utils.clip_grad_norm_(self.pairs[1], clip))
        if norm == norm and norm != float("inf"):
            for optimizer in self.optimizers:
                for group in optimizer.param_groups:
                    group["lr"] = rate
                optimizer.step()
            torch._foreach_lerp_(self.pairs[0], self.pairs[1], 1 - average)  # type: ignore[arg-type]
        self.model.zero_grad(set_to_none=True)
        return norm

    def tensors(self) -> dict[str, Tensor]:
        named = {f"model/{n}": p for n, p in stored(self.model).items()}
        named |= {f"average/{n}": p for n, p in stored(self.average).items()}
        for name, parameter in self.model.named_parameters():
            for optimizer in self.optimizers:
                named |= {f"optimizer/{name}/{key}": value for key, value in optimizer.state.get(parameter, {}).items()}
        return named

    def save(self, folder: Path, note: Note, recipe: dict[str, Any]) -> None:
        text = json.dumps({"note": to_json(note), "recipe": recipe}, sort_keys=True)
        write_tensors(folder / FILE, self.tensors(), text)

    def load(self, folder: Path) -> Note:
        """Continue from the checkpoint: weights, moments and step count are exactly those that were saved."""
        path = folder / FILE
        tensors, (note, _) = read_tensors(path), read_header(path)
        fill(self.model, tensors, path, "model/")
        fill(self.average, tensors, path, "average/")
        owners = {id(p): o for o in self.optimizers for group in o.param_groups for p in group["params"]}
        for name, parameter in self.model.named_parameters():
            state = {n.rpartition("/")[2]: t for n, t in tensors.items() if n.rpartition("/")[0] == f"optimizer/{name}"}
            if any(t.dim() and t.shape != parameter.shape for t in state.values()):
                raise RunError(f"`{path}` is damaged: the moments of `{name}` do not fit", "train again.")
            owners[id(parameter)].state[parameter] = state
        return note


def read_header(path: Path) -> tuple[Note, Any]:
    """The note and the recipe of a checkpoint."""
    try:
        header = json.loads(read_note(path))
        return from_json(Note, header["note"], str(path)), header["recipe"]
    except (json.JSONDecodeError, KeyError, TypeError, ConfigError) as problem:
        raise RunError(f"`{path}` is damaged: {problem}", "restore the file from a copy, or train again.") from problem


def stored(model: nn.Module) -> dict[str, Tensor]:
    """What a file keeps of a model: its parameters, each once, and what it drew or counted (persistent buffers)."""
    kept = model.state_dict()
    return dict(model.named_parameters()) | {name: buffer for name, buffer in model.named_buffers() if name in kept}


def fill(model: nn.Module, tensors: dict[str, Tensor], path: Path, prefix: str = "") -> None:
    """Put stored weights into a model, all of them or none."""
    problems = []
    for name, mine in stored(model).items():
        found = tensors.get(prefix + name)
        if found is None:
            problems.append(f"`{name}` is missing")
        elif found.shape != mine.shape or found.dtype != mine.dtype:
            problems.append(f"`{name}` is {found.dtype} {list(found.shape)}, expected {mine.dtype} {list(mine.shape)}")
    if problems:
        raise RunError(f"`{path}` does not hold this model: " + "; ".join(problems[:5]), "the file or `plan.json` was changed.")
    with torch.no_grad():
        for name, mine in stored(model).items():
            mine.copy_(tensors[prefix + name])
