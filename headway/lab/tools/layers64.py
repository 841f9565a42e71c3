"""Registered layers in float64: built from an experiment's generator, differentiated, and counted."""

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
import torch
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import FlopCounterMode

from headway.layers.compiled import counted
from headway.layers.attention.attend import recorded
from headway.layers.recurrences.recurrence import GatedRecurrence, State

Layer = TypeVar("Layer", bound=nn.Module)


def built(make: Callable[[], Layer], rng: np.random.Generator) -> Layer:
    """A layer in float64 without gradients of its weights, which are drawn from `rng`; torch's own generator is left alone."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(int(rng.integers(2**31)))
        return make().double().eval().requires_grad_(False)


def tensor(x: np.ndarray) -> Tensor:
    return torch.from_numpy(np.asarray(x, dtype=np.float64))


def normal(rng: np.random.Generator, *shape: int) -> Tensor:
    """Independent N(0, 1)."""
    return tensor(rng.normal(size=shape))


def derivative(f: Callable[[Tensor], Tensor], z: np.ndarray) -> np.ndarray:
    """f'(z) of a function that works element by element."""
    t = tensor(z).requires_grad_(True)
    return torch.autograd.grad(f(t).sum(), t)[0].numpy()


def jacobian(f: Callable[[Tensor], Tensor], x: Tensor) -> np.ndarray:
    """∂f(x)/∂x: the axes of f(x), then those of x."""
    return torch.autograd.functional.jacobian(f, x).numpy()


def influence(f: Callable[[Tensor], Tensor], x: Tensor) -> np.ndarray:
    """max |∂f_t/∂x_s| for positions t and s of a layer that maps "1 n d" to "1 n e"."""
    return np.abs(jacobian(lambda z: f(z[None])[0], x)).max(axis=(1, 3))


def attention_weights(layer: nn.Module, x: Tensor) -> np.ndarray:
    """The weights "h t s" of an attention layer for one sequence "n d"."""
    with recorded(layer) as maps:
        layer(x[None])
    return next(iter(maps.values()))[0][0].numpy()


def stepwise(layer: Any, x: Tensor) -> np.ndarray:
    """The outputs of a causal layer (or model) for one sequence, one position at a time."""
    state, found = layer.start(1), []
    for row in x:
        y, state = layer.step(row[None], state)
        found.append(y[0].numpy())
    return np.stack(found)


def walked(cell: GatedRecurrence, x: Tensor, state: State | None = None) -> tuple[Tensor, State]:
    """All outputs and the last state of sequences "b t i" by the written-out cell, where `scan` may take torch's kernel."""
    state, found = state or cell.start(len(x)), []
    for row in x.unbind(1):
        y, state = cell.step(row, state)
        found.append(y)
    return torch.stack(found, 1), state


def multiply_adds(call: Callable[..., object], *shapes: tuple[int, ...]) -> int:
    """Multiply-adds of all matrix products of a call with tensors of these shapes, as torch's own counter finds them.

    It counts two operations for each. Nothing is computed where the device is "meta".
    """
    x = [torch.empty(shape) for shape in shapes]
    with counted(), FlopCounterMode(display=False) as counter:
        call(*x)
    return counter.get_total_flops() // 2


class Dispatched(TorchDispatchMode):
    """How many operations of torch whose name contains `name` follow each other while it is entered."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name, self.count = name, 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.count += self.name in str(func)
        return func(*args, **(kwargs or {}))


def transport(cell: GatedRecurrence, x: Tensor, state: State) -> list[np.ndarray]:
    """∂s_t/∂s_0 after each input of "t i", for the last vector s of a state "1 d".

    Row k of a Jacobian is the gradient of unit k; all rows come from one pass, in which copy k of the state stands for unit k.
    """
    before = tuple(z.expand(cell.width, -1).clone() for z in state)
    before[-1].requires_grad_(True)
    now, found = before, []
    for row in x:
        now = cell.step(row.expand(cell.width, -1), now)[1]
        found.append(torch.autograd.grad(now[-1].diagonal().sum(), before[-1], retain_graph=True)[0].numpy())
    return found
