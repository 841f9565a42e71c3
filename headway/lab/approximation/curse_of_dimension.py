"""Lipschitz functions of many variables."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, product

import numpy as np

from headway.core.config import require
from headway.lab import style
from headway.lab.checks import Check, at_least, at_most, close, equal, slope
from headway.lab.old import Experiment
from headway.lab.tools.minimax import minimax

SIDES = {
    1: (10, 100, 1000, 10_000, 100_000), 2: (4, 10, 32, 100, 316), 3: (3, 6, 12, 23, 46), 4: (2, 4, 7, 12, 17), 5: (2, 3, 5, 7, 10),
    6: (2, 3, 4, 5, 6),
}  # fmt: skip


@dataclass(frozen=True)
class Config:
    dimensions: int = 6  # d = 1 … dimensions for the rate
    cones: int = 50  # of a random Lipschitz function
    cells: int = 1000  # cells at most in which the error is sought; the upper bound covers all
    features: tuple[int, ...] = (2, 8, 24, 32)  # M, dimensions of the linear spaces; the grid has 36 cells
    epsilon: float = 0.1  # accuracy of the right panel

    def __post_init__(self) -> None:
        require((1 <= self.dimensions <= 6, "d is at most 6"), (all(1 <= M < 36 for M in self.features), "every M is below 36"))
        require((self.cones >= 1 and self.cells >= 100, "cones >= 1, cells >= 100"), (0 < self.epsilon < 0.5, "0 < ε < 1/2"))


@dataclass(frozen=True)
class Cones:
    """g(x) = min_k (v_k + s_k |x - c_k|_∞) with s_k = ±1: 1-Lipschitz in the max norm."""

    v: np.ndarray
    s: np.ndarray
    c: np.ndarray

    def __call__(self, x: np.ndarray) -> np.ndarray:
        return np.min(self.v + self.s * np.max(np.abs(x[:, None] - self.c), axis=2), axis=1)


def random_cones(count: int, d: int, rng: np.random.Generator) -> Cones:
    return Cones(rng.uniform(0, 0.3, count), rng.choice([-1.0, 1.0], count), rng.random((count, d)))


def constant_fit(g: Cones, n: int, d: int, most: int, rng: np.random.Generator) -> float:
    """The largest |g - g(centre)| found at face centres of cells of side 1/n: a lower bound of the sup error of the fit."""
    cells = np.arange(n**d) if n**d <= most else rng.choice(n**d, most, replace=False)
    centre = (np.stack(np.unravel_index(cells, (n,) * d), axis=1) + 0.5) / n
    middle, moves = g(centre), np.concatenate([np.eye(d), -np.eye(d)]) / (2 * n)
    return float(max(np.max(np.abs(g(centre + move) - middle)) for move in moves))


def bumps(signs: np.ndarray, centres: np.ndarray, h: float, x: np.ndarray) -> np.ndarray:
    """Σ_i s_i (h/2 - |x - c_i|_∞)_+ for each row of signs: 1-Lipschitz, ±h/2 at the centres of the cells."""
    return np.maximum(h / 2 - np.max(np.abs(x[:, None] - centres), axis=2), 0) @ np.atleast_2d(signs).T


def grid(n: int, d: int) -> np.ndarray:
    return np.array(list(product((np.arange(n) + 0.5) / n, repeat=d)))


def space(kind: str, M: int, x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """M random functions at points x: cosines or ReLUs of random directions."""
    z = x @ rng.normal(0, 6, (x.shape[1], M)) + rng.uniform(-6, 6, M)
    return np.cos(z) if kind == "cosines" else np.maximum(z, 0)


def hard_signs(features: np.ndarray) -> np.ndarray:
    """sign(z) for a z that is orthogonal to every feature: the best fit of these signs is 0."""
    z = np.linalg.svd(features.T)[2][-1]
    return np.where(z >= 0, 1.0, -1.0)


class CurseOfDimension(Experiment):
    """Approximating every Lipschitz function on [0, 1]^d to accuracy ε takes about (1/ε)^d parameters.

    For functions that are 1-Lipschitz in the max norm and h = N^{-1/d}:

        N cells of side h with the value at the centre:                      sup error <= h/2
        the 2^N functions Σ_i ±(h/2 - |x - c_i|_∞)_+ on N cells:             any two are h apart
        a linear space of dimension M < N: for one of them                   sup error >= h/2

    For the last line take z ≠ 0 orthogonal to the M features at the N centres and the signs of z. For continuous selections of fewer than
    N parameters the same holds (DeVore, Howard, Micchelli), which is cited, not tested.
    """

    lecture = "A, B"
    kinds = ("RATE", "BOUND")
    cost = "M"
    source = "DeVore, Howard, Micchelli 1989, https://doi.org/10.1007/BF01171759"
    assumptions = (
        "Lipschitz continuity is all that is known",
        "uniform error",
        "the space, or a continuous choice of parameters, is fixed first",
    )
    aliases = ("curse of dimensionality", "worst case Lipschitz approximation")
    panels = 2
    small = {"dimensions": 3, "cells": 100, "cones": 20, "features": (2, 24)}

    def measure(self, c: Config, rng: np.random.Generator) -> Iterator[Check]:
        self.errors = {}
        for d in range(1, c.dimensions + 1):
            g, N = random_cones(c.cones, d, rng), np.array(SIDES[d]) ** d
            self.errors[d] = np.array([constant_fit(g, n, d, c.cells, rng) for n in SIDES[d]])
            yield at_most(
                f"d = {d}: sup error of N cells against ½ N^(-1/d), N = {N[0]} … {N[-1]}",
                self.errors[d],
                0.5 * N ** (-1 / d),
                rounding=1e-9,
            )
            yield slope(f"d = {d}: error in N", N, self.errors[d], -1 / d, 0.15 / d)
        self.needed = {d: next(n for n in range(1, 100) if 1 / (2 * n) <= c.epsilon + 1e-12) ** d for d in self.errors}
        for d, n in ((1, 36), (2, 6)):
            h, centres = 1 / n, grid(n, d)
            for kind in ("cosines", "ReLUs"):
                fits = []
                for M in c.features:
                    features = space(kind, M, centres, rng)
                    fits.append(minimax(features, hard_signs(features) * h / 2)[0])
                yield at_least(
                    f"d = {d}, N = 36, M <= {max(c.features)} {kind}: best fit of the hard signs against h/2", fits, h / 2, rounding=1e-7
                )
            s, x, y = rng.choice([-1.0, 1.0], (20, n**d)), rng.random((400, d)), rng.random((400, d))
            quotient = np.abs(bumps(s, centres, h, x) - bumps(s, centres, h, y)) / np.max(np.abs(x - y), axis=1)[:, None]
            yield at_most(f"d = {d}: difference quotients of 20 of the functions", quotient, 1.0, rounding=1e-9)
        centres = grid(2, 3)
        table = bumps(np.array(list(product([-1.0, 1.0], repeat=8))), centres, 0.5, centres)
        gaps = [np.max(np.abs(table[:, a] - table[:, b])) for a, b in combinations(range(256), 2)]
        yield equal("d = 3, N = 8: distances of all 32640 pairs at the centres are h = ½", np.array(gaps), np.full(len(gaps), 0.5))
        yield close("d = 3, N = 8: the functions are ±h/2 at the centres", np.abs(table), np.full(table.shape, 0.25), 1e-12)

    def control(self, c: Config, rng: np.random.Generator) -> Iterator[Check]:
        h, centres = 1 / 6, grid(6, 2)
        features = space("cosines", 36, centres, rng)
        yield at_least("M = N: best fit of random signs against h/2", minimax(features, rng.choice([-1.0, 1.0], 36) * h / 2)[0], h / 2)
        signs = np.where(features[:, 0] >= 0, 1.0, -1.0)
        yield at_least("M = 24, signs of a feature: best fit against h/2", minimax(features[:, :24], signs * h / 2)[0], h / 2)
        g = random_cones(c.cones, 2, rng)
        steep = Cones(3 * g.v, 3 * g.s, g.c)
        yield at_most("3-Lipschitz, d = 2, N = 100: sup error against ½ N^(-1/d)", constant_fit(steep, 10, 2, c.cells, rng), 0.05)

    def plot(self, c: Config, axes: "style.Panels") -> None:
        looks = [style.series(i) for i in range(5)] + [style.MEASURED | {"color": style.VERMILION, "marker": "P"}]
        for d, errors in self.errors.items():
            axes[0].loglog(np.array(SIDES[d]) ** d, errors, **looks[d - 1], label=f"d = {d}")
        axes[0].axhline(c.epsilon, **style.BOUND, label=f"ε = {c.epsilon:g}")
        axes[0].set(title="N cells: slope -1/d", xlabel="cells N", ylabel="sup |g - h|", ylim=(1e-7, 1))
        axes[0].legend(loc="lower left", ncols=2)
        d = np.array(list(self.needed))
        axes[1].semilogy(d, list(self.needed.values()), **style.MEASURED, label="cells that suffice")
        fewer = np.ceil(1 / (2 * c.epsilon) - 1e-9) - 1  # cells per side with h/2 > ε
        axes[1].semilogy(d, fewer**d, **style.BOUND, label="parameters that do not")
        axes[1].set(title=f"What ε = {c.epsilon:g} costs", xlabel="dimension d", ylabel="parameters")
        axes[1].legend()
