"""Registered layers in float64: built from an experiment's generator, differentiated, and counted."""

from collections.abc import Callable
from typing import TypeVar

import numpy as np
import torch
from torch import Tensor, nn
from torch.utils.flop_counter import FlopCounterMode

from headway.layers.attention.attend import recorded

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


def multiply_adds(call: Callable[[], object]) -> int:
    """Multiply-adds of all matrix products of a call, as torch's own counter finds them (it counts two operations for each)."""
    with FlopCounterMode(display=False) as counter:
        call()
    return counter.get_total_flops() // 2
