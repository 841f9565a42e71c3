"""Several processes that train one model together, on one machine or on many.

torch starts them (`torchrun --nproc-per-node 2 -m headway train ...`, or `headway train ... --processes 2`, see `launch.py`) and tells
each one in its environment how many there are (`WORLD_SIZE`) and which one it is (`RANK`). They talk through torch.distributed: gloo
between CPUs, NCCL between graphics processors. Process 0 alone writes files and reports progress; what it decides, all follow (`agree`).
A process that trains alone uses nothing of torch.distributed.
"""

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import TypeVar

import torch
import torch.distributed as dist
from torch.distributed.rendezvous import rendezvous

from headway.core.errors import UsageError
from headway.core.machine import started_together

LONGEST = timedelta(hours=12)  # how long the others wait while process 0 validates; one that died is noticed at once
T = TypeVar("T")
_left: list[object] = []  # groups that this process was in


@dataclass(frozen=True)
class Processes:
    """This process among those that train together."""

    rank: int = 0  # the number of this one
    world: int = 1  # how many there are
    sharded: bool = False  # each keeps a part of the model (`sharding.py`) instead of all of it

    @property
    def first(self) -> bool:
        """Whether this is the process that writes and reports."""
        return self.rank == 0

    def agree(self, value: T) -> T:
        """What process 0 passed here, in all processes; anything that JSON can hold."""
        if self.world == 1:
            return value
        text = json.dumps(value if self.first else None).encode()
        size = torch.tensor([len(text)])
        dist.broadcast(size, 0)
        data = (
            torch.frombuffer(bytearray(text), dtype=torch.uint8)
            if self.first
            else torch.empty(int(size), dtype=torch.uint8)
        )
        dist.broadcast(data, 0)
        return json.loads(bytes(data.tolist()))  # type: ignore[no-any-return]

    def sums(self, values: Sequence[float]) -> list[float]:
        """Each value, summed over all processes."""
        if self.world == 1:
            return list(values)
        total = torch.tensor(values, dtype=torch.float64)
        dist.all_reduce(total)
        return total.tolist()  # type: ignore[no-any-return]

    def wait(self) -> None:
        """Go on when all processes have come this far."""
        self.sums([0.0])

    def in_turn(self, work: Callable[[], T]) -> T:
        """Do the work in one process after the other: what process 0 wrote, the others find."""
        for rank in range(self.world):
            if rank == self.rank:
                done = work()
            self.wait()
        return done

    def place(self, device: str) -> torch.device:
        """The device of this process: each has a graphics processor of its own."""
        chosen = torch.device(device)
        if self.world > 1 and chosen.type == "cuda":
            chosen = torch.device("cuda", int(os.environ.get("LOCAL_RANK", self.rank)))
            torch.cuda.set_device(chosen)
        if self.world > 1 and chosen.type not in ("cpu", "cuda"):
            raise UsageError(f"several processes cannot train on `{device}`", "choose `--device cpu`, or one process.")
        return chosen


ALONE = Processes()


def restarts() -> int:
    """How often torch has started these processes again after one of them died."""
    return int(os.environ.get("TORCHELASTIC_RESTART_COUNT", "0"))


def join(sharded: bool = False) -> Processes:
    """Meet the other processes, if torch started this one with others."""
    if started_together() == 1:
        return ALONE
    if not dist.is_initialized():
        backend = "cpu:gloo,cuda:nccl" if torch.cuda.is_available() else "gloo"
        store, rank, world = next(rendezvous("env://"))
        if os.environ.get("LOCAL_WORLD_SIZE") == os.environ["WORLD_SIZE"]:
            # The launcher keeps the store when it starts the processes again, and in it the addresses of those that died
            # (https://github.com/pytorch/pytorch/issues/135712). Launchers of several machines count restarts differently.
            store = dist.PrefixStore(f"restart {restarts()}", store)
        dist.init_process_group(backend, store=store, rank=rank, world_size=world, timeout=LONGEST)
    return Processes(dist.get_rank(), dist.get_world_size(), sharded)


def leave() -> None:
    """Say goodbye, so that torch does not warn about resources at the end.

    The group itself is kept. A model that is trained by DDP holds it from C++, and would destroy it with Python's lock in its hands:
    that waits for the group's threads, one of which may wait for that lock. Python's own reference is given up without the lock.
    """
    if dist.is_initialized():
        _left.append(dist.group.WORLD)
        dist.destroy_process_group()


def is_loss_of_peer(problem: BaseException) -> bool:
    """Whether another process went away in the middle of a common operation: torch has no class for it, only words."""
    words = str(problem).lower()
    known = ("gloo", "nccl", "by peer", "connection closed", "connection was", "broken pipe")
    return not isinstance(problem, OSError) and any(word in words for word in known)  # those are of files and screens
