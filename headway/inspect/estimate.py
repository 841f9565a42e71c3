"""What a training would cost on given devices: memory by kind of parallelism, time and energy."""

from dataclasses import dataclass

from headway.core import machine
from headway.inspect.devices import Devices
from headway.inspect.draft import Draft
from headway.inspect.probe import Rates, Timed, measure_rates, time_steps
from headway.inspect.step_cost import StepCost
from headway.training.plan import Settings

LOADED = 130e6  # bytes that a training loads besides its tensors: code of kernels, what validates and writes (benchmarks/plan.py)
KEPT = 1.6  # the heap of a process for each byte of its tensors: what is freed in pieces is not all used again (benchmarks/plan.py)
GATHERED = 3  # a sharded model holds two blocks whole (one computes, the next arrives) and the gradients of one


@dataclass(frozen=True)
class Memory:
    """Bytes on one device.

        one process      4 W = weights + gradients + moments + average    and activations of the whole batch
        data parallel    the same, activations of a share of the batch, and the gradients once more in the buffers that are exchanged
        sharded          a share of everything, and the weights that are gathered to compute with

    Rajbhandari et al. 2020, https://arxiv.org/abs/1910.02054, section 5: data parallel is their baseline, sharded their third stage.
    """

    kind: str
    weights: float
    gradients: float
    moments: float
    average: float
    activations: float
    exchange: float  # buffers that devices send, or weights that are gathered

    @property
    def total(self) -> float:
        return self.weights + self.gradients + self.moments + self.average + self.activations + self.exchange


@dataclass(frozen=True)
class Estimate:
    """The cost of a whole training. Times are in seconds, energy in joules."""

    draft: Draft
    settings: Settings
    step: StepCost
    devices: Devices
    memory: tuple[Memory, ...]
    checkpoint: float  # bytes of the process that writes a checkpoint, while it does
    seconds: float  # of a step
    rates: Rates | None = None  # of this machine, if it is the device
    timed: Timed | None = None
    process: float | None = None  # bytes of the whole process at its highest point, if it runs on this machine

    @property
    def steps(self) -> int:
        return self.settings.steps * self.draft.members

    @property
    def units(self) -> float:
        """Tokens or examples of the training."""
        return self.step.units * self.steps

    @property
    def flops(self) -> float:
        """Of the products of matrices, forward and backward."""
        return self.step.flops * self.steps

    @property
    def rule(self) -> float:
        """6 N D of Kaplan et al. 2020, https://arxiv.org/abs/2001.08361: three passes, two operations for each parameter and token."""
        return 6 * self.step.parameters * self.units

    @property
    def time(self) -> float:
        return self.seconds * self.steps

    def fits(self, memory: Memory) -> bool:
        """On a device; of this machine that which is available, and which the process itself does not hold yet."""
        grows = memory.total if self.process is None else self.process - (self.draft.held or 0)
        return grows <= self.devices.memory

    @property
    def energy(self) -> float | None:
        d = self.devices
        return None if d.power is None else d.power * d.count * self.time


def estimate(draft: Draft, devices: Devices | None) -> Estimate:
    """The cost of the draft on these devices, or on this machine."""
    settings = draft.settle(None)
    whole = draft.cost(settings.batch)
    rates, timed, process = None, None, None
    if devices is None:
        rates = measure_rates()
        timed = time_steps(draft, whole, rates)
        devices = this_machine(rates, timed)
        seconds = timed.seconds
        process = process_memory(whole, draft.held)
    else:
        seconds = (whole.flops + whole.update) / (devices.count * devices.rate * devices.utilisation)
    rows = [Memory("one process", *own_memory(whole), exchange=0.0)]
    if devices.count > 1:
        share = whole
        if settings.accumulate == 1:  # else a device computes one batch of those that make a step
            share = draft.cost(max(1, settings.batch // devices.count))
        rows += [data_parallel(share), sharded(share, devices.count)]
    return Estimate(
        draft,
        draft.settle(seconds),
        whole,
        devices,
        tuple(rows),
        checkpoint_memory(whole),
        seconds,
        rates,
        timed,
        process,
    )


def process_memory(cost: StepCost, held: int | None) -> float | None:
    """What the system counts for the process: more than tensors.

        process = held + LOADED + KEPT tensors

    held   when the data had been read: Python, torch, the data
    """
    return None if held is None else held + LOADED + KEPT * cost.peak


def checkpoint_memory(cost: StepCost) -> float:
    """`write_tensors` holds what it writes twice more: as the bytes of each tensor, and as the bytes of the file."""
    return cost.gradients + (1 + 2) * (cost.weights + cost.average + cost.moments)


def own_memory(cost: StepCost, share: float = 1.0) -> tuple[float, float, float, float, float]:
    """Weights, gradients, moments, average (a share of each) and activations."""
    kept = [share * size for size in (cost.weights, cost.gradients, cost.moments, cost.average)]
    return kept[0], kept[1], kept[2], kept[3], max(cost.activations, share * cost.temporary)


def data_parallel(cost: StepCost) -> Memory:
    return Memory("data parallel", *own_memory(cost), exchange=cost.gradients)


def sharded(cost: StepCost, count: int) -> Memory:
    """The weights outside of blocks (embeddings, the last norm) are gathered for the whole step, with their gradients."""
    per = cost.weights / cost.parameters
    gathered = 2 * per * (cost.parameters - sum(cost.blocks)) + GATHERED * per * max(cost.blocks, default=0)
    return Memory("sharded", *own_memory(cost, 1 / count), exchange=gathered)


def this_machine(rates: Rates, timed: Timed) -> Devices:
    memory = machine.available_memory() or 0
    return Devices(1, float(memory), rates.products, None, timed.utilisation, assumed=False)
