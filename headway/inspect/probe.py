"""The speed of this machine, measured in a few seconds: products of matrices, copies of bytes, and steps of a small copy of a model."""

import statistics
import time
from dataclasses import dataclass

import torch
from torch.utils.benchmark import Timer

from headway.core import machine
from headway.inspect.draft import Draft
from headway.inspect.step_cost import StepCost

SIDE = 1024  # of the matrices that are multiplied
COPIED = 1 << 26  # bytes that are copied: more than a cache holds
SECONDS = 1.5  # for each of the two rates
STEPS = 3.0  # seconds for the steps of the copy
LONGEST = 0.5  # seconds that a step of the copy may take, by the two rates
SHARE = 0.25  # of the memory that is available, for the copy


@dataclass(frozen=True)
class Rates:
    """What this machine reaches at best."""

    products: float  # FLOP/s in float32
    copies: float  # bytes per second, read and written


@dataclass(frozen=True)
class Timed:
    """Steps of a copy that were timed, and what follows for a step of the whole."""

    depth: int | None  # of the copy
    batch: int
    utilisation: float  # FLOP/s of the copy as a share of what products alone reach
    seconds: float  # of a step of the whole, by the clock
    processor: float  # the same in seconds of one core: other programs on the machine do not count


def measure_rates() -> Rates:
    """The fastest of many products and of many copies: what other programs take does not count."""
    machine.prepare()
    a, b = torch.randn(SIDE, SIDE), torch.randn(SIDE, SIDE)
    source = torch.zeros(COPIED // 4)
    target = torch.zeros_like(source)
    threads = torch.get_num_threads()
    product = Timer("a @ b", globals={"a": a, "b": b}, num_threads=threads).blocked_autorange(min_run_time=SECONDS)
    copy = Timer("t.copy_(s)", globals={"t": target, "s": source}, num_threads=threads)
    return Rates(2 * SIDE**3 / min(product.times), 2 * COPIED / min(copy.blocked_autorange(min_run_time=SECONDS).times))


def time_steps(draft: Draft, whole: StepCost, rates: Rates) -> Timed:
    """Train a copy for a few steps. It has fewer blocks, then smaller batches, until a step is short; the rest is arithmetic.

    t(whole) = t(copy) c(whole) / c(copy)        c = FLOPs / rate of products + bytes / rate of copies
    """
    batch, small, cost = draft.settle(None).batch, draft, whole
    there = machine.available_memory() or float("inf")
    while cost.seconds(rates.products, rates.copies) > LONGEST or cost.peak > SHARE * there:
        depth = small.depth
        if depth is not None and depth > 2:
            small = small.with_depth(depth // 2)
        else:
            batch //= 2
        smaller = small.cost(max(1, batch))
        if smaller.units == cost.units and small.depth == depth:  # one example
            break
        cost = smaller
    loop = small.loop(max(1, batch), real=True)
    loop.gradients(0)  # the first pass loads kernels
    loop.learner.model.zero_grad(set_to_none=True)
    began = time.process_time()
    times = loop.timed_steps(STEPS)
    processor = (time.process_time() - began) / len(times)
    ratio = whole.seconds(rates.products, rates.copies) / cost.seconds(rates.products, rates.copies)
    seconds = statistics.median(times[1:])
    return Timed(small.depth, batch, cost.flops / seconds / rates.products, seconds * ratio, processor * ratio)
