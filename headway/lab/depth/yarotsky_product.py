"""Multiplication by a deep net."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from headway.core.config import require
from headway.lab import style
from headway.lab.checks import Check, at_most, close, equal, published
from headway.lab.depth.sawtooth import TENT
from headway.lab.depth.yarotsky_square import square_net
from headway.lab.old import Experiment
from headway.lab.relu_net import ReluNet, affine, compose, side_by_side

REFERENCE = {3: (0.1406, 5e-5), 6: (2.196e-3, 2e-6), 9: (3.43e-5, 5e-8)}  # worst error for M = 3, by m, and its last digit


@dataclass(frozen=True)
class Config:
    bounds: tuple[float, ...] = (1.0, 3.0, 10.0)  # M: both factors are at most M in modulus
    m: int = 12  # the largest depth of the squares; all from 2 on are tried
    pairs: int = 6000  # random pairs for each M and m (2·10⁵ altogether)

    def __post_init__(self) -> None:
        require(
            (all(M > 0 for M in self.bounds), "every M is positive"),
            (2 <= self.m <= 14, "m is 2 to 14"),
            (self.pairs >= 100, "pairs >= 100"),
        )


def absolute(rows: Any) -> ReluNet:
    """x -> |row · x| for each row, as |z| = σ(z) + σ(-z)."""
    rows = np.atleast_2d(np.asarray(rows, dtype=float))
    eye, zero = np.eye(len(rows)), np.zeros(len(rows))
    return ReluNet(((np.vstack([rows, -rows]), np.append(zero, zero)), (np.hstack([eye, eye]), zero)))


def product_net(m: int, M: float, tent: ReluNet = TENT, factor: float = 2.0) -> ReluNet:
    """(x, y) -> factor M² (f_m(|x + y| / 2M) - f_m(|x| / 2M) - f_m(|y| / 2M)) for |x|, |y| <= M; 12m + 9 units, depth m + 3.

    The scaled squares pass through a last ReLU (they are not negative), so that equal ones cancel to the last bit when a factor is 0.
    """
    squares = side_by_side(*[compose(square_net(m, tent), affine([row], [0.0])) for row in np.eye(3)])
    combine = ReluNet(((factor * M * M * np.eye(3), np.zeros(3)), ([[1.0, -1.0, -1.0]], [0.0])))
    return compose(combine, compose(squares, absolute(np.array([[1, 1], [1, 0], [0, 1]]) / (2 * M))))


def product_error(m: int, M: float) -> float:
    """M² 4^{-m}: the largest error of the gate, which is attained."""
    return M * M * 4.0**-m


def error(net: ReluNet, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return net(np.stack([x, y], axis=-1))[..., 0] - x * y


class YarotskyProduct(Experiment):
    """Three squaring nets multiply: the error is at most 6M² 2^{-2m-2}, in fact exactly two thirds of it, and 0 where a factor is 0.

    For |x|, |y| <= M and the squaring net f_m,

        ×̃(x, y) = 2M² (f_m(|x + y| / 2M) - f_m(|x| / 2M) - f_m(|y| / 2M)),     |×̃(x, y) - xy| <= 6M² 2^{-2m-2},     ×̃(x, 0) = ×̃(0, y) = 0.

    The three errors lie between 0 and 2^{-2m-2}, so -4M² 2^{-2m-2} <= ×̃ - xy <= 2M² 2^{-2m-2}. The left end is attained: both factors at
    midpoints, their sum at a knot. The right one is not: e(z) = f_m(z) - z² is periodic, concave between its zeros, hence e(a + b) <=
    e(a) + e(b), and ×̃ <= xy. By default the 2·10⁵ random pairs are spread over all M and m; `full` takes as many for each.
    """

    lecture = "A, B"
    kinds = ("BOUND",)
    cost = "S"
    source = "Yarotsky 2017, proposition 3, https://arxiv.org/abs/1610.01145"
    assumptions = ("|x|, |y| <= M", "the squaring net sees absolute values: it is x² on [0, 1] only")
    aliases = ("multiplication gate", "product network")
    panels = 2
    small = {"m": 6, "pairs": 500}
    full = {"pairs": 200000}

    def measure(self, c: Config, rng: np.random.Generator) -> Iterator[Check]:
        self.m = np.arange(2, c.m + 1)
        self.worst = {}
        for M in c.bounds:
            nets = [product_net(int(m), M) for m in self.m]
            found, high, zeros, lattice = [], [], [], []
            for m, net in zip(self.m, nets, strict=True):
                x, y = rng.uniform(-M, M, (2, c.pairs))
                d, none = error(net, x, y), np.zeros(c.pairs)
                middles = 2 * M * (rng.integers(-(2 ** (m - 1)), 2 ** (m - 1), (2, 400)) + 0.5) / 2**m
                lattice.append(error(net, *middles))
                ends = error(net, *(M * np.array([[1, 1, -1, 0, 1, 0], [1, -1, -1, 0, 0, 1]])))
                found.append(max(float(np.max(np.abs(part))) for part in (d, lattice[-1], ends)))
                high.append(max(float(np.max(part)) for part in (d, lattice[-1], ends)))
                zeros.append(int(np.sum(net(np.stack([x, none], 1)) != 0)) + int(np.sum(net(np.stack([none, y], 1)) != 0)))
            self.worst[M] = np.array(found)
            true = product_error(self.m, M)
            yield at_most(f"M = {M:g}: error, 6M² 2^(-2m-2), m = 2 … {c.m}", found, 6 * M * M * 2.0 ** (-2 * self.m - 2))
            yield at_most(f"M = {M:g}: ×̃ - xy never above 0 but by rounding, as a share of M²", np.array(high) / M**2, 2e-15, kind="EXACT")
            yield close(
                f"M = {M:g}: worst error / (M² 4^-m) is 1, on midpoints", [-a.min() for a in lattice] / true, np.ones(true.size), 1e-6
            )
            yield equal(f"M = {M:g}: ×̃(x, 0) or ×̃(0, y) is not 0, of {2 * c.pairs}", np.array(zeros), np.zeros(true.size, dtype=int))
        yield equal("units are 12m + 9", np.array([net.nodes for net in nets]), 12 * self.m + 9)
        yield equal("depth is m + 3", np.array([net.depth for net in nets]), self.m + 3)
        for m, (value, digit) in REFERENCE.items():
            if 3.0 in self.worst and m <= c.m:
                yield published(f"M = 3, m = {m}: reference value", float(self.worst[3.0][m - 2]), value, digit)

    def control(self, c: Config, rng: np.random.Generator) -> Iterator[Check]:
        M, m = c.bounds[-1], 6
        x, y = rng.uniform(-M, M, (2, 2000))
        bound = 6 * M * M * 2.0 ** (-2 * m - 2)
        slip = float(np.max(np.abs(error(product_net(m, M, factor=1 / 8), x, y))))
        yield at_most("the factor M²/8 in place of 2M²", slip, bound)
        gate = product_net(m, M)
        (w, b), rest = gate.layers[0], gate.layers[1:]
        raw = ReluNet(((np.vstack([w[:3], 0 * w[3:]]), b), *rest))
        yield at_most("without absolute values: σ(z) for |z|", float(np.max(np.abs(error(raw, x, y)))), bound)
        yield at_most("factors up to 2M", float(np.max(np.abs(error(gate, 2 * x, 2 * y)))), bound)

    def plot(self, c: Config, axes: "style.Panels") -> None:
        M, m = 1.0, 2
        x = np.linspace(-M, M, 257)
        d = error(product_net(m, M), *np.meshgrid(x, x))
        picture = axes[0].imshow(1e3 * d, extent=(-M, M, -M, M), origin="lower", cmap="cividis", interpolation="nearest")
        axes[0].figure.colorbar(picture, ax=axes[0], label="1000 (×̃ - xy)", shrink=0.9)
        axes[0].set(title=f"Error of the gate, M = {M:g}, m = {m}", xlabel="x", ylabel="y")
        axes[0].set(xticks=(-M, 0, M), yticks=(-M, 0, M))
        axes[0].grid(False)
        for i, (M, found) in enumerate(self.worst.items()):
            axes[1].semilogy(self.m, found, **style.series(i), label=f"worst, M = {M:g}")
        for i, M in enumerate(self.worst):
            axes[1].semilogy(self.m, 6 * M * M * 2.0 ** (-2 * self.m - 2), **style.BOUND, label=None if i else "6M² 2^(-2m-2)")
        axes[1].set(title="Two thirds of the bound", xlabel="layers m of the squares", ylabel="|×̃ - xy|")
        axes[1].legend()
