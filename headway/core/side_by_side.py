"""Independent pieces of work in parallel, one core each.

A step of decoding multiplies matrices of a few dozen rows, and Muon matrices of a few hundred: too few for two cores to share, but
enough for each core to have work of its own. torch releases Python's lock inside every operation, so threads are enough.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


def side_by_side(work: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
    """`work` for every item, as many at a time as torch may use threads."""
    import torch

    before = torch.get_num_threads()
    threads = min(before, len(items))
    if threads < 2:
        return [work(item) for item in items]

    grad, inference = torch.is_grad_enabled(), torch.is_inference_mode_enabled()

    def in_this_mode(item: Item) -> Result:  # modes belong to threads, and inference mode decides about gradients first
        with torch.inference_mode(inference), torch.set_grad_enabled(grad):
            return work(item)

    def alone() -> None:
        torch.set_num_threads(1)  # for this worker, and for threads that start later: hence the `finally` below
        torch.set_flush_denormal(True)

    try:
        with ThreadPoolExecutor(threads, initializer=alone) as pool:
            return list(pool.map(in_this_mode, items))
    finally:
        torch.set_num_threads(before)
