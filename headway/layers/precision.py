"""Numbers that need more than half precision: complex ones, Fourier transforms and long sums."""

import contextlib

import torch
from torch import Tensor

HALF = (torch.bfloat16, torch.float16)


def widened(x: Tensor) -> Tensor:
    """The same numbers in float32 if they are of half precision, for which torch has no complex numbers."""
    return x.float() if x.dtype in HALF else x


def without_autocast(device: torch.device) -> contextlib.AbstractContextManager[object]:
    """Matrix products inside keep the type of their factors, also under `torch.autocast`."""
    if torch.amp.is_autocast_available(device.type) and torch.is_autocast_enabled(device.type):
        return torch.autocast(device.type, enabled=False)
    return contextlib.nullcontext()
