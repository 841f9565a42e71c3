"""Staircases of threshold units."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from headway.core.config import require
from headway.lab import style
from headway.lab.checks import Check, at_least, at_most, close, equal, published
from headway.lab.experiment import Experiment

PUBLISHED = {0.5: 0.4945, 0.1: 0.0999, 0.03: 0.0299}  # sup error for sin 7x, by ε


@dataclass(frozen=True)
class Config:
    epsilons: tuple[float, ...] = (0.5, 0.1, 0.03, 0.01)  # the errors ε to reach
    rho: float = 7.0  # the Lipschitz constant ρ of every target
    knots: int = 12  # of the random piecewise-linear target

    def __post_init__(self) -> None:
        require((all(0 < e < self.rho / 2 for e in self.epsilons), "every ε is between 0 and ρ/2"), (self.knots >= 2, "knots >= 2"))


@dataclass(frozen=True)
class Target:
    """A function with the places where it turns: between them it is monotone, so a supremum over a step is at an end or a turn."""

    name: str
    g: Callable[[np.ndarray], np.ndarray]
    turns: np.ndarray


@dataclass(frozen=True)
class Staircase:
    """f(x) = sum of a_i 1{x >= b_i}: one hidden layer of threshold units."""

    a: np.ndarray
    b: np.ndarray

    def __call__(self, x: np.ndarray) -> np.ndarray:
        return (x[:, None] >= self.b) @ self.a

    def sup_error(self, target: Target) -> float:
        """Exact: every step is compared at both of its ends and at the turns inside."""
        edges, levels = np.append(self.b, 1.0), np.cumsum(self.a)
        turns = target.turns[(target.turns > 0) & (target.turns < 1)]
        x = np.concatenate([edges[:-1], edges[1:], turns])
        level = np.concatenate([levels, levels, levels[np.searchsorted(self.b, turns, side="right") - 1]])
        return float(np.max(np.abs(target.g(x) - level)))


def staircase(g: Callable[[np.ndarray], np.ndarray], m: int, where: float) -> Staircase:
    """m equal steps with the value of g at the left end (`where` 0) or in the middle (0.5) of each."""
    levels = g((np.arange(m) + where) / m)
    return Staircase(np.diff(levels, prepend=0.0), np.arange(m) / m)


def sine(rho: float) -> Target:
    return Target(f"sin {rho:g}x", lambda x: np.sin(rho * x), (np.arange(int(rho) + 1) + 0.5) * math.pi / rho)


class Threshold1D(Experiment):
    """A Lipschitz function on [0, 1] is a staircase of ⌈ρ/ε⌉ threshold units, up to ε.

    For |g(x) - g(y)| <= ρ|x - y| and m = ⌈ρ/ε⌉ units at b_i = i/m,

        f(x) = Σ_{i<m} a_i 1{x >= b_i},   a_0 = g(0),   a_i = g(b_i) - g(b_{i-1}),      sup |f - g| <= ε.

    Values from the middle of each step need only ⌈ρ/(2ε)⌉ units. That is optimal: for g = ρx a step of length ℓ errs by at least ρℓ/2.
    """

    lecture = "A"
    kinds = ("BOUND",)
    cost = "S"
    source = "Telgarsky, Deep Learning Theory lecture notes, ch. 2, https://mjt.cs.illinois.edu/dlt/"
    assumptions = ("g is ρ-Lipschitz on [0, 1]",)
    aliases = ("threshold units in one dimension", "staircase approximation")
    panels = 2
    small = {"epsilons": (0.5, 0.1)}

    def measure(self, c: Config, rng: np.random.Generator) -> Iterator[Check]:
        ends = np.linspace(0, 1, c.knots)
        heights = np.cumsum(np.append(0, c.rho * rng.choice([-1, 1], c.knots - 1) * np.diff(ends)))
        self.targets = [
            sine(c.rho),
            Target("ρ|x - ½|", lambda x: c.rho * np.abs(x - 0.5), np.array([0.5])),
            Target("random, slopes ±ρ", lambda x: np.interp(x, ends, heights), ends),
            Target("ρx", lambda x: c.rho * x, np.array([])),
        ]
        epsilon = np.array(c.epsilons)
        self.m, half = (np.ceil(c.rho / (k * epsilon) - 1e-9).astype(int) for k in (1, 2))
        self.errors = [[staircase(t.g, m, 0.0).sup_error(t) for m in self.m] for t in self.targets]
        for target, errors in zip(self.targets, self.errors, strict=True):
            for e, m, error in zip(epsilon, self.m, errors, strict=True):
                yield at_most(f"{target.name}: sup error of {m} units", error, e, rounding=1e-12)
            middles = [staircase(target.g, m, 0.5).sup_error(target) for m in half]
            yield at_most(f"{target.name}: from middles with half as many", middles, epsilon, rounding=1e-12)
        for e, error in zip(c.epsilons, self.errors[0], strict=True):
            if c.rho == 7 and e in PUBLISHED:
                yield published(f"sin 7x, ε = {e:g}: reference value", error, PUBLISHED[e], 1e-4)
        for e, m in zip(c.epsilons, self.m, strict=True):
            units = staircase(self.targets[0].g, m, 0.0).b.size
            yield equal(f"units for ε = {e:g}", units, math.ceil(Fraction(str(c.rho)) / Fraction(str(e))))
        yield close("ρx: the error is ρ/m", self.errors[3], c.rho / self.m)
        steps = np.diff(np.sort(rng.random((500, self.m[0] - 1)), axis=1), axis=1, prepend=0.0, append=1.0)
        yield at_least(f"ρx: any {self.m[0]} steps err by ρ/(2m)", c.rho * steps.max(axis=1) / 2, c.rho / (2 * self.m[0]))

    def control(self, c: Config, rng: np.random.Generator) -> Iterator[Check]:
        e, m, line, steep = c.epsilons[-1], self.m[-1], self.targets[3], sine(3 * c.rho)
        fewer = math.ceil(c.rho / (2 * e) - 1e-9) - 1
        yield at_most(f"ρx from middles with one unit too few, m = {fewer}", staircase(line.g, fewer, 0.5).sup_error(line), e)
        yield at_most(f"{steep.name} is not ρ-Lipschitz, m = {m}", staircase(steep.g, m, 0.0).sup_error(steep), e)

    def plot(self, c: Config, axes: "style.Panels") -> None:
        x, g = np.linspace(0, 1, 600), self.targets[0].g
        axes[0].plot(x, g(x), **style.TARGET, label=f"g = {self.targets[0].name}")
        axes[0].plot(x, staircase(g, self.m[0], 0.0)(x), **style.CURVE, label=f"{self.m[0]} threshold units")
        axes[0].set(title="A staircase", xlabel="x", ylabel="value")
        axes[0].legend()
        for i, target in enumerate(self.targets):
            axes[1].loglog(self.m, self.errors[i], **style.series(i), label=target.name)
        axes[1].loglog(self.m, c.rho / self.m, **style.BOUND, label="bound ρ/m")
        axes[1].set(title="The error falls like 1/m", xlabel="threshold units m", ylabel="sup |f - g|")
        axes[1].legend()
