"""The layers and models of the package on numpy's arrays, in double precision, with weights drawn from the experiment's own generator."""

from collections.abc import Callable
from typing import TypeVar

import numpy as np
import torch
from torch import Tensor, nn

from headway.layers.convolutions.boundaries import Boundary, Full
from headway.layers.convolutions.convolution import convolve, correlate
from headway.layers.convolutions.convolution_2d import Convolution2d
from headway.lab.tools.training import seeded
from headway.models.shallow import Config, Shallow

M = TypeVar("M", bound=nn.Module)
Net = Callable[[Tensor], Tensor]


def size(module: nn.Module) -> int:
    """The number of parameters."""
    return sum(p.numel() for p in module.parameters())


def drawn(module: M, rng: np.random.Generator, bias: float = 1.0) -> M:
    """The module in float64 and without dropout; matrices get N(0, 1/inputs) entries, vectors N(0, bias²) ones."""
    with torch.no_grad():
        for parameter in module.double().eval().parameters():
            size = tuple(parameter.shape)
            scale = bias if len(size) == 1 else float(np.prod(size[1:])) ** -0.5
            parameter.copy_(torch.from_numpy(rng.normal(size=size) * scale))
    return module


def shallow_net(inputs: int, outputs: int, width: int, activation: str, rng: np.random.Generator) -> Shallow:
    """The model `shallow`, drawn like that."""
    with seeded(rng):
        return drawn(Shallow(Config(width, activation, 0.0), inputs, outputs), rng)  # type: ignore[arg-type]


def applied(function: Callable[..., Tensor], *arrays: np.ndarray) -> np.ndarray:
    """What the function gives for these arrays, without gradients."""
    with torch.no_grad():
        return np.asarray(function(*(torch.from_numpy(np.ascontiguousarray(a)) for a in arrays)))


def convolved(h: np.ndarray, f: np.ndarray, boundary: Boundary | None = None) -> np.ndarray:
    """h ∗ f; without a boundary all n + m - 1 values."""
    return applied(lambda a, b: convolve(a, b, boundary or Full()), h, f)


def correlated(h: np.ndarray, f: np.ndarray, boundary: Boundary | None = None) -> np.ndarray:
    """h ⋆ f: h slides over f as it is."""
    return applied(lambda a, b: correlate(a, b, boundary or Full()), h, f)


def one_filter(taps: np.ndarray, boundary: Boundary, stride: int = 1) -> Convolution2d:
    """The layer for pictures of one channel that slides this filter, without a bias."""
    layer = Convolution2d(1, 1, len(taps), boundary, stride).double()
    with torch.no_grad():
        layer.weight.copy_(torch.from_numpy(np.array(taps, dtype=float)))
        layer.bias.zero_()
    return layer
