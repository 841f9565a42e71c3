"""What one training step costs, counted on tensors that hold no numbers: products, bytes that are moved, and memory.

The step is the real one (`training/loop.py`): forward pass, loss, backward pass, optimizer and average. Its weights are fake tensors
of torch: they have shapes and types but no memory, so a model of any size is counted on any machine. Batches stay real; what follows
from them alone, such as which positions are padding, is computed and therefore exact.
"""

import dataclasses
import weakref
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeVar

import torch
from torch import Tensor, nn
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves
from torch.utils.flop_counter import flop_registry, sdpa_backward_flop_count, shape_wrapper

from headway.inspect.cost import HIDDEN, Shape
from headway.training.loop import Loop

B = TypeVar("B")
SAMPLED = 5  # batches that are counted where they differ in shape
SCALAR = torch.ops.aten._local_scalar_dense.default
LOOKUPS = {torch.ops.aten.embedding, torch.ops.aten.index_select, torch.ops.aten.gather, torch.ops.aten.index}


def _attention_backward(g: Shape, q: Shape, k: Shape, v: Shape, *_: Any, out_shape: Any, **options: Any) -> int:
    return sdpa_backward_flop_count(g, q, k, v)


def _added_product(c: Shape, a: Shape, b: Shape, *_: Any, out_shape: Any, **options: Any) -> int:
    return 2 * a[0] * a[1] * b[1]


# What a step runs and torch's counter does not know: `HIDDEN`, the way back through attention, a product that is added in place.
UNKNOWN: dict[Any, Any] = HIDDEN | {
    torch.ops.aten._scaled_dot_product_flash_attention_for_cpu_backward: _attention_backward,
    torch.ops.aten.addmm_: _added_product,
}
FORMULAS: dict[Any, Callable[..., int]] = flop_registry | {k: shape_wrapper(f) for k, f in UNKNOWN.items()}


@dataclass(frozen=True)
class StepCost:
    """A training step of one process; memory in bytes.

        peak = weights + gradients + moments + average + max(activations, temporary)

    `activations` is what else there is at the worst moment of the forward and backward pass, most of it what the second needs of the first
    (Korthikanti et al. 2022, https://arxiv.org/abs/2205.05198, have the formula for a Transformer; here it is counted).
    """

    parameters: int
    parts: dict[str, int]  # parameters of each part of the model
    blocks: tuple[int, ...]  # parameters of each repeated block
    units: float  # tokens, examples: what the loss is a mean over
    flops: float  # of the products of matrices, forward and backward
    update: float  # of those in the optimizer
    traffic: float  # bytes that all other operations read and write
    weights: int
    gradients: int
    moments: int
    average: int
    activations: int
    temporary: int  # what the optimizer needs for itself while it updates

    @property
    def peak(self) -> int:
        return self.weights + self.gradients + self.moments + self.average + max(self.activations, self.temporary)

    def seconds(self, rate: float, bandwidth: float) -> float:
        """The least time it takes, if products run at `rate` FLOP/s and everything else moves `bandwidth` bytes per second."""
        return (self.flops + self.update) / rate + self.traffic / bandwidth


class Meter(TorchDispatchMode):
    """Counts the operations that run while it is active. Memory is that of tensors which were made meanwhile.

    known   tensors that are there already: a view of one of them takes no memory
    """

    def __init__(self, known: Iterable[Tensor]) -> None:
        super().__init__()
        self.flops, self.traffic, self.live, self.peak = 0.0, 0.0, 0, 0
        self._held: dict[int, int] = {}
        for tensor in known:
            self._hold(tensor.untyped_storage(), 0)

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if function is SCALAR and isinstance(args[0], FakeTensor):  # a loss is some number, a check has passed
            return True if args[0].dtype == torch.bool else 1.0
        out = function(*args, **kwargs)
        made = [tensor for tensor in tree_leaves(out) if isinstance(tensor, Tensor)]
        formula = FORMULAS.get(function._overloadpacket)
        if formula is not None:
            self.flops += formula(*args, **kwargs, out_val=out)
        elif function.namespace != "prim" and not function.is_view:
            read = [tensor for tensor in tree_leaves((args, kwargs)) if isinstance(tensor, Tensor)]
            read = made if function._overloadpacket in LOOKUPS else read
            self.traffic += sum(tensor.nbytes for tensor in (*read, *made))
        for tensor in made:
            self._hold(tensor.untyped_storage(), tensor.untyped_storage().nbytes())
        return out

    def _hold(self, storage: torch.UntypedStorage, size: int) -> None:
        key = storage._cdata
        if key not in self._held:
            self._held[key] = size
            self.live += size
            self.peak = max(self.peak, self.live)
            weakref.finalize(storage, self._release, key)

    def _release(self, key: int) -> None:
        self.live -= self._held.pop(key, 0)


