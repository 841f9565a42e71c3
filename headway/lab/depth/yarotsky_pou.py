"""A partition of unity with Taylor polynomials on its parts."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from headway.core.config import require
from headway.lab import style
from headway.lab.certified import Sup, certified_sup
from headway.lab.checks import Check, at_least, at_most, close, published, slope
from headway.lab.tools.partition_of_unity import (
    BUMP,
    Smooth,
    active,
    local_taylor,
    partition,
    sine_of_sum,
    taylor_bound,
)
from headway.lab.old import Experiment
from headway.lab.relu_net import hinges

REFERENCE = {1: (1.04e-2, 5e-5), 2: (1.02e-4, 5e-7), 3: (1.9e-7, 5e-9)}  # sup error for sin x, N = 32, by n, and half of its last digit


@dataclass(frozen=True)
class Config:
    grids: tuple[int, ...] = (4, 8, 16, 32, 64)  # N: centres m/N along each axis
    orders: tuple[int, ...] = (1, 2, 3)  # n: Taylor polynomials of degree n - 1

    def __post_init__(self) -> None:
        require((len(self.grids) >= 4 and all(N >= 1 for N in self.grids), "at least four N, all positive"))
        require((all(1 <= n <= 4 for n in self.orders), "every n is 1 to 4"))


def sup_error(d: int, N: int, n: int) -> Sup:
    """sup |f - f_1| over the cube for f = sin(x_1 + … + x_d), between an attained value and a true upper bound.

    The partition repeats in every cell, so at y in the cell [0, 1/N]^d with the corner l/N the error is that of sin(y_1 + … + y_d + s) at
    y, s = (l_1 + … + l_d)/N: a mixture of the errors of cosine and sine, and one cell with the d(N - 1) + 1 phases s is enough.
    With r = 2/(3N), the reach of a bump: ∂_j(f - f_1) = Σ φ ∂_j(f - P) - Σ (∂_j φ)(P - f), where |f - P| <= (dr)^n / n!, |∂_j(f - P)| <=
    (dr)^{n-1} / (n-1)! and Σ |∂_j φ| <= 6N; d such terms are a Lipschitz constant for the largest-coordinate norm.
    """
    r, s = 2 * d / (3 * N), np.arange(d * (N - 1) + 1) / N
    lip = d * (r ** (n - 1) / math.factorial(n - 1) + 6 * N * r**n / math.factorial(n))
    waves, mix = (sine_of_sum(d, phase=math.pi / 2), sine_of_sum(d)), np.stack([np.sin(s), np.cos(s)])

    def worst(y: np.ndarray) -> np.ndarray:
        return np.max(np.abs(np.stack([f(y) - local_taylor(f, y, N, n) for f in waves], axis=1) @ mix), axis=1)

    rtol, most = (1e-3, 100_000) if d == 1 else (0.05, 20_000)
    return certified_sup(worst, lip, np.zeros(d), np.full(d, 1 / N), rtol, most)


class YarotskyPou(Experiment):
    """Taylor polynomials glued by a partition of unity approximate a function with n bounded derivatives up to N^{-n}.

    With ψ(z) = clip(2 - |z|, 0, 1), four ReLU units, and a bump at each m/N, m in {0 … N}^d,

        φ_m(x) = ∏_k ψ(3N(x_k - m_k/N)),   Σ_m φ_m = 1,     f_1 = Σ_m φ_m P_m,     |f - f_1| <= (2^d d^n / n!) N^{-n}

    for f with all derivatives up to order n at most 1 on [0, 1]^d and P_m its Taylor polynomial of degree n - 1 at m/N. At most 2^d bumps
    are not 0 at a point. They add up to 1, so f_1 is a mean of the P_m and even (2d/3N)^n / n! bounds the error. In float64 a bump that is
    far away is 0 only up to the rounding of 3N, so the sum of all of them is checked to 1e-14 for small N, that of the active ones for all.
    """

    lecture = "B"
    kinds = ("BOUND", "RATE")
    cost = "S"
    source = "Yarotsky 2017, theorem 1, https://arxiv.org/abs/1610.01145"
    assumptions = ("all derivatives up to order n are at most 1 in modulus on [0, 1]^d",)
    aliases = ("partition of unity", "local Taylor polynomials")
    panels = 2
    small = {"grids": (2, 4, 8, 16), "orders": (1, 2)}

    def measure(self, c: Config, rng: np.random.Generator) -> Iterator[Check]:
        z = np.concatenate([np.arange(-32, 33) / 8, rng.uniform(-4, 4, 1000)])
        yield close("ψ by four units is clip(2 - |z|, 0, 1)", BUMP.at(z), np.clip(2 - np.abs(z), 0, 1), 1e-14)
        for d, N in ((1, 8), (2, 8), (3, 4)):
            x = np.vstack([rng.random((2000, d)), rng.integers(0, 3 * N + 1, (200, d)) / (3 * N)])
            phi = partition(x, N)
            parts = phi.reshape(len(x), -1)
            yield close(f"Σ φ_m = 1, d = {d}, N = {N}", parts.sum(axis=1), np.ones(len(x)), 1e-14)
            yield at_most(f"bumps at a point, 2^d, d = {d}", np.sum(parts > 1e-13, axis=1), 2**d, kind="EXACT")
            lazy, f = local_taylor(sine_of_sum(d), x, N, 2), sine_of_sum(d)
            grid = np.stack(np.meshgrid(*[np.arange(N + 1) / N] * d, indexing="ij"), axis=-1).reshape(-1, d)
            gradient = f.partial((1, *[0] * (d - 1)), grid)  # all first derivatives of a function of the sum are equal
            dense = np.sum(parts * (f(grid) + gradient * (x[:, None] - grid).sum(axis=-1)), axis=1)
            yield close(f"2^d active parts are all of them, d = {d}, n = 2", lazy, dense, 1e-13)
        self.errors = {}
        N = np.array(c.grids)
        for f in (sine_of_sum(1), sine_of_sum(2)):
            x = rng.random((500, f.d))
            seen = [[float(np.max(np.abs(f(x) - local_taylor(f, x, int(k), n)))) for k in N] for n in c.orders]
            sups = {n: [sup_error(f.d, int(k), n) for k in N] for n in c.orders}
            high = [[s.high for s in sups[n]] for n in c.orders]
            self.errors |= {(f.d, n): np.array(row) for n, row in zip(c.orders, high, strict=True)}
            yield close(f"Σ φ_m = 1 over active parts, d = {f.d}, all N", [sum(phi for _, phi in active(x, int(k))) for k in N], 1.0, 1e-14)
            yield at_most(f"{f.name}: error at 500 random points of the cube, certified", seen, high)
            yield at_most(f"{f.name}: error, (2d/3N)^n / n!", high, [(2 * f.d / (3 * N)) ** n / math.factorial(n) for n in c.orders])
            for n in c.orders:
                errors = self.errors[f.d, n]
                yield at_most(f"{f.name}, n = {n}: error, 2^d d^n / n! N^-n", errors, [taylor_bound(f.d, n, int(k)) for k in N])
                yield slope(f"{f.name}, n = {n}: rate of the error that is attained", N, [s.low for s in sups[n]], -n, 0.1)
                if f.d == 1 and 32 in c.grids and n in REFERENCE:
                    yield published(f"sin x, N = 32, n = {n}: reference value", float(errors[c.grids.index(32)]), *REFERENCE[n])

    def control(self, c: Config, rng: np.random.Generator) -> Iterator[Check]:
        x, N, n = rng.random((4000, 1)), max(c.grids), max(c.orders)
        narrow = hinges([-1.5, -0.5, 0.5, 1.5], [1, -1, -1, 1])
        lost = partition(x, N, narrow).sum(axis=1)
        yield at_least("bumps that are too narrow, clip(3/2 - |z|, 0, 1): least Σ φ_m", float(lost.min()), 1.0, rounding=1e-14)
        steep = sine_of_sum(1, frequency=20.0)
        missed = float(np.max(np.abs(steep(x) - local_taylor(steep, x, N, n))))
        yield at_most(f"{steep.name}, whose derivatives are not at most 1, n = {n}", missed, taylor_bound(1, n, N))
        kink = Smooth("|x - 1/√2|", 1, lambda k, x: np.abs(x[..., 0] - 0.5**0.5) if sum(k) == 0 else np.sign(x[..., 0] - 0.5**0.5))
        fine = np.linspace(0, 1, 20001)[:, None]
        rough = [float(np.max(np.abs(kink(fine) - local_taylor(kink, fine, int(k), 2)))) for k in c.grids]
        yield slope("|x - 1/√2|, which has one derivative, n = 2: rate", c.grids, rough, -2, 0.1)

    def plot(self, c: Config, axes: "style.Panels") -> None:
        N, x = 4, np.linspace(0, 1, 601)
        phi = partition(x[:, None], N)
        for m in range(N + 1):
            axes[0].plot(x, phi[:, m], color=style.SERIES[m], linewidth=1.5, label=f"m = {m}")
        axes[0].plot(x, phi.sum(axis=1), **style.BOUND, label="sum")
        axes[0].set(title=f"Bumps, d = 1, N = {N}", xlabel="x", ylabel="φ_m(x)", ylim=(-0.03, 1.45))
        axes[0].legend(ncols=3, loc="upper center")
        for (d, n), high in self.errors.items():
            look = style.series(n - 1) | {"linestyle": "-" if d == 1 else (0, (1, 1)), "markersize": 4}
            axes[1].loglog(c.grids, high, **look, label=f"d = {d}, n = {n}")
            bounds = [taylor_bound(d, n, N) for N in c.grids]
            axes[1].loglog(c.grids, bounds, **style.BOUND | {"linewidth": 0.9}, label="bounds" if (d, n) == (2, max(c.orders)) else None)
        axes[1].set(title="The error falls like N^-n", xlabel="grid N", ylabel="sup |f - f_1|, certified", ylim=(1e-12, 5))
        axes[1].legend(ncols=2, loc="lower left")
