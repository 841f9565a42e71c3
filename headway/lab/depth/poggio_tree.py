"""Functions that are composed of functions of two variables."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from headway.core.config import require
from headway.lab import style
from headway.lab.checks import Check, at_least, at_most, close, equal, slope, vacuous
from headway.lab.tools.freudenthal import Function, interpolate, multilinear, tabulate
from headway.lab.tools.function_tree import KINDS, KINK, approximate, kind, root, tree, tree_net, tree_tables
from headway.lab.old import Experiment


@dataclass(frozen=True)
class Config:
    leaves: tuple[int, ...] = (2, 4, 8, 16)  # n, variables of the trees
    grids: tuple[int, ...] = (8, 16, 32, 64, 128)  # K: a constituent stores (K + 1)² values
    points: int = 4000  # random places where the errors are measured

    def __post_init__(self) -> None:
        require(
            (all(n in (2, 4, 8, 16, 32) for n in self.leaves) and {4, 8} <= {*self.leaves}, "n is a power of two to 32; 4 and 8 are needed")
        )
        require((len(self.grids) >= 4 and min(self.grids) >= 4, "at least four K, all >= 4"), (self.points >= 200, "points >= 200"))


class PoggioTree(Experiment):
    """A binary tree of smooth functions of two variables needs ε^{-2/m} parameters, whatever the number n of its variables.

    Let f be a tree of n - 1 constituents h: [0, 1]² -> [0, 1] with m = 2 bounded derivatives and the Lipschitz constant λ in the max norm.
    With interpolants on K×K Freudenthal triangles, which err by ε' = H/(8K²), H >= |h_aa| + 2|h_ab| + |h_bb|,

        error at a node <= ε' + λ max(errors below),     error at the root <= ε' (1 + λ + … + λ^{J-1}),     J = log₂ n,

    with (n - 1)(K + 1)² parameters, so the error falls like parameters^{-1}; a grid in n dimensions gives parameters^{-2/n}. The
    interpolant is Σ h(i/K, j/K) φ(Kx - (i, j)) with a ReLU net φ, and never leaves [0, 1]. Errors at the root are the largest of random
    places. The grid is evaluated without storing it, so that its slope is fitted where it holds.
    """

    lecture = "B"
    kinds = ("BOUND", "RATE")
    cost = "M"
    source = "Poggio, Mhaskar, Rosasco, Miranda and Liao 2017, theorems 1 and 2, https://arxiv.org/abs/1611.00740"
    assumptions = ("f is a binary tree, which is known", "constituents have two bounded derivatives and values in [0, 1]")
    errata = ("B12",)
    aliases = ("compositional functions", "hierarchically local functions")
    panels = 2
    small = {"leaves": (2, 4, 8), "grids": (8, 16, 32, 64), "points": 300}

    def measure(self, c: Config, rng: np.random.Generator) -> Iterator[Check]:
        x, tables = rng.random((300, 4)), tree_tables(4, 3)
        yield close("n = 4, K = 3: one ReLU net, evaluated lazily", tree_net(tables, 4)(x)[:, 0], approximate(tables, x)[-1][:, 0], 1e-12)
        worst = [float(np.max(np.abs(interpolate(tabulate(k.h, K), x[:, :2]) - k.h(x[:, :2])))) for k in KINDS for K in c.grids]
        proved = np.array([k.second / (8 * K * K) for k in KINDS for K in c.grids])
        yield at_most("error of one constituent, H/(8K²)", worst, proved, rounding=1e-9)
        self.K, self.error, self.count, self.grid = np.array(c.grids), {}, {}, {}
        lipschitz, second = max(k.lipschitz for k in KINDS), max(k.second for k in KINDS)
        for n in c.leaves:
            J, x = n.bit_length() - 1, rng.random((c.points, n))
            exact, excess, found, counts = tree(x), [], [], []
            for K in c.grids:
                tables = tree_tables(n, K)
                gaps = [np.abs(a - b) for a, b in zip(approximate(tables, x), exact, strict=True)]
                for level, (below, here) in enumerate(pairwise(gaps)):
                    for i in range(here.shape[1]):
                        h = kind(level, i)
                        allowed = h.second / (8 * K * K) + h.lipschitz * below[:, 2 * i : 2 * i + 2].max(axis=1)
                        excess.append(float(np.max(here[:, i] / allowed)))
                found.append(float(gaps[-1].max()))
                counts.append(sum(table.size for level in tables for table in level))
            self.error[n], self.count[n] = np.array(found), np.array(counts)
            yield at_most(f"n = {n}: error / (ε' + λ max(errors below)), every node", excess, 1.0, rounding=1e-9)
            bound = second / (8 * self.K**2) * sum(lipschitz**j for j in range(J))
            yield at_most(f"n = {n}: error at the root, ε'(1 + … + λ^(J-1))", self.error[n], bound)
            yield equal(f"n = {n}: parameters are (n - 1)(K + 1)²", self.count[n], (n - 1) * (self.K + 1) ** 2)
            yield slope(f"n = {n}: error against parameters, tree", self.count[n], self.error[n], -1.0, 0.1)
            if n <= 8:
                some = x[: max(200, c.points // n**2)]
                self.grid[n] = np.array([np.max(np.abs(multilinear(root, K, some) - root(some))) for K in c.grids])
                yield slope(f"n = {n}: error against parameters, grid", (self.K + 1.0) ** n, self.grid[n], -2 / n, 0.2 / n)
            if n in (4, 8):
                side = [max(1, int(p ** (1 / n) + 1e-9) - 1) for p in self.count[n]]
                same = [float(np.max(np.abs(multilinear(root, k, some) - root(some)))) for k in side]
                yield at_least(f"n = {n}: error of a grid with as many parameters, tree", same, self.error[n])

    def control(self, c: Config, rng: np.random.Generator) -> Iterator[Check]:
        yield slope("a grid in 8 dimensions at the rate of the tree", (self.K + 1.0) ** 8, self.grid[8], -1.0, 0.1)
        x = rng.random((c.points, 2))
        b = rng.uniform(0.15, 0.65, c.points)
        ridge = np.stack([1.3 - 2 * b, b], axis=1)  # where it has its kink, so that the largest error is not missed
        rough = [float(np.max(np.abs(interpolate(tabulate(KINK.h, K), ridge) - KINK.h(ridge)))) for K in c.grids]
        yield slope("|a + 2b - 1.3|/1.7, which has one derivative", (self.K + 1) ** 2, rough, -1.0, 0.1)
        low = [0.4 * k.second for k in KINDS]  # H/20 in place of H/8
        below = [float(np.max(np.abs(interpolate(tabulate(k.h, 8), x) - k.h(x)))) for k in KINDS]
        yield at_most("error of one constituent, H/(20K²)", below, np.array(low) / (8 * 64))
        y = rng.random((c.points, 9))

        def ternary(v: np.ndarray) -> np.ndarray:
            return 0.5 + 0.5 * np.sin(v[:, 0] + 2 * v[:, 1] - v[:, 2])

        def over(h: Function, three: np.ndarray) -> np.ndarray:
            return h(np.stack([h(three[:, 3 * i : 3 * i + 3]) for i in range(3)], axis=1))

        gaps = [float(np.max(np.abs(over(lambda v, K=K: multilinear(ternary, K, v), y) - over(ternary, y)))) for K in c.grids]
        claim = slope('"non-binary tree": as if 9 variables in a ternary tree needed ε^(-9/2)', 4 * (self.K + 1.0) ** 3, gaps, -2 / 9, 0.05)
        yield vacuous(claim, "B12")

    def plot(self, c: Config, axes: "style.Panels") -> None:
        for i, n in enumerate(c.leaves):
            axes[0].loglog(self.count[n], self.error[n], **style.series(i), label=f"tree, n = {n}")
            if n in self.grid:
                axes[1].loglog((self.K + 1.0) ** n, self.grid[n], **style.series(i), label=f"grid, n = {n}")
                axes[1].loglog(self.count[n], self.error[n], **style.series(i) | {"linestyle": ":", "markersize": 3})
        ends = self.count[c.leaves[0]][[0, -1]].astype(float)
        axes[0].loglog(ends, 0.5 * self.error[c.leaves[0]][0] * ends[0] / ends, **style.BOUND, label="slope -1")
        axes[0].set(title="Trees: the rate does not depend on n", xlabel="parameters", ylabel="largest error found")
        axes[1].plot([], [], color=style.SOFT, linestyle=":", label="trees")
        axes[1].set(title="Grids: slope -2/n", xlabel="parameters", ylabel="largest error found")
        for panel in axes:
            panel.legend()
