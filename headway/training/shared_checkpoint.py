"""The checkpoint of several processes, through torch.distributed.checkpoint: each writes a part of the tensors at the same time.

checkpoint.json       which directory of parts is valid, with the state and the plan: the header of the checkpoint
checkpoint_parts/     one directory for each checkpoint; all but the valid one are removed

The parts are safetensors files, and what each holds is written in their headers. So any number of processes can read them, each the
rows that it needs, and so can one process without torch.distributed. A new directory becomes valid when `checkpoint.json` names it: one
process or all may be killed at any moment.
"""

import shutil
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

import torch
import torch.distributed as dist
from torch import Tensor

from headway.core.errors import RunError
from headway.core.files import disk_errors, read_json, write_json
from headway.training.learner import Learner
from headway.training.processes import Processes, is_loss_of_peer

if TYPE_CHECKING:
    from torch.distributed.checkpoint.metadata import TensorStorageMetadata

POINTER = "checkpoint.json"
PARTS = "checkpoint_parts"


def write_shared(folder: Path, learner: Learner, header: dict[str, object], processes: Processes) -> None:
    """Write what a step changes, from all processes together; afterwards the old parts are removed."""
    import torch.distributed.checkpoint as dcp  # heavy: every verb that opens a run imports this file

    place = folder / PARTS / processes.agree(_free_name(folder))
    with disk_errors(place):
        place.mkdir(parents=True, exist_ok=True)
        writer = dcp.HuggingFaceStorageWriter(str(place), save_distributed=True)
        try:
            dcp.save(dict(learner.tensors()), storage_writer=writer)
        except dcp.api.CheckpointException as problem:
            full = [found for found, _ in problem.failures.values() if isinstance(found, OSError)]
            raise full[0] if full else RuntimeError(str(problem)) from problem
    if processes.first:
        write_json(folder / POINTER, {"parts": place.name, **header})
        for other in (folder / PARTS).iterdir():
            if other.name != place.name:
                shutil.rmtree(other)
    processes.wait()


def _free_name(folder: Path) -> str:
    there = [int(path.name) for path in (folder / PARTS).glob("*") if path.name.isdigit()]
    return str(max(there, default=0) + 1)


def read_shared(path: Path, learner: Learner) -> dict[str, Tensor]:
    """The tensors that were written; a learner that keeps rows of its tensors gets those rows."""
    import torch.distributed.checkpoint as dcp

    header = read_json(path)
    try:
        reader = dcp.HuggingFaceStorageReader(str(path.with_name(PARTS) / header["parts"]))
        stored = reader.read_metadata().state_dict_metadata
        mine = learner.tensors() | {f"optimizer/{n}": p for n, p in learner.model.named_parameters()}
        wanted = {name: _blank(name, about, mine) for name, about in stored.items()}  # type: ignore[arg-type]
        with warnings.catch_warnings():  # that one process reads alone is what is meant
            warnings.filterwarnings("ignore", "torch.distributed is disabled")
            dcp.load(wanted, storage_reader=reader, no_dist=not dist.is_initialized())
    except Exception as problem:  # what torch's reader raises on a damaged file is of any class
        if is_loss_of_peer(problem):
            raise
        failures = problem.failures.values() if isinstance(problem, dcp.api.CheckpointException) else ()
        reason = next((str(found) for found, _ in failures), str(problem))  # torch's own text is a traceback
        hint = "restore them from a copy, or train again."
        raise RunError(f"`{path}` or its parts are damaged: {reason}", hint) from problem
    return wanted


def _blank(name: str, about: "TensorStorageMetadata", mine: dict[str, Tensor]) -> Tensor:
    """A tensor to read into: like mine of that name; moments are like their parameter, a count of steps is a number."""
    like = mine.get(name, mine.get(name.rpartition("/")[0]))
    if like is not None and like.shape == about.size and like.dtype == about.properties.dtype:
        return torch.empty_like(like, requires_grad=False)
    return torch.empty(about.size, dtype=about.properties.dtype)


def forget_shared(folder: Path) -> None:
    """Remove the checkpoint of several processes: one process has written a later one."""
    if (folder / POINTER).exists():
        (folder / POINTER).unlink()
        shutil.rmtree(folder / PARTS, ignore_errors=True)
