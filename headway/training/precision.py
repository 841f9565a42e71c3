"""The precision of training: float32, or bfloat16 for the large products.

bfloat16 has the range of float32 and 8 bits of precision. Under `autocast` products are computed in it, while weights,
gradients, moments and sums stay in float32 (mixed precision: Micikevicius et al. 2018,
https://arxiv.org/abs/1710.03740). Whether that is faster depends on the processor, so `auto` measures it.
"""

import contextlib
import json
import subprocess
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Literal, get_args

import torch

from headway.core.errors import UnknownName
from headway.tasks.recipe import Precision

Arithmetic = Literal["float32", "bfloat16"]  # what is computed in

PROBE = Path(__file__).with_name("precision_probe.py")
TIMEOUT = 60.0  # seconds; the probe takes 3 or 4, most of them to import torch
GAIN = 0.9  # bfloat16 costs precision, so it must save at least a tenth of the time


def choose_precision(asked: Precision, device: torch.device) -> Arithmetic:
    """The precision to train in. `auto` takes bfloat16 on a CPU if it measures as faster, on CUDA if supported."""
    if asked not in get_args(Precision):
        raise UnknownName("precision", str(asked), get_args(Precision))
    if asked != "auto":
        return asked
    if device.type == "cuda":
        return "bfloat16" if torch.cuda.is_bf16_supported(including_emulation=False) else "float32"
    return _measured(torch.get_num_threads()) if device.type == "cpu" else "float32"


@cache
def _measured(threads: int) -> Arithmetic:
    return faster([sys.executable, "-P", str(PROBE), str(threads)])


def faster(command: Sequence[str], timeout: float = TIMEOUT) -> Arithmetic:
    """What the command measures to be faster. If it dies (an illegal instruction), hangs or prints no time: float32."""
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=timeout, check=True
        )
        times = json.loads(done.stdout)
        return "bfloat16" if times["bfloat16"] < GAIN * times["float32"] else "float32"
    except (OSError, subprocess.SubprocessError, ValueError, KeyError, TypeError):
        return "float32"


def autocast(device: torch.device, precision: Arithmetic) -> contextlib.AbstractContextManager[object]:
    """A context for the forward pass and the loss that computes products in this precision; backward follows."""
    return torch.autocast(device.type, torch.bfloat16) if precision == "bfloat16" else contextlib.nullcontext()
