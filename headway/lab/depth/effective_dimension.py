"""The dimension that a class of functions shows."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from headway.core.config import require
from headway.lab import style
from headway.lab.checks import Check, loglog_slope, slope
from headway.lab.depth.function_tree import KINK, approximate, root, tree_tables
from headway.lab.depth.partition_of_unity import Smooth, indices, local_taylor, sine_of_sum
from headway.lab.old import Experiment
from headway.lab.tools.lipschitz import SIDES, cell_error, ring


@dataclass(frozen=True)
class Config:
    leaves: tuple[int, ...] = (2, 4, 8)  # n, variables of the trees
    dimensions: int = 4  # Lipschitz functions of 1 … dimensions variables
    points: int = 6000  # random places where an error is measured

    def __post_init__(self) -> None:
        require((2 <= self.dimensions <= 6, "dimensions is 2 to 6"), (self.points >= 1000, "points >= 1000"))
        require(({8} <= {*self.leaves} <= {2, 4, 8, 16}, "n is 2, 4, 8 or 16, and 8 is among them"))


@dataclass(frozen=True)
class Family:
    """A class of functions: parameters and errors of its approximation, and the dimension that the theory gives it."""

    name: str
    expected: float
    parameters: np.ndarray
    errors: np.ndarray

    @property
    def measured(self) -> float:
        return -1 / loglog_slope(self.parameters, self.errors)[0]

    def rate(self, dimension: float) -> Check:
        """error ~ parameters^{-1/dimension}, up to 15 %."""
        return slope(f"{self.name}: -1/d_eff, d_eff = {dimension:g}", self.parameters, self.errors, -1 / dimension, 0.15 / dimension)


def lipschitz(d: int, rng: np.random.Generator) -> Family:
    """Piecewise constant fits, as in `curse-of-dimension`: the worst of eight random functions."""
    sides, drawn = SIDES[d], [ring(d, rng) for _ in range(8)]
    errors = [max(cell_error(*g, n) for g in drawn) for n in sides]
    return Family(f"Lipschitz, d = {d}", d, np.array([float(n) ** d for n in sides]), np.array(errors))


def smooth(f: Smooth, n: int, x: np.ndarray, grids: tuple[int, ...] = (8, 16, 32, 64)) -> Family:
    """Taylor polynomials on a partition of unity, as in `yarotsky-pou`."""
    errors = [float(np.max(np.abs(f(x) - local_taylor(f, x, N, n)))) for N in grids]
    stored = np.array([(N + 1.0) ** f.d * len(indices(f.d, n)) for N in grids])
    return Family(f"{n} derivative{'s' * (n > 1)}, d = {f.d}", f.d / n, stored, np.array(errors))


def rough_tree(n: int, x: np.ndarray, grids: tuple[int, ...] = (8, 16, 32, 64, 128)) -> Family:
    """A tree of |a + 2b - 1.3|/1.7, which is only Lipschitz, by values at the middles of K² cells: kinks are too rare to sample."""

    def levels(h: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
        v = x
        while v.shape[1] > 1:
            v = np.stack([h(v[:, 2 * i : 2 * i + 2]) for i in range(v.shape[1] // 2)], axis=1)
        return v[:, 0]

    def steps(v: np.ndarray, K: int) -> np.ndarray:
        return KINK.h((np.clip(np.floor(K * v), 0, K - 1) + 0.5) / K)

    errors = [float(np.max(np.abs(levels(lambda v, K=K: steps(v, K)) - levels(KINK.h)))) for K in grids]
    return Family(f"Lipschitz tree, n = {n}", 2.0, (n - 1) * np.array(grids) ** 2.0, np.array(errors))


def smooth_tree(n: int, x: np.ndarray, grids: tuple[int, ...] = (8, 16, 32, 64, 128)) -> Family:
    """The tree of `poggio-tree`, whose constituents have two derivatives."""
    errors = [float(np.max(np.abs(approximate(tree_tables(n, K), x)[-1][:, 0] - root(x)))) for K in grids]
    return Family(f"smooth tree, n = {n}", 1.0, (n - 1) * (np.array(grids) + 1.0) ** 2, np.array(errors))


class EffectiveDimension(Experiment):
    """The effective dimension of a class is read off the slope of error against parameters: smoothness and composition lower it.

    If N parameters reach the error ε with N ~ ε^{-d_eff},

        error ~ N^{-1/d_eff},     d_eff = d for Lipschitz functions of d variables,     d/m with m derivatives,     2/m for binary trees.

    Slopes are those of the constructions of `curse-of-dimension`, `yarotsky-pou` and `poggio-tree`, each an upper bound on what the class
    needs; errors are the largest at random places. The trees have d_eff = 2 or 1 (m = 1 or 2) for every number n of variables.
    """

    lecture = "B"
    kinds = ("RATE",)
    cost = "S"
    source = "Poggio et al. 2017, https://arxiv.org/abs/1611.00740; DeVore, Howard and Micchelli 1989, https://doi.org/10.1007/BF01171759"
    assumptions = ("the construction is optimal in order, so that its slope is that of the class",)
    aliases = ("effective dimensionality", "rate and dimension")
    panels = 2
    small = {"leaves": (2, 8), "dimensions": 3, "points": 2000}

    def measure(self, c: Config, rng: np.random.Generator) -> Iterator[Check]:
        self.families = [lipschitz(d, rng) for d in range(1, c.dimensions + 1)]
        self.families += [rough_tree(n, rng.random((c.points, n))) for n in c.leaves]
        self.families += [smooth_tree(n, rng.random((c.points, n))) for n in c.leaves]
        for d, n in ((1, 1), (1, 2), (1, 3), (2, 1), (2, 2)):
            self.families.append(smooth(sine_of_sum(d), n, rng.random((c.points, d))))
        for family in self.families:
            yield family.rate(family.expected)

    def control(self, c: Config, rng: np.random.Generator) -> Iterator[Check]:
        by_name = {family.name: family for family in self.families}
        yield by_name["Lipschitz tree, n = 8"].rate(8.0)
        yield by_name[f"Lipschitz, d = {c.dimensions}"].rate(1.0)
        corner = 0.5**0.5
        kink = Smooth("|x - 1/√2|", 1, lambda k, x: np.abs(x[..., 0] - corner) if sum(k) == 0 else np.sign(x[..., 0] - corner))
        near = np.append(corner, np.linspace(corner - 0.2, corner + 0.2, 4001))[:, None]
        made = smooth(kink, 2, near)
        yield Family("one derivative taken for two, d = 1", 0.5, made.parameters, made.errors).rate(0.5)

    def plot(self, c: Config, axes: "style.Panels") -> None:
        chosen = {"Lipschitz, d = 1", f"Lipschitz, d = {c.dimensions}", "Lipschitz tree, n = 8", "smooth tree, n = 8"}
        for i, family in enumerate(f for f in self.families if f.name in chosen | {"3 derivatives, d = 1"}):
            axes[0].loglog(family.parameters, family.errors, **style.series(i), label=family.name)
        axes[0].set(title="The slope is -1/d_eff", xlabel="parameters N", ylabel="largest error found")
        axes[0].legend(fontsize=8.5)
        y = np.arange(len(self.families))[::-1]
        axes[1].barh(y, [family.measured for family in self.families], color=style.BLUE, height=0.62, label="measured")
        look = {"color": style.INK, "marker": "|", "markersize": 11, "linestyle": "none"}
        axes[1].plot([family.expected for family in self.families], y, **look, label="theory")
        axes[1].set_yticks(y, [family.name for family in self.families], fontsize=8)
        axes[1].set(title="Effective dimension", xlabel="d_eff", ylabel="class")
        axes[1].legend(loc="lower right")
