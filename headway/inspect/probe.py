"""The speed of this machine, measured in a few seconds: products of matrices, copies of bytes, and steps of a small copy of a model."""

import time
from collections.abc import Callable
from dataclasses import dataclass

import torch

from headway.core import machine
from headway.inspect.draft import Draft
from headway.inspect.step_cost import SAMPLED, StepCost
from headway.training.loop import Loop

SIDE = 1024  # of the matrices that are multiplied
COPIED = 1 << 26  # bytes that are copied: more than a cache holds
SECONDS = 1.5  # for each of the two rates
CALLS = 5  # at least: on a busy machine few fit into the time
STEPS = 3.0  # seconds for the steps of the copy
MANY = 200  # steps are enough
LONGEST = 0.5  # seconds that a step of the copy may take, by the two rates
CLOCK = time.thread_time if time.get_clock_info("thread_time").resolution < 1e-3 else time.perf_counter
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
    return Rates(2 * SIDE**3 / _fastest(lambda: a @ b), 2 * COPIED / _fastest(lambda: target.copy_(source)))


def _fastest(work: Callable[[], object]) -> float:
    """The seconds that this thread, which works as long as any other of ours, computed in the fastest of many calls."""
    work()
    times, until = list[float](), time.monotonic() + SECONDS
    while len(times) < CALLS or time.monotonic() < until:
        began = CLOCK()
        work()
        times.append(CLOCK() - began)
    return min(times)


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
    loop.learner.model.train()
    _step(loop, 0)  # the first loads kernels
    clock, processor, until = list[float](), list[float](), time.monotonic() + STEPS
    # The batches that were counted, and all of them equally often: where lengths differ, so do times.
    while len(clock) < SAMPLED or len(clock) % SAMPLED or (time.monotonic() < until and len(clock) < MANY):
        seen, began = time.monotonic(), time.process_time()
        _step(loop, len(clock) % SAMPLED)
        clock.append(time.monotonic() - seen)
        processor.append(time.process_time() - began)
    ratio = whole.seconds(rates.products, rates.copies) / cost.seconds(rates.products, rates.copies)
    seconds = sum(clock) / len(clock)
    share = cost.flops / seconds / rates.products
    return Timed(small.depth, batch, share, seconds * ratio, sum(processor) / len(processor) * ratio)


def _step(loop: Loop[object], step: int) -> None:
    loop.gradients(step)
    loop.update(step, loop.learner.norm())
