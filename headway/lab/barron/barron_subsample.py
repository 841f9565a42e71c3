"""Frequencies drawn at random: the error falls like 1/r in every dimension."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from headway.core.config import require
from headway.lab import style
from headway.lab.barron.barron_gaussian import barron_constant
from headway.lab.barron.frequencies import ball, frequencies
from headway.lab.checks import Check, at_most, equal, mean_is, published, slope, within
from headway.lab.old import Experiment

PUBLISHED = {10: 1.35e-2, 40: 3.3e-3, 160: 8.4e-4, 640: 2.1e-4}  # mean error in d = 10, σ = 1, by r


@dataclass(frozen=True)
class Config:
    dimensions: tuple[int, ...] = (2, 10, 50)  # the dimensions d
    sizes: tuple[int, ...] = (10, 40, 160, 640)  # the numbers r of cosine units, increasing
    draws: int = 50  # independent nets for each d
    points: int = 4000  # where the error is averaged, uniform in the unit ball
    units: int = 20000  # single units that are averaged, for each seed

    def __post_init__(self) -> None:
        require((len(self.sizes) >= 4 and list(self.sizes) == sorted(set(self.sizes)), "four or more sizes, increasing"))
        require((all(d >= 1 for d in self.dimensions), "every d >= 1"))
        require((self.draws >= 10 and self.points >= 100, "draws >= 10 and points >= 100"))


@dataclass(frozen=True)
class Target:
    """exp(-‖x - c‖²/2σ²) with its Barron constant and its units (C/‖w‖) (cos(<w,x> + b_w) - cos b_w), b_w = -<w,c>."""

    d: int
    sigma: float = 1.0
    shift: float = 0.0  # every coordinate of c is shift/√d

    @property
    def C(self) -> float:
        return barron_constant(self.d, self.sigma)

    @property
    def centre(self) -> np.ndarray:
        return np.full(self.d, self.shift / math.sqrt(self.d))

    def __call__(self, x: np.ndarray) -> np.ndarray:
        return np.exp(-np.sum((x - self.centre) ** 2, axis=-1) / (2 * self.sigma**2))

    def units(self, x: np.ndarray, w: np.ndarray) -> np.ndarray:
        """Of shape (points, units). Cosines in single precision, ten times as fast: the rounding of 1e-7 is far below every error."""
        b = -(w @ self.centre)
        cosines = np.cos((x @ w.T + b).astype(np.float32))
        return (cosines - np.cos(b).astype(np.float32)) * (self.C / np.linalg.norm(w, axis=1)).astype(np.float32)


def squared_errors(target: Target, x: np.ndarray, sizes: tuple[int, ...], draws: int, rng: np.random.Generator) -> np.ndarray:
    """(f - f_r)² of shape (draws, points, sizes); a larger net contains the smaller ones of the same draw."""
    average = np.array([[(i < r) / r for r in sizes] for i in range(sizes[-1])], dtype=np.float32)
    rise = (target(x) - target(np.zeros(target.d)))[:, None]
    nets = (target.units(x, frequencies(sizes[-1], target.d, target.sigma, rng)) @ average for _ in range(draws))
    return np.stack([(net - rise) ** 2 for net in nets])


def slope_error(x: np.ndarray, relative: np.ndarray) -> float:
    """The standard error of a slope of log y against log x when y has these relative standard errors."""
    u = np.log(x) - np.log(x).mean()
    return float(np.linalg.norm(u * relative) / (u @ u))


class BarronSubsample(Experiment):
    """A net of r cosine units with random frequencies errs by at most C²/r on average, in every dimension.

    Draw w_1, ..., w_r from p(w) = ‖w‖ |f̂(w)| / C and set

        f_r(x) = f(0) + (1/r) Σ_i (C / ‖w_i‖) (cos(b_{w_i} + <w_i,x>) - cos b_{w_i}).

    A unit is unbiased and at most C‖x‖, so E ∫ (f - f_r)² dμ <= C²/r for every probability μ on the unit ball, and some draw is as good.
    For the Gaussian of width σ, σ‖w‖ is chi with d + 1 degrees of freedom. The mean over draws estimates the expectation.
    """

    lecture = "A, C"
    kinds = ("STAT", "BOUND")
    cost = "M"
    source = "Barron 1993, https://doi.org/10.1109/18.256500; Telgarsky, Deep Learning Theory lecture notes, ch. 3"
    assumptions = ("C is finite", "μ is a probability measure on the unit ball", "w is drawn from p, not from |f̂|")
    aliases = ("Barron's theorem, step 2", "Maurey's argument", "empirical method of Maurey")
    panels = 2
    small = {"draws": 16, "points": 300, "units": 2000, "dimensions": (2, 10)}

    def measure(self, c: Config, rng: np.random.Generator) -> Iterator[Check]:
        r = np.array(c.sizes)
        self.errors: dict[int, np.ndarray] = {}  # mean over the points, (draws, sizes)
        for d in c.dimensions:
            target, x = Target(d), ball(c.points, d, rng)
            squares = squared_errors(target, x, c.sizes, c.draws, rng)
            self.errors[d] = squares.mean(axis=1)
            mean, spread = self.errors[d].mean(axis=0), self.errors[d].std(axis=0, ddof=1) / math.sqrt(c.draws)
            yield at_most(f"mean error <= C²/r, d = {d}, C = {target.C:.3f}", mean, target.C**2 / r)
            yield at_most(f"best of {c.draws} draws <= C²/r, d = {d}", self.errors[d].min(axis=0), target.C**2 / r)
            point = squares.mean(axis=0)[:, 1] / np.sum(x * x, axis=1)
            yield at_most(f"mean error at each point <= C²‖x‖²/r, d = {d}, r = {r[1]}", point, target.C**2 / r[1])
            yield slope(f"error against r, d = {d}", r, mean, -1.0, max(0.1, 4 * slope_error(r, spread / mean)), r2=0.95)
            for k, size in enumerate(c.sizes):
                if d == 10 and size in PUBLISHED:  # both numbers are means over draws, and the reference is rounded to two digits
                    room = 4 * math.sqrt(2) * spread[k] + PUBLISHED[size] * 0.02
                    yield published(f"d = 10, r = {size}: reference value", mean[k], PUBLISHED[size], room)
        sizes, largest = c.sizes[:2], []
        for d in c.dimensions:
            same, moved = Target(d, sigma=barron_constant(d)), Target(d, shift=0.5)
            x = ball(c.points, d, rng)
            largest.append(float(squared_errors(same, x, sizes, c.draws, rng).mean(axis=(0, 1))[1]))
            error = squared_errors(moved, x, sizes, c.draws, rng).mean(axis=(0, 1))
            yield at_most(f"Gaussian around ‖c‖ = ½: mean error <= C²/r, d = {d}", error, moved.C**2 / np.array(sizes))
            w = frequencies(1000, d, 1.0, rng)
            units = np.abs(moved.units(x, w)).max(axis=1) / np.linalg.norm(x, axis=1)
            yield at_most(f"one unit <= C‖x‖, d = {d}", units, moved.C, rounding=1e-4, kind="EXACT")  # single precision, close to x = 0
        self.same = np.array(largest)
        yield at_most(f"C = 1 in every dimension: mean error, r = {sizes[1]}", self.same, 1 / sizes[1])
        yield equal("C = 1: the error does not grow with d", bool(np.all(np.diff(self.same) <= 0)), True)

    def sample(self, c: Config, rng: np.random.Generator) -> Iterator[Check]:
        for d in c.dimensions:
            target, x = Target(d, shift=0.5), np.append(0.8, np.zeros(d - 1))
            w = frequencies(c.units, d, 1.0, rng)
            yield mean_is(f"σ‖w‖ is chi of d + 1, d = {d}", np.linalg.norm(w, axis=1), barron_constant(d + 1))
            yield mean_is(f"one unit is unbiased, d = {d}", target.units(x[None], w), float(target(x) - target(0 * x)))

    def control(self, c: Config, rng: np.random.Generator) -> Iterator[Check]:
        target, x = Target(2), np.array([[0.8, 0.0]])
        units = target.units(x, frequencies(20000, 2, 1.0, rng, degrees=0))[0]
        error = float(units.std(ddof=1)) / math.sqrt(units.size)
        yield within("w from |f̂| instead of p (chi of d): unbiased", float(units.mean()), float(target(x)[0]) - 1, error)
        far = np.abs(target.units(10 * ball(c.points, 2, rng), frequencies(1000, 2, 1.0, rng)))
        yield at_most("one unit <= C outside of the unit ball, ‖x‖ <= 10, d = 2", float(far.max()), target.C)

    def plot(self, c: Config, axes: "style.Panels") -> None:
        r = np.array(c.sizes)
        for i, (d, errors) in enumerate(self.errors.items()):
            look, bound = style.series(i), barron_constant(d) ** 2 / r
            axes[0].loglog(r, errors.mean(axis=0), **look, label=f"d = {d}")
            axes[0].loglog(r, bound, **style.BOUND | {"color": look["color"]}, label=f"C²/r, d = {d}")
            dots = look | {"linestyle": "none", "markersize": 3, "alpha": 0.6}
            axes[1].loglog((r * 1.15**i * np.ones_like(errors)).ravel(), (errors / bound).ravel(), **dots, label=f"d = {d}")
        axes[1].axhline(1.0, **style.BOUND, label="bound")
        axes[0].set(title="Mean error over the draws", xlabel="cosine units r", ylabel="∫ (f - f_r)² dμ", ylim=(1e-5, 1e4))
        axes[1].set(title="Every draw, as a share of the bound", xlabel="cosine units r", ylabel="error · r / C²", ylim=(1e-4, 30))
        axes[0].legend(ncols=2, fontsize=8.5, loc="upper right")
        axes[1].legend(ncols=2, loc="lower right")
