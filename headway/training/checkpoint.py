"""Everything that changes during training, in one file that is there whole or not at all.

model/*  average/*  optimizer/*/*       weights, their running average, and the moments of the optimizers
the state in the header                 step, rate scale, best score: plain JSON, nothing that depends on the clock

Several processes write a directory together instead (`shared_checkpoint.py`); either kind is continued by any number of processes.
"""

import dataclasses
import json
from pathlib import Path

from headway.core.config import from_json, to_json
from headway.core.errors import ConfigError, RunError
from headway.core.files import parse_json, read_json, read_note, read_tensors, write_tensors
from headway.models.weights import require_fitting
from headway.tasks.folder import MEMBERS, WEIGHTS
from headway.training.learner import Learner
from headway.training.processes import Processes
from headway.training.shared_checkpoint import POINTER, forget_shared, read_shared, write_shared

FILE = "checkpoint.safetensors"


@dataclasses.dataclass(frozen=True)
class TrainState:
    """Where training stands."""

    step: int = 0  # steps done
    total: int = 0  # steps planned
    scale: float = 1.0  # the learning rate is multiplied by this; lowered after each rollback
    rollbacks: int = 0
    first: float | None = None  # the loss of the first step: a loss far above it is divergence
    best: float | None = None  # the best validation score so far, and when
    best_step: int = 0
    stale: int = 0  # validations since then
    validations: int = 0
    parts: int = 1  # how many each batch is computed in; more than 1 if the memory did not suffice once (`memory.py`)


def save_checkpoint(folder: Path, learner: Learner, state: TrainState, plan: object) -> None:
    text = json.dumps({"state": to_json(state), "plan": plan}, sort_keys=True)
    write_tensors(folder / FILE, learner.tensors(), text)
    forget_shared(folder)


def save_together(folder: Path, learner: Learner, state: TrainState, plan: object, processes: Processes) -> None:
    """The checkpoint of several processes: each writes a part; process 0 then says that they are the valid ones."""
    write_shared(folder, learner, {"state": to_json(state), "plan": plan}, processes)
    if processes.first:
        (folder / FILE).unlink(missing_ok=True)


def find_checkpoint(folder: Path) -> Path | None:
    """The file with the header of the latest checkpoint. Both kinds exist only if a process was killed while it changed the kind."""
    found = [folder / name for name in (FILE, POINTER) if (folder / name).exists()]
    if len(found) < 2:
        return found[0] if found else None
    return max(found, key=lambda path: (read_header(path)[0].rollbacks, read_header(path)[0].step))


def load_checkpoint(folder: Path, learner: Learner) -> TrainState:
    """Continue from the checkpoint: weights, moments and step count are exactly those that were saved."""
    path = find_checkpoint(folder) or folder / FILE
    tensors, (state, _) = read_shared(path, learner) if path.name == POINTER else read_tensors(path), read_header(path)
    require_fitting(learner.model, tensors, path, "model/")
    require_fitting(learner.average, tensors, path, "average/")
    for name, parameter in learner.model.named_parameters():
        moments = [t for n, t in tensors.items() if n.rpartition("/")[0] == f"optimizer/{name}"]
        if any(t.dim() and t.shape != parameter.shape for t in moments):
            raise RunError(f"`{path}` is damaged: the moments of `{name}` do not fit", "train again.")
    learner.restore(tensors)
    return state


def read_header(path: Path) -> tuple[TrainState, object]:
    """The state and the plan of a checkpoint; its tensors are not read."""
    try:
        header = read_json(path) if path.name == POINTER else parse_json(read_note(path))
        return from_json(TrainState, header["state"], str(path)), header["plan"]
    except (json.JSONDecodeError, KeyError, TypeError, ConfigError) as problem:
        raise RunError(f"`{path}` is damaged: {problem}", "restore the file from a copy, or train again.") from problem


def finished(out: Path) -> str | None:
    """Why there is nothing left to do in this run, or None."""
    if (out / MEMBERS).is_dir() and (out / WEIGHTS).exists():
        return "all members are trained"
    path = find_checkpoint(out)
    if path is None or not (out / "plan.json").exists():
        return None
    state, _ = read_header(path)
    value = read_json(out / "plan.json")
    patience = value.get("training", {}).get("patience") if isinstance(value, dict) else None
    if state.step >= state.total > 0:
        return f"all {state.total:,} steps are done"
    if isinstance(patience, int) and state.stale >= patience:
        return f"it stopped early at step {state.step:,}, after {state.stale} validations without a better score"
    return None
