"""Make the most of the computer at hand: memory that is kept instead of returned, and no denormal numbers.

A training step allocates and frees the same large temporaries again and again. By default glibc returns them to the system each
time, and the system hands out zeroed pages anew: 15 to 25 % of a step on a CPU is page faults. Two thresholds end that.
"""

import ctypes
import os
import sys
from functools import cache

M_TRIM_THRESHOLD, M_TOP_PAD, M_MMAP_MAX = -1, -2, -4


def prepare(threads: int | None = None) -> int:
    """Set the process up for computing: allocator thresholds, threads, denormals. Returns the number of threads."""
    _keep_memory()
    import torch

    threads = threads or int(os.environ.get("OMP_NUM_THREADS") or cores())
    torch.set_num_threads(threads)
    torch.set_flush_denormal(True)
    return threads


@cache
def _keep_memory() -> None:
    if sys.platform == "linux":
        libc = ctypes.CDLL(None)
        if hasattr(libc, "mallopt"):
            for parameter, value in ((M_MMAP_MAX, 0), (M_TRIM_THRESHOLD, (1 << 31) - 1), (M_TOP_PAD, 1 << 26)):
                libc.mallopt(parameter, value)


def cores() -> int:
    """The cores this process may use (a container may have been given fewer than the machine has)."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
