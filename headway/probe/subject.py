"""The model that is probed, and one pass of it with everything that the probes look at.

    entry     x, the first numbers that the model computes with: its input, or the embeddings of its tokens
    layers    what each block gives, in the order of the calls
    output    what the last layer with parameters gives: the logits of a classifier, the last states of a language model

All are found by hooks, so a probe needs to know neither the task nor the architecture; the entry can be replaced, which
makes the model a function of it. Everything is computed in double precision on the CPU.
"""

import copy
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.attention import SDPBackend, sdpa_kernel

from headway.probe.batch_parts import as_double, first_rows, mask_of
from headway.tasks.task import Loss

LISTS = (nn.ModuleList, nn.Sequential)


@dataclass
class Pass:
    """One forward pass."""

    entry: Tensor | None = None
    layers: dict[str, Tensor] = field(default_factory=dict)
    output: Tensor | None = None
    loss: Tensor | None = None  # mean over the examples, tokens ... of the batch

    @property
    def x(self) -> Tensor:
        return require(self.entry)

    @property
    def y(self) -> Tensor:
        return require(self.output)

    @property
    def mean_loss(self) -> Tensor:
        return require(self.loss)


def require(value: Tensor | None) -> Tensor:
    if value is None:
        raise RuntimeError("the model was not called on these examples")
    return value


@dataclass(frozen=True, eq=False)
class Subject:
    """A model with examples and the loss of its task.

    batches     examples in the batches of the task
    loss_of     the task's loss of a batch
    fresh       the same model with first weights, for comparison
    optimizer   the name of the optimizer that trained it
    rate        its largest learning rate
    """

    model: nn.Module
    batches: tuple[Any, ...]
    loss_of: Callable[[Any, Any], Loss]
    fresh: Callable[[], nn.Module]
    optimizer: str
    rate: float
    seed: int = 0

    def in_double_precision(self) -> "Subject":
        """With a copy of the model that is ready for derivatives."""
        model = copy.deepcopy(self.model).cpu().double().eval().requires_grad_(True)
        return replace(self, model=model, batches=tuple(as_double(batch) for batch in self.batches))

    def random(self) -> torch.Generator:
        return torch.Generator().manual_seed(self.seed)

    def few(self, rows: int) -> Any:
        """A batch of at most so many examples, where a batch can be cut."""
        return first_rows(self.batches[0], rows)

    @cached_property
    def blocks(self) -> dict[str, nn.Module]:
        """The outermost items of module lists; without a list, the children that have parameters."""
        chosen: dict[str, nn.Module] = {}
        for name, module in self.model.named_modules():
            inside = any(name.startswith(f"{block}.") for block in chosen)
            if isinstance(module, LISTS) and not inside:
                items = {f"{name}.{i}".lstrip("."): item for i, item in enumerate(module)}
                chosen |= {
                    n: m for n, m in items.items() if not isinstance(m, LISTS) and any(True for _ in m.parameters())
                }
        return chosen or {n: m for n, m in self.model.named_children() if any(True for _ in m.parameters())}

    def run(self, batch: Any, entry: Callable[[Tensor], Tensor] | None = None) -> Pass:
        """One pass. `entry` is given the entry and returns what is taken in its place."""
        seen, hooks = Pass(), []

        def enter(x: Tensor) -> Tensor:
            seen.entry = x if entry is None else entry(x)
            return seen.entry

        def before(module: nn.Module, args: Any) -> Any:
            if seen.entry is None and args and isinstance(args[0], Tensor) and args[0].is_floating_point():
                return enter(args[0]), *args[1:]
            return None

        def after(module: nn.Module, args: Any, out: Any) -> Any:
            if isinstance(out, Tensor) and out.is_floating_point():
                if seen.entry is None and args and isinstance(args[0], Tensor):
                    out = enter(out)  # an embedding: tokens in, numbers out
                seen.output = out
            return out

        def keep(name: str) -> Callable[..., Any]:
            def hook(module: nn.Module, args: Any, out: Any) -> Any:
                given = out[0] if isinstance(out, tuple) and out else out
                if isinstance(given, Tensor) and given.is_floating_point() and name not in seen.layers:
                    seen.layers[name] = given
                    # what comes next may write into its input; it gets a copy
                    return given.clone() if given is out else (given.clone(), *out[1:])
                return None

            return hook

        try:
            for module in self.model.modules():
                if module._parameters:
                    hooks += [module.register_forward_pre_hook(before), module.register_forward_hook(after)]
            hooks += [module.register_forward_hook(keep(name)) for name, module in self.blocks.items()]
            with sdpa_kernel([SDPBackend.MATH]):  # the kernel that has second derivatives
                loss = self.loss_of(self.model, batch)
        finally:
            for hook in hooks:
                hook.remove()
        seen.loss = loss.total / loss.count
        return seen

    def loss(self, batch: Any) -> float:
        """The mean loss, without derivatives."""
        with torch.no_grad():
            return float(self.run(batch).mean_loss)

    def coupled(self, batch: Any) -> bool:
        """Whether one row of the batch has an influence on the others, as the nodes of a graph have on their neighbours."""
        with torch.no_grad():
            first = self.run(batch)
            if len(first.x) < 2 or len(first.y) != len(first.x):
                return len(first.y) != len(first.x)
            moved = self.run(batch, lambda x: torch.cat((x[:1] + (x[1:2] - x[:1]) / 2 + 0.1, x[1:])))
            # products of batches round differently
            return not torch.allclose(first.y[1:], moved.y[1:], rtol=1e-9, atol=1e-9)

    def mask(self, batch: Any, like: Tensor) -> Tensor | None:
        """Which positions of "b t ..." are no padding."""
        return mask_of(batch, tuple(like.shape[:2])) if like.ndim == 3 else None

    def with_model(self, model: nn.Module) -> "Subject":
        return replace(self, model=model)
