"""A batch divided into shares: the rows of one process, or of one of several smaller batches.

Losses are sums with counts (`tasks/task.py`), so the loss of a batch is the sum of those of its shares, whatever their sizes:

    sum over rows in B of l(row) = sum over r of sum over rows in B_r of l(row),    B_r = rows r, r + n, r + 2n, ...

Neighbouring rows go to different shares, because batches are often sorted by length. A batch is divided by its own `take(rows)` if it has
one, otherwise each of its tensors is. One whose rows depend on each other (a graph; batch norm in the model) is not divided: each of n
processes computes all of it and counts it with weight 1/n.
"""

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

import torch
from torch import Tensor, nn

from headway.tasks.task import Batches, Located

B = TypeVar("B")


@dataclass(frozen=True)
class Share(Generic[B]):
    batch: B
    weight: float  # of its loss and its count in the sums of all shares
    whole: bool  # the same for all: it could not be divided


def share(batch: B, rank: int, world: int, model: nn.Module | None = None) -> Share[B]:
    """Share `rank` of `world` of a batch; if it has fewer rows than there are shares, the last ones are row 0 with weight 0."""
    if world == 1:
        return Share(batch, 1.0, True)
    rows = count_rows(batch)
    if rows is None or (model is not None and couples_rows(model)):
        return Share(batch, 1 / world, True)
    if rank >= rows:
        return Share(take(batch, torch.tensor([0])), 0.0, False)
    return Share(take(batch, torch.arange(rank, rows, world)), 1.0, False)


def share_of(batches: Batches[B], number: int, rank: int, world: int, model: nn.Module) -> Share[B]:
    """Share `rank` of `world` of batch `number`. Of a long text only the rows of the share are read, not all of the batch."""
    if world == 1 or not isinstance(batches, Located) or couples_rows(model):
        return share(batches[number], rank, world, model)
    starts = batches.starts(number)
    return Share(batches.at(starts[rank::world] if rank < len(starts) else starts[:1]), float(rank < len(starts)), False)


def couples_rows(model: nn.Module) -> bool:
    """Whether a row's answer depends on the other rows of the batch: a layer says so by `couples_rows`."""
    return any(getattr(layer, "couples_rows", False) for layer in model.modules())


def count_rows(batch: object) -> int | None:
    """The rows that a batch can be divided into; None if it cannot be divided."""
    if getattr(batch, "couples_rows", False):
        return None
    if hasattr(batch, "take"):
        return len(batch)  # type: ignore[arg-type]
    counts = {len(tensor) if tensor.dim() else None for tensor in _tensors(batch)}
    return counts.pop() if len(counts) == 1 else None


def take(batch: B, rows: Tensor) -> B:
    """The batch of these rows."""
    if hasattr(batch, "take"):
        return batch.take(rows)  # type: ignore[no-any-return]
    return mapped(batch, lambda tensor: tensor[rows])


def mapped(batch: B, change: Callable[[Tensor], Tensor]) -> B:
    """The batch with each of its tensors changed; batches are dataclasses or tuples of tensors."""
    if isinstance(batch, Tensor):
        return change(batch)  # type: ignore[return-value]
    if isinstance(batch, tuple):
        return type(batch)(mapped(item, change) for item in batch)  # type: ignore[return-value]
    if dataclasses.is_dataclass(batch) and not isinstance(batch, type):
        fields = {f.name: mapped(getattr(batch, f.name), change) for f in dataclasses.fields(batch)}
        return dataclasses.replace(batch, **fields)
    return batch


def moved(batch: B, device: torch.device) -> B:
    """The batch on the device."""
    return batch if device.type == "cpu" else mapped(batch, lambda tensor: tensor.to(device, non_blocking=True))


def _tensors(batch: object) -> list[Tensor]:
    found: list[Tensor] = []

    def note(tensor: Tensor) -> Tensor:
        found.append(tensor)
        return tensor

    mapped(batch, note)
    return found
