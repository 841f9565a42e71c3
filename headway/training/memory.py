"""A batch that does not fit into memory is computed in parts, one after the other.

A loss is a sum over rows (`shares.py`), so its gradient is the sum of those of the parts, whatever their number:

    grad of sum over rows in B of l(row) = sum over r of grad of sum over rows in B_r of l(row)

The step is the same up to rounding, with two exceptions. Dropout draws other numbers for parts than for the whole: another sample of the
same distribution. Batch norm sees the mean and variance of each part instead of those of the batch, and counts each part into its
running averages; it needs two rows. A batch whose rows depend on each other (a graph) is not divided.

That a step did not fit may be due to other programs and need not happen again. So the number of parts is a part of the state of training:
it stays until the end and is written into a checkpoint at once. A resumed run divides what the run divided, and ends with the same bits.
Processes that train together keep to the number in the checkpoint, but do not raise it: the others would wait for the one that failed.
"""

from collections.abc import Callable, Iterator
from typing import TypeVar

import torch
from torch import nn

from headway.core.machine import is_out_of_memory
from headway.training.shares import count_rows, couples_rows, take

B = TypeVar("B")
T = TypeVar("T")


def divided(batch: B, parts: int) -> Iterator[B]:
    """The batch in so many parts, or in as many as it has rows."""
    count = min(parts, count_rows(batch) or 1) if parts > 1 else 1
    for part in range(count):
        yield batch if count == 1 else take(batch, torch.arange(part, count_rows(batch) or 1, count))


def most_parts(batch: object, model: nn.Module) -> int:
    """The number of parts that a batch can be divided into."""
    return max(1, (count_rows(batch) or 1) // (2 if couples_rows(model) else 1))


def in_fewest_parts(
    work: Callable[[int], T], parts: int, most: Callable[[], int], undo: Callable[[], None]
) -> tuple[T, int]:
    """What `work(parts)` gives, and the number of parts: twice as many as before whenever the memory does not suffice.

    most   how many there can be; asked for only then
    undo   takes back what an attempt that failed has changed
    """
    while True:
        try:
            return work(parts), parts
        except (MemoryError, RuntimeError) as problem:
            if not is_out_of_memory(problem) or parts >= (limit := most()):
                raise
        # The problem is forgotten here, and with it all tensors of the attempt.
        undo()
        parts = min(2 * parts, limit)


def divided_message(step: int, parts: int, model: nn.Module) -> str:
    """What a person is told when the number of parts has grown."""
    same = "the gradients are the same up to rounding"
    if couples_rows(model):
        same = "batch norm sees each part alone, so training is not quite the same"
    return f"a batch does not fit into memory: from step {step:,} on each is computed in {parts} parts; {same}"
