"""A partition of unity with Taylor polynomials on its parts."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np

from headway.core.config import demand
from headway.lab import style
from headway.lab.certified import Sup, certified_sup
from headway.lab.checks import Check, at_least, at_most, close, equal, published, slope
from headway.lab.experiment import Experiment
from headway.lab.relu_net import ReluNet, hinges

BUMP = hinges([-2, -1, 1, 2], [1, -1, -1, 1])  # ψ(z) = σ(z + 2) - σ(z + 1) - σ(z - 1) + σ(z - 2)
REFERENCE = {1: (1.04e-2, 5e-5), 2: (1.02e-4, 5e-7), 3: (1.9e-7, 5e-9)}  # sup error for sin x, N = 32, by n, and half of its last digit


@dataclass(frozen=True)
class Config:
    grids: tuple[int, ...] = (4, 8, 16, 32, 64)  # N: centres m/N along each axis
    orders: tuple[int, ...] = (1, 2, 3)  # n: Taylor polynomials of degree n - 1

    def __post_init__(self) -> None:
        demand((len(self.grids) >= 4 and all(N >= 1 for N in self.grids), "at least four N, all positive"))
        demand((all(1 <= n <= 4 for n in self.orders), "every n is 1 to 4"))


@dataclass(frozen=True)
class Smooth:
    """A function of d variables with its partial derivatives: partial(k, x) is D^k f at points x of shape (..., d)."""

    name: str
    d: int
    partial: Callable[[tuple[int, ...], np.ndarray], np.ndarray]

    def __call__(self, x: np.ndarray) -> np.ndarray:
        return self.partial((0,) * self.d, x)


def sine_of_sum(d: int, frequency: float = 1.0) -> Smooth:
    """sin(x_1 + … + x_d): every derivative is a shifted sine, at most 1 in modulus (frequency^|k| in general)."""
    name = " + ".join(f"x{i + 1}" for i in range(d)) if d > 1 else "x"
    return Smooth(
        f"sin({name})" if frequency == 1 else f"sin({frequency:g}({name}))",
        d,
        lambda k, x: frequency ** sum(k) * np.sin(frequency * x.sum(axis=-1) + sum(k) * math.pi / 2),
    )


def indices(d: int, n: int) -> list[tuple[int, ...]]:
    """The multi-indices k of d variables with |k| < n: the terms of a Taylor polynomial of degree n - 1."""
    return [k for k in product(range(n), repeat=d) if sum(k) < n]


def partition(x: np.ndarray, N: int, bump: ReluNet = BUMP) -> np.ndarray:
    """φ_m(x) = ∏ ψ(3N(x_k - m_k/N)) for all m in {0 … N}^d: from (p, d) to (p, N + 1, …, N + 1)."""
    along = [bump.at(3 * (N * x[:, k, None] - np.arange(N + 1))) for k in range(x.shape[1])]
    made = along[0]
    for psi in along[1:]:
        made = made[..., None] * psi.reshape(len(x), *[1] * (made.ndim - 1), N + 1)
    return made


def active(x: np.ndarray, N: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """The 2^d parts that can be different from 0 at x, one after the other: centres m/N of shape (p, d), and φ_m(x) of shape (p,)."""
    left = np.clip(np.floor(N * x), 0, N - 1)
    for corner in product((0, 1), repeat=x.shape[1]):
        m = left + corner
        yield m / N, np.prod(BUMP.at(3 * (N * x - m)), axis=1)


def local_taylor(f: Smooth, x: np.ndarray, N: int, n: int) -> np.ndarray:
    """f_1(x) = Σ_m φ_m(x) P_m(x), P_m the Taylor polynomial of degree n - 1 at m/N; only the active parts are computed."""
    total = np.zeros(len(x))
    for centre, phi in active(x, N):
        h = x - centre
        for k in indices(f.d, n):
            total += phi * f.partial(k, centre) * np.prod(h ** np.array(k), axis=1) / math.prod(math.factorial(i) for i in k)
    return total


def taylor_bound(d: int, n: int, N: int) -> float:
    """2^d d^n / n! N^{-n}."""
    return 2**d * d**n / math.factorial(n) * float(N) ** -n


def sup_error(f: Smooth, N: int, n: int) -> Sup:
    """sup |f - f_1| over the cube, between an attained value and a true upper bound.

    With r = 2/(3N), the reach of a bump: ∂_j(f - f_1) = Σ φ ∂_j(f - P) - Σ (∂_j φ)(P - f), where |f - P| <= (dr)^n / n!, |∂_j(f - P)| <=
    (dr)^{n-1} / (n-1)! and Σ |∂_j φ| <= 6N; d such terms are a Lipschitz constant for the largest-coordinate norm.
    """
    r = 2 * f.d / (3 * N)
    lip = f.d * (r ** (n - 1) / math.factorial(n - 1) + 6 * N * r**n / math.factorial(n))
    rtol, most = (1e-3, 4_000_000) if f.d == 1 else (0.05, 400_000)
    return certified_sup(lambda x: f(x) - local_taylor(f, x, N, n), lip, np.zeros(f.d), np.ones(f.d), rtol, most)


class YarotskyPou(Experiment):
    """Taylor polynomials glued by a partition of unity approximate a function with n bounded derivatives up to N^{-n}.

    With ψ(z) = clip(2 - |z|, 0, 1), four ReLU units, and a bump at each m/N, m in {0 … N}^d,

        φ_m(x) = ∏_k ψ(3N(x_k - m_k/N)),   Σ_m φ_m = 1,     f_1 = Σ_m φ_m P_m,     |f - f_1| <= (2^d d^n / n!) N^{-n}

    for f with all derivatives up to order n at most 1 on [0, 1]^d and P_m its Taylor polynomial of degree n - 1 at m/N. At most 2^d bumps
    are not 0 at a point. They add up to 1, so f_1 is a mean of the P_m and even (2d/3N)^n / n! bounds the error.
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
        for d, N in ((1, max(c.grids)), (2, 8), (3, 4)):
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
            for n in c.orders:
                sups = [sup_error(f, int(k), n) for k in N]
                high = np.array([s.high for s in sups])
                self.errors[f.d, n] = high
                yield at_most(f"{f.name}, n = {n}: error, 2^d d^n / n! N^-n", high, [taylor_bound(f.d, n, int(k)) for k in N])
                yield at_most(f"{f.name}, n = {n}: error, (2d/3N)^n / n!", high, (2 * f.d / (3 * N)) ** n / math.factorial(n))
                yield slope(f"{f.name}, n = {n}: rate", N, high, -n, 0.1)
                if f.d == 1 and 32 in c.grids:
                    yield published(f"sin x, N = 32, n = {n}: reference value", float(high[c.grids.index(32)]), *REFERENCE[n])

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
        axes[1].set(title="The error falls like N^-n", xlabel="grid N", ylabel="sup |f - f_1|, certified")
        axes[1].legend(ncols=2, loc="lower left")
