"""The prefix scan against the loop, there and back: h_t = a_t h_{t-1} + b_t at lengths 64 to 16,384.

    python benchmarks/scan.py

One sequence of 64 real, and of 64 complex numbers; a batch of 16 sequences of 256. `scan` is what min_gru, lru, s5 and mamba are trained
with (`headway/layers/recurrences/scan.py`); `loop` is the recurrence as it is written. Medians of five runs after one that is not counted
(the first use of memory is slow).
"""

import argparse
import time
from collections.abc import Callable
from statistics import median

import torch
from rows import Row, append_rows
from torch import Tensor

from headway.core import machine
from headway.layers.recurrences.scan import linear_scan

LENGTHS = (64, 128, 256, 512, 1024, 4096, 16384)


def loop(a: Tensor, b: Tensor) -> Tensor:
    h, states = torch.zeros_like(b[:, 0]), []
    for at, bt in zip(a.unbind(1), b.unbind(1), strict=True):
        h = torch.addcmul(bt, at, h)
        states.append(h)
    return torch.stack(states, 1)


def seconds(run: Callable[[Tensor, Tensor], Tensor], a: Tensor, b: Tensor) -> float:
    times = []
    for _ in range(6):
        began = time.perf_counter()
        torch.autograd.grad(run(a, b).abs().sum(), (a, b))
        times.append(time.perf_counter() - began)
    return median(times[1:])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", metavar="FILE", help="append the ratios to this file")
    given = parser.parse_args()
    machine.prepare()
    for kind, batch, width in ((torch.float32, 1, 64), (torch.complex64, 1, 64), (torch.float32, 16, 256)):
        print(f"{batch} x t x {width}, {str(kind).removeprefix('torch.')}\n  length   scan (ms)   loop (ms)   times as fast")
        for t in LENGTHS:
            a, b = (torch.rand(batch, t, width, dtype=kind).requires_grad_() for _ in range(2))
            scan, walk = seconds(linear_scan, a, b), seconds(loop, a, b)
            print(f"  {t:6}   {1e3 * scan:9.2f}   {1e3 * walk:9.2f}   {walk / scan:.1f}", flush=True)
            if t == 512:
                name = f"prefix scan, {batch} x {t} x {width}, {'complex' if kind.is_complex else 'real'}"
                append_rows(given.rows, [Row(name, "loop", walk / scan, least=1.0)])