class _Fakes(FakeTensorMode):
    """Tensors without numbers; a copy of one belongs to the same mode."""

    def __deepcopy__(self, memo: object) -> "_Fakes":
        return self


def without_numbers(make: Callable[[], nn.Module]) -> nn.Module:
    """The model that `make` builds, with parameters that take no memory."""
    with _Fakes(allow_non_fake_inputs=True):
        return make()


def count_step(loop: Loop[B]) -> StepCost:
    """The cost of a step of this loop: the mean of a few batches where they differ, and the memory of the largest."""
    count = loop.settings.accumulate
    counted = min(2, count)  # from the second batch on the gradients of those before are there as well
    loop.settings = dataclasses.replace(loop.settings, accumulate=counted)
    model = loop.learner.model.train()
    kept = [*model.parameters(), *model.buffers()]
    meters, units = [], []
    for step in range(SAMPLED if _differ(loop) else 1):
        model.zero_grad(set_to_none=True)
        with Meter(kept) as meter:
            units.append(loop.gradients(step)[1])
        meters.append(meter)
    gradients = [p.grad for p in model.parameters() if p.grad is not None]
    with Meter([*kept, *gradients, *loop.learner.average.parameters(), *loop.learner.average.buffers()]) as update:
        loop.update(0, loop.learner.norm())
    moments = sum(t.nbytes for o in loop.learner.optimizers for state in o.state.values() for t in state.values())
    loop.settings = dataclasses.replace(loop.settings, accumulate=count)
    weights, graded = (sum(tensor.nbytes for tensor in tensors) for tensors in (kept, gradients))
    sizes = {name: p.numel() for name, p in model.named_parameters()}
    share = count / counted / len(meters)
    return StepCost(
        parameters=sum(sizes.values()),
        parts=_parts(sizes),
        blocks=_blocks(model, sizes),
        units=sum(units) * share,
        flops=sum(meter.flops for meter in meters) * share,
        update=update.flops,
        traffic=sum(meter.traffic for meter in meters) * share + update.traffic,
        weights=weights,
        gradients=graded,
        moments=moments,
        average=weights,
        activations=max(0, max(meter.peak for meter in meters) - graded),
        temporary=max(0, update.peak - moments),
    )


def _differ(loop: Loop[B]) -> bool:
    """Whether batches have different shapes."""
    shapes = {
        tuple(getattr(value, "shape", None) for value in tree_leaves(_fields(loop.batches[i])))
        for i in range(min(SAMPLED, len(loop.batches)))
    }
    return len(shapes) > 1


def _fields(batch: object) -> object:
    return vars(batch) if dataclasses.is_dataclass(batch) else batch


def _parts(sizes: dict[str, int]) -> dict[str, int]:
    found: dict[str, int] = {}
    for name, size in sizes.items():
        part = name.partition(".")[0]
        found[part] = found.get(part, 0) + size
    return found


def _blocks(model: nn.Module, sizes: dict[str, int]) -> tuple[int, ...]:
    """Parameters of the outermost repeated parts, which a sharded model gathers one after the other."""
    names: list[str] = []
    for path, module in model.named_modules():
        if isinstance(module, nn.ModuleList) and not any(path.startswith(name) for name in names):
            names += [f"{path}.{child}." for child, _ in module.named_children()]
    return tuple(sum(size for name, size in sizes.items() if name.startswith(block)) for block in names)
