"""The functions in C (`layers/c`), compiled when headway was installed.

Without them, because there was no compiler, torch computes the same, more slowly. Their threads are those of the OpenMP library that torch
has loaded; where it is another one, a single thread computes.
"""

import contextlib
import ctypes
from collections.abc import Iterator
from ctypes import c_int64, c_uint, c_void_p
from functools import cache
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from typing import Any

import torch

INTERFACE = 2  # of the functions that are called here; `interface` in `c/threads.c`
_counted = False


def library() -> Any:
    """The compiled functions, or None."""
    return None if _counted else _load()


def is_counted() -> bool:
    """Whether operations are being counted, so that none may be hidden or left out."""
    return _counted


@contextlib.contextmanager
def counted() -> Iterator[None]:
    """Compute with operations and kernels of torch alone, which its counter knows."""
    global _counted
    before, _counted = _counted, True
    try:
        yield
    finally:
        _counted = before


@cache
def _load() -> Any:
    paths = [Path(__file__).with_name(f"_compiled{suffix}") for suffix in EXTENSION_SUFFIXES]
    try:
        found = ctypes.CDLL(str(next(path for path in paths if path.exists())))
        found.interface.restype = c_int64
        if found.interface() != INTERFACE:
            return None
        found.linear.argtypes = (c_void_p, c_void_p, c_int64, c_int64, c_void_p, c_void_p, c_uint)
        found.decoder_step.argtypes = (c_void_p, c_int64, *[c_void_p] * 4, c_int64, c_void_p, c_uint)
        found.scan_forward.argtypes = found.scan_backward.argtypes = (c_void_p, c_uint)
        found.scan_piece.restype = found.scan_room.restype = c_int64
        found.scan_room.argtypes = (c_int64,)
    except (StopIteration, OSError, AttributeError):  # not compiled, for another machine, or of an older version
        return None
    try:
        omp = ctypes.CDLL(
            str(Path(torch.__file__).parent / "lib" / "libtorch_cpu.so")
        )  # also finds what it is linked with
        found.use_threads(omp.GOMP_parallel, omp.omp_get_thread_num, omp.omp_get_num_threads)
    except (OSError, AttributeError):  # torch has other threads
        pass
    return found
