"""Narrow nets that compute maxima of planes."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from headway.core.config import require
from headway.lab import style
from headway.lab.checks import Check, at_least, at_most, close, equal, slope
from headway.lab.old import Experiment
from headway.lab.pwl1d import pwl1d
from headway.lab.relu_net import ReluNet, add, hinges, random_net


@dataclass(frozen=True)
class Config:
    dimensions: tuple[int, ...] = (1, 2, 3, 4)  # the dimensions d
    planes: int = 20  # how many planes the maximum is taken over
    points: int = 10000  # random points of the cube
    nets: int = 200  # random nets of width 1

    def __post_init__(self) -> None:
        require((all(1 <= d <= 10 for d in self.dimensions), "dimensions are 1 to 10"), (self.planes >= 2, "planes >= 2"))
        require((self.points >= 100 and self.nets >= 10, "points >= 100 and nets >= 10"))


def maximum(a: np.ndarray, b: np.ndarray) -> ReluNet:
    """max_k (a_k·x + b_k) on [0, 1]^d: x stays in d channels, one channel holds u_k = relu(M_{k-1} - ℓ_k), and M_k = ℓ_k + u_k."""
    N, d = a.shape
    keep = np.hstack([np.eye(d), np.zeros((d, 1))])
    layers = [(np.vstack([np.eye(d), a[0] - a[1]]), np.append(np.zeros(d), b[0] - b[1]))]
    for k in range(2, N):
        layers.append((np.vstack([keep, np.append(a[k - 1] - a[k], 1.0)]), np.append(np.zeros(d), b[k - 1] - b[k])))
    return ReluNet((*layers, (np.append(a[-1], 1.0)[None], b[-1:])))


def tangents(d: int, m: int) -> tuple[np.ndarray, np.ndarray]:
    """The tangent planes 2c·x - ‖c‖² of ‖x‖² at the m^d middles c of a grid."""
    middles = (np.arange(m) + 0.5) / m
    c = np.stack(np.meshgrid(*[middles] * d, indexing="ij"), axis=-1).reshape(-1, d)
    return 2 * c, -np.sum(c**2, axis=1)


def corners(d: int, m: int) -> np.ndarray:
    """The grid points i/m, where ‖x‖² is furthest above its tangents."""
    return np.stack(np.meshgrid(*[np.arange(m + 1) / m] * d, indexing="ij"), axis=-1).reshape(-1, d)


class DeepNarrow(Experiment):
    """A ReLU net of width d + 1 and depth N computes the maximum of N planes on [0, 1]^d exactly.

    x >= 0 passes through d units unchanged; one more unit holds the running maximum:

        M_k = max(M_{k-1}, ℓ_k) = ℓ_k + relu(M_{k-1} - ℓ_k),        ℓ_k(x) = a_k·x + b_k.

    So every convex piecewise-linear function has width d + 1, and convex functions are approximated by tangents: ‖x‖² up to d/(4m²) with
    m^d planes. Others are differences of two such maxima. Width d is too little: a net of width 1 is monotone, so it stays ¼ away
    from |x - ½|.
    """

    lecture = "A, D"
    kinds = ("EXACT",)
    cost = "S"
    source = "Hanin and Sellke 2017, https://arxiv.org/abs/1710.11278"
    assumptions = ("x is in [0, 1]^d, so that relu(x) = x", "the function is convex and piecewise linear")
    aliases = ("minimal width of deep ReLU nets", "Hanin and Sellke's theorem")
    panels = 2
    small = {"points": 1000, "nets": 30}

    def measure(self, c: Config, rng: np.random.Generator) -> Iterator[Check]:
        for d in c.dimensions:
            x = rng.random((c.points, d))
            planes = [(rng.normal(size=(c.planes, d)), rng.normal(0, 0.5, c.planes)) for _ in range(2)]
            f, g = (maximum(a, b) for a, b in planes)
            exact = [np.max(x @ a.T + b, axis=1) for a, b in planes]
            yield close(f"maximum of {c.planes} planes at {c.points} points, d = {d}", f(x)[:, 0], exact[0], 1e-10)
            yield equal(f"widths are d + 1, d = {d}", np.array(f.widths), np.full(c.planes - 1, d + 1))
            yield equal(f"depth is the number of planes, d = {d}", f.depth, c.planes)
            both = add(f, g, coefficients=[1, -1])
            yield close(f"difference of two maxima, width {max(both.widths)}, d = {d}", both(x)[:, 0], exact[0] - exact[1], 1e-10)
        self.depths, self.errors = {}, {}
        for d, sizes in ((1, (2, 4, 8, 16, 32)), (2, (2, 3, 4, 6, 8)), (3, (2, 3, 4, 5))):
            nets = [maximum(*tangents(d, m)) for m in sizes]
            at = [corners(d, m) for m in sizes]
            self.depths[d] = np.array([net.depth for net in nets])
            self.errors[d] = np.array([np.max(np.abs(np.sum(x**2, axis=1) - net(x)[:, 0])) for net, x in zip(nets, at, strict=True)])
            yield close(f"‖x‖² by tangents: error d/(4m²), d = {d}", self.errors[d], d / (4 * np.array(sizes) ** 2.0), 1e-10)
            yield slope(f"‖x‖²: error against depth, d = {d}", self.depths[d], self.errors[d], -2 / d, 1e-6)
            inside = rng.random((500, d))
            gap = np.sum(inside**2, axis=1) - nets[-1](inside)[:, 0]
            yield at_most(f"‖x‖²: error at random points, d = {d}", gap, d / (4 * sizes[-1] ** 2), kind="EXACT")
        functions = [pwl1d(random_net([1, *[1] * int(rng.integers(1, 9)), 1], rng)) for _ in range(c.nets)]
        yield equal(f"{c.nets} nets of width 1 are monotone", sum(np.any(f.slopes > 0) and np.any(f.slopes < 0) for f in functions), 0)
        ends = np.array([0.0, 0.5, 1.0])
        away = [np.max(np.abs(f(ends) - np.abs(ends - 0.5))) for f in functions]
        yield at_least("nets of width 1: distance to |x - ½|", away, 0.25, kind="EXACT")
        self.monotone = [f for f in functions if np.ptp(f(ends)) > 0.1][:3]

    def control(self, c: Config, rng: np.random.Generator) -> Iterator[Check]:
        d = c.dimensions[-1]
        a, b, x = rng.normal(size=(c.planes, d)), rng.normal(0, 0.5, c.planes), rng.uniform(-1, 1, (1000, d))
        yield close(f"the same net on [-1, 1]^d, d = {d}", maximum(a, b)(x)[:, 0], np.max(x @ a.T + b, axis=1), 1e-10)
        wide = pwl1d(hinges([0, 0.5], [-1, 2], shift=0.5))
        yield at_least("a net of width 2: distance to |x - ½|", float(np.max(np.abs(wide([0, 0.5, 1]) - [0.5, 0, 0.5]))), 0.25)

    def plot(self, c: Config, axes: "style.Panels") -> None:
        for i, d in enumerate(self.errors):
            axes[0].loglog(self.depths[d], self.errors[d], **style.series(i), label=f"width {d + 1}, d = {d}")
            N = np.array([2.0, 128.0])
            axes[0].loglog(N, d / 4 * N ** (-2 / d), **style.BOUND | {"linewidth": 0.9}, label="(d/4) N^(-2/d)" if i == 2 else None)
        axes[0].set(title="‖x‖² by tangent planes", xlabel="depth N", ylabel="sup error")
        x = np.linspace(0, 1, 201)
        axes[1].plot(x, np.abs(x - 0.5), **style.TARGET, label="|x - ½|: width 2 is exact")
        for i, f in enumerate(self.monotone):
            shown = f(x) - f(np.array(0.0))
            look = style.CURVE | {"color": style.VERMILION, "linestyle": ("-", "--", ":")[i]}
            axes[1].plot(x, shown / np.max(np.abs(shown)) / 2, **look, label="width 1: monotone" if i == 0 else None)
        axes[1].set(title="Width 1 cannot turn", xlabel="x", ylabel="value (nets scaled)", ylim=(-0.6, 1.0))
        for panel in axes:
            panel.legend()
