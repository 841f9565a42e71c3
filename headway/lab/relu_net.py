"""Networks that count their own size: affine maps with ReLU between them, in float64, and ways to build one from others.

    f(x) = W_D relu(... relu(W_1 x + b_1) ...) + b_D          depth D (affine maps), nodes = hidden units

A construction of the lab returns a `ReluNet`, which is evaluated and counted; no formula for its size or value is trusted.
"""

import dataclasses
import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from headway.core.errors import ConfigError, DataError, RunError

Layer = tuple[Any, Any]  # weights and biases: arrays, or lists that become arrays


@dataclass(frozen=True, eq=False)
class ReluNet:
    """Affine maps (W, b), W of shape (out, in), with ReLU after each but the last."""

    layers: tuple[Layer, ...]

    def __post_init__(self) -> None:
        made = tuple((np.atleast_2d(np.asarray(w, dtype=float)), np.atleast_1d(np.asarray(b, dtype=float))) for w, b in self.layers)
        if not made:
            raise ConfigError("a network needs at least one layer")
        for i, (w, b) in enumerate(made):
            if w.ndim != 2 or b.shape != (len(w),):
                shapes = f"weights of shape {w.shape} and biases of shape {b.shape}"
                raise ConfigError(f"layer {i + 1} has {shapes}", "W is (out, in), b is (out,).")
            if i and w.shape[1] != len(made[i - 1][0]):
                raise ConfigError(f"layer {i + 1} takes {w.shape[1]} values, but layer {i} gives {len(made[i - 1][0])}")
        object.__setattr__(self, "layers", made)

    def __call__(self, x: Any) -> np.ndarray:
        """Values at points x of shape (..., inputs)."""
        h = np.asarray(x, dtype=float)
        for w, b in self.layers[:-1]:
            h = np.maximum(h @ w.T + b, 0.0)
        w, b = self.layers[-1]
        return h @ w.T + b

    def at(self, x: Any) -> np.ndarray:
        """Values of a net with one input and one output: an array of numbers in, an array of the same shape out."""
        return self(np.asarray(x, dtype=float)[..., None])[..., 0]

    @property
    def inputs(self) -> int:
        return self.layers[0][0].shape[1]

    @property
    def outputs(self) -> int:
        return len(self.layers[-1][0])

    @property
    def widths(self) -> tuple[int, ...]:
        """Of the hidden layers."""
        return tuple(len(w) for w, _ in self.layers[:-1])

    @property
    def depth(self) -> int:
        """Affine maps: a net with one hidden layer has depth 2."""
        return len(self.layers)

    @property
    def nodes(self) -> int:
        """Hidden units."""
        return sum(self.widths)

    @property
    def weights(self) -> int:
        """Weights and biases that are not zero."""
        return sum(int(np.count_nonzero(w)) + int(np.count_nonzero(b)) for w, b in self.layers)

    @staticmethod
    def of(network: Any) -> "ReluNet":
        """From a ReluNet, a list of (W, b), or a `torch.nn.Sequential` of `Linear` and `ReLU` that alternate."""
        if isinstance(network, ReluNet):
            return network
        if isinstance(network, Iterable) and not hasattr(network, "state_dict"):
            return ReluNet(tuple(network))
        names = [type(module).__name__ for module in network] if isinstance(network, Iterable) else [type(network).__name__]
        if names != ["Linear", *["ReLU", "Linear"] * (len(names) // 2)]:
            raise ConfigError(f"cannot read a network of {', '.join(names)}", "`Linear` and `ReLU` must alternate, ends included.")
        return ReluNet(tuple((m.weight.detach().double().numpy(), _bias(m)) for m in network if type(m).__name__ == "Linear"))

    @staticmethod
    def load(path: str | Path) -> "ReluNet":
        """From a safetensors file with the `state_dict` of such a `Sequential`: `0.weight`, `0.bias`, `2.weight` ..."""
        from headway.core.files import read_tensors

        try:
            tensors = read_tensors(Path(path))
        except RunError as problem:
            hint = "expected the state_dict of a `torch.nn.Sequential`: `safetensors.torch.save_file(net.state_dict(), FILE)`."
            raise DataError(f"`{path}` holds no network: {problem.message}", hint) from problem
        numbers = sorted({name.rpartition(".")[0] for name in tensors}, key=lambda n: (len(n), n))
        try:
            return ReluNet(tuple((tensors[f"{n}.weight"].double().numpy(), tensors[f"{n}.bias"].double().numpy()) for n in numbers))
        except KeyError as missing:
            raise ConfigError(f"`{path}` has no tensor {missing}", "save the `state_dict` of a `Sequential`.") from None


def _bias(linear: Any) -> np.ndarray:
    return np.zeros(linear.out_features) if linear.bias is None else linear.bias.detach().double().numpy()


def affine(w: Any, b: Any) -> ReluNet:
    """x -> W x + b, a net without hidden units."""
    return ReluNet(((w, b),))


def identity(width: int, depth: int = 1) -> ReluNet:
    """x -> x as a net of that depth: x = relu(x) - relu(-x), two units for each channel and hidden layer."""
    eye, zero = np.eye(width), np.zeros(width)
    if depth == 1:
        return affine(eye, zero)
    split, join = np.vstack([eye, -eye]), np.hstack([eye, -eye])
    return ReluNet(((split, np.zeros(2 * width)), *((split @ join, np.zeros(2 * width)) for _ in range(depth - 2)), (join, zero)))


def compose(outer: ReluNet, inner: ReluNet) -> ReluNet:
    """outer(inner(x)): the last map of the inner net and the first of the outer one become one, so no unit is added."""
    (w, b), (v, c) = outer.layers[0], inner.layers[-1]
    return ReluNet((*inner.layers[:-1], (w @ v, w @ c + b), *outer.layers[1:]))


def power(net: ReluNet, times: int) -> ReluNet:
    """net applied so many times: net(net(... x))."""
    made = net
    for _ in range(times - 1):
        made = compose(net, made)
    return made


def deepen(net: ReluNet, depth: int) -> ReluNet:
    """The same function at a larger depth, with identity channels after it."""
    return net if depth == net.depth else compose(identity(net.outputs, depth - net.depth + 1), net)


def side_by_side(*nets: ReluNet) -> ReluNet:
    """x -> (f(x), g(x), ...): the nets see the same input; shallower ones are deepened first."""
    depth = max(net.depth for net in nets)
    same = [deepen(net, depth).layers for net in nets]
    first = (np.vstack([layers[0][0] for layers in same]), np.concatenate([layers[0][1] for layers in same]))
    rest = [(_block([n[i][0] for n in same]), np.concatenate([n[i][1] for n in same])) for i in range(1, depth)]
    return ReluNet((first, *rest))


def add(*nets: ReluNet, coefficients: Sequence[float] | None = None) -> ReluNet:
    """x -> sum of coefficient times net(x); the nets have the same number of outputs."""
    factors = np.ones(len(nets)) if coefficients is None else np.asarray(coefficients, dtype=float)
    return compose(affine(np.hstack([f * np.eye(nets[0].outputs) for f in factors]), np.zeros(nets[0].outputs)), side_by_side(*nets))


def scale(net: ReluNet, factor: float, shift: float = 0.0) -> ReluNet:
    """x -> factor * net(x) + shift."""
    w, b = net.layers[-1]
    return dataclasses.replace(net, layers=(*net.layers[:-1], (factor * w, factor * b + shift)))


def hinges(knots: Any, slopes: Any, slope: float = 0.0, shift: float = 0.0) -> ReluNet:
    """x -> slope x + shift + sum of slopes_i (x - knots_i)_+ with one hidden layer; a slope other than 0 costs two units."""
    knots, jumps = np.asarray(knots, dtype=float), np.asarray(slopes, dtype=float)
    w, b, v = np.ones((knots.size, 1)), -knots, jumps[None]
    if slope:
        w, b, v = np.vstack([w, [[1.0], [-1.0]]]), np.append(b, [0.0, 0.0]), np.append(v, [[slope, -slope]], axis=1)
    return ReluNet(((w, b), (v, [shift])))


def random_net(widths: Sequence[int], rng: np.random.Generator, bias: float = 1.0) -> ReluNet:
    """Widths of input, hidden layers and output; weights N(0, 2 / fan-in), biases N(0, bias²)."""
    pairs = list(itertools.pairwise(widths))
    return ReluNet(tuple((rng.normal(0, np.sqrt(2 / i), (o, i)), rng.normal(0, bias, o) if bias else np.zeros(o)) for i, o in pairs))


def _block(parts: Sequence[np.ndarray]) -> np.ndarray:
    made = np.zeros((sum(len(p) for p in parts), sum(p.shape[1] for p in parts)))
    row = column = 0
    for p in parts:
        made[row : row + len(p), column : column + p.shape[1]] = p
        row, column = row + len(p), column + p.shape[1]
    return made
