"""The computer at hand: its cores and its memory, and settings that make it compute faster.

A training step allocates and frees the same large temporaries again and again. By default glibc returns them to the
system each time, and the system hands out zeroed pages anew: 15 to 25 % of a step on a CPU is page faults. Two
thresholds end that.
"""

import ctypes
import os
import sys
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from headway.core.errors import ConfigError

M_TRIM_THRESHOLD, M_TOP_PAD, M_MMAP_MAX = -1, -2, -4
FLOAT32 = 4  # bytes
ROOT = Path("/")


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


def return_memory() -> None:
    """Give the pages that nothing uses back to the system.

    Thresholds as above keep every freed piece. Steps use the same pieces again and again; what happens in between (a validation, in
    threads of its own) leaves pieces of other sizes, and a long training would grow by some of them each time.
    """
    if sys.platform == "linux":
        libc = ctypes.CDLL(None)
        if hasattr(libc, "malloc_trim"):  # glibc's; others have no thresholds either
            libc.malloc_trim(0)


def cores() -> int:
    """The cores this process may use (a container may have been given fewer than the machine has)."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@cache
def mkl_ignores_avx512(root: Path = ROOT) -> bool:
    """Whether this processor has AVX-512 and is not made by Intel: then MKL, which is, uses AVX2 only.

    Not if torch was told to do without it, as the benchmarks do to find out about other processors (`ATEN_CPU_CAPABILITY=avx2`).
    """
    text = _read(root / "proc/cpuinfo")
    values = {name.strip(): value.split() for name, _, value in (line.partition(":") for line in text.splitlines())}
    has = "avx512f" in values.get("flags", []) and os.environ.get("ATEN_CPU_CAPABILITY", "avx512") == "avx512"
    return has and values.get("vendor_id", ["GenuineIntel"]) != ["GenuineIntel"]


def shares_cores(root: Path = ROOT, samples: int = 3) -> bool:
    """Whether other programs compute at this moment, so many that one of ours would wait for a core; False where the system does not say.

    root      where `/proc` is
    samples   glances, a millisecond apart: a program that only passes by is not seen in all of them
    """
    for glance in range(samples):
        if glance:
            time.sleep(0.001)
        # 0.31 0.25 0.20 2/345 6789: two of 345 threads run, we are one of them
        fields = _read(root / "proc/loadavg").split()
        running = fields[3].partition("/")[0] if len(fields) > 3 else ""
        if not running.isdigit() or int(running) - 1 + cores() <= (os.cpu_count() or 1):
            return False
    return True


def started_together() -> int:
    """How many processes torchrun started together with this one, as it says in the environment; 1 without torchrun."""
    return int(os.environ.get("WORLD_SIZE", "1")) if "RANK" in os.environ else 1


# -- memory ----------------------------------------------------------------------------------------------------------


def expected_memory(parameters: int, moments: int = 2) -> int:
    """The bytes that training a model takes at least: weights, their average, gradients, and the optimizer's moments.

    AdamW has two moments and Muon one, so this is 20 or 16 bytes per parameter. Activations come on top: they depend on
    the batch.
    """
    return FLOAT32 * parameters * (3 + moments)


def require_memory(parameters: int) -> None:
    """Raise a `ConfigError` if a model of so many parameters cannot be trained in the memory that is available.

    To be called before the model is built: built under `torch.device("meta")`, a model has parameters to count and
    takes no memory.
    """
    needed, there = expected_memory(parameters), available_memory()
    if there is not None and needed > there:
        raise ConfigError(
            f"training a model of {parameters:,} parameters takes at least {needed / 1e9:,.1f} GB of memory (weights, "
            f"average, gradients and moments), but {there / 1e9:,.1f} GB are available",
            "lower `--model.width` or `--model.depth`; if the vocabulary is large, `--vocabulary`.",
        )


def available_memory(root: Path = ROOT) -> int | None:
    """The bytes that this process can still use, or None where the system does not say.

    On Linux that is what the kernel can free, but no more than the limits of its control groups (containers) leave; on
    macOS it is all the memory there is. `root` is where `/proc` and `/sys` are.
    """
    system = _field(root / "proc/meminfo", "MemAvailable:")
    found = [1024 * system] if system is not None else []
    if not found and root == ROOT and hasattr(os, "sysconf"):
        found = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")]
    return min([*found, *_container_limits(root)], default=None)


def held_memory(root: Path = ROOT) -> int | None:
    """The bytes that this process holds now, with the pages of code and files that it has touched; None where the system does not say."""
    held = _field(root / "proc/self/status", "VmRSS:")
    return None if held is None else 1024 * held


def peak_memory(root: Path = ROOT) -> int | None:
    """The most bytes that this process held at one time, or None where the system does not say.

    Linux: `VmHWM`. `getrusage` counts in what the parent held when it started this process, which may be far more.
    """
    held = _field(root / "proc/self/status", "VmHWM:")
    if held is not None:
        return 1024 * held
    if sys.platform == "win32":
        return None
    import resource

    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else 1024 * most


def is_out_of_memory(problem: BaseException) -> bool:
    """Whether memory was refused. torch has a class for that on graphics processors alone; elsewhere there are only its words."""
    words = f"{type(problem).__name__} {problem}".lower()
    known = ("outofmemory", "out of memory", "not enough memory", "alloc")
    return isinstance(problem, MemoryError) or (isinstance(problem, RuntimeError) and any(w in words for w in known))


def _container_limits(root: Path) -> Iterator[int]:
    """What the limit of each control group (version 1 or 2) that holds this process leaves, innermost first."""
    for line in _read(root / "proc/self/cgroup").splitlines():
        _, controllers, group = line.split(":", 2)
        if controllers and "memory" not in controllers.split(","):
            continue
        top = root / "sys/fs/cgroup" / ("memory" if controllers else "")
        limit, usage = ("limit_in_bytes", "usage_in_bytes") if controllers else ("max", "current")
        inside = top / group.lstrip("/")
        for folder in [inside, *(parent for parent in inside.parents if parent.is_relative_to(top))]:
            allowed, used = (_read(folder / f"memory.{name}").strip() for name in (limit, usage))
            if allowed.isdigit() and used.isdigit():  # `max` is no limit
                # Files that are held in memory for speed count as used, but are given up when memory is needed.
                yield max(0, int(allowed) - int(used) + (_field(folder / "memory.stat", "inactive_file") or 0))


def _read(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:  # another system, or no permission
        return ""


def _field(path: Path, name: str) -> int | None:
    """The number after a name at the beginning of a line."""
    rows = (line.split() for line in _read(path).splitlines())
    return next((int(row[1]) for row in rows if row and row[0] == name), None)
