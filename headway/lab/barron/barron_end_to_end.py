"""Barron's theorem from beginning to end: one hidden layer of threshold units."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from headway.core.config import require
from headway.lab import style
from headway.lab.barron.barron_gaussian import barron_constant
from headway.lab.barron.barron_subsample import slope_error
from headway.lab.barron.frequencies import ball
from headway.lab.barron.step_units import draw, rise
from headway.lab.checks import Check, at_most, close, mean_is, slope, vacuous
from headway.lab.old import Experiment

STEEP = 400.0  # κ of the sigmoids σ(κ(y - t)) that replace the steps


@dataclass(frozen=True)
class Config:
    dimensions: tuple[int, ...] = (2, 10, 30)  # the dimensions d
    sizes: tuple[int, ...] = (16, 64, 256, 1024)  # the numbers n of hidden units, increasing
    draws: int = 50  # independent nets for each d
    points: int = 1000  # where the error is averaged, uniform in the ball
    radius: float = 2.0  # of the larger ball that is tried in d = 10
    shift: float = 0.5  # ‖c‖ of the target exp(-‖x - c‖²/2)

    def __post_init__(self) -> None:
        require((len(self.sizes) >= 4 and list(self.sizes) == sorted(set(self.sizes)), "four or more sizes, increasing"))
        require((self.draws >= 10 and self.points >= 100, "draws >= 10 and points >= 100"), (self.radius >= 1.5, "radius >= 1.5"))


def errors(
    c: Config, x: np.ndarray, rng: np.random.Generator, radius: float = 1.0, kappa: float | None = None, phase: float = 1.0
) -> np.ndarray:
    """The mean of (f - f_n)² over the points, of shape (draws, sizes); a larger net contains the smaller ones of the same draw."""
    average = np.array([[(i < n) / n for n in c.sizes] for i in range(c.sizes[-1])], dtype=np.float32)
    nets = (draw(c.sizes[-1], x.shape[1], phase * c.shift, rng, radius)(x, kappa) @ average for _ in range(c.draws))
    return np.stack([np.mean((net - rise(x, c.shift)[:, None]) ** 2, axis=0) for net in nets])


def greedy(units: np.ndarray, target: np.ndarray, most: int) -> tuple[np.ndarray, np.ndarray]:
    """f_n = (1 - 1/n) f_{n-1} + g_n/n with the best g_n among the columns; the choices, and the squared error for every n."""
    f, chosen, error, power = np.zeros(len(target)), [], [], np.sum(units.astype(float) ** 2, axis=0)
    for n in range(1, most + 1):
        rest = target - (1 - 1 / n) * f
        best = int(np.argmin(power / n**2 - 2 / n * (rest @ units)))
        f = (1 - 1 / n) * f + units[:, best] / n
        chosen.append(best)
        error.append(float(np.mean((target - f) ** 2)))
    return np.array(chosen), np.array(error)


class BarronEndToEnd(Experiment):
    """One hidden layer of n sigmoidal units approximates f with a squared error of at most (2rC)²/n, whatever the dimension.

    On the ball of radius r, for every probability μ, with C = ∫ ‖w‖ |f̂(w)| dw finite and h_w(y) = (C/‖w‖) (cos(b_w + ‖w‖y) - cos b_w):

        f_n(x) = f(0) + (1/n) Σ_i 2r h'_{w_i}(t_i) s_i(x),     w_i ~ ‖w‖ |f̂| / C,   t_i ~ Unif[-r, r],
        s_i = 1{y >= t_i} if t_i > 0, else -1{y < t_i},        y = <w_i,x> / ‖w_i‖,       E ∫ (f - f_n)² dμ <= (2rC)²/n.

    A unit is unbiased, because h_w(y) = ∫_0^y h_w'(t) dt, and at most 2rC. For the Lebesgue measure the bound is multiplied by the volume
    of the ball. Steep sigmoids do as well as steps, and so does the greedy choice f_n = (1 - 1/n) f_{n-1} + g_n/n (Jones, Barron).
    """

    lecture = "A, C"
    kinds = ("BOUND", "RATE")
    cost = "M"
    source = "Barron 1993, theorem 1, https://doi.org/10.1109/18.256500; Jones 1992, https://doi.org/10.1214/aos/1176348546"
    assumptions = ("C is finite", "μ is a probability measure on the ball of radius r", "sigmoids may be arbitrarily steep")
    errata = ("A5", "C23")
    aliases = ("Barron's theorem", "dimension-free approximation rate")
    panels = 2
    small = {"draws": 12, "points": 300, "dimensions": (2, 30)}

    def measure(self, c: Config, rng: np.random.Generator) -> Iterator[Check]:
        n = np.array(c.sizes)
        self.errors: dict[int, np.ndarray] = {}
        for d in c.dimensions:
            x, bound = ball(c.points, d, rng), (2 * barron_constant(d)) ** 2 / n
            self.errors[d] = errors(c, x, rng)
            mean, spread = self.errors[d].mean(axis=0), self.errors[d].std(axis=0, ddof=1) / math.sqrt(c.draws)
            yield at_most(f"mean error <= (2C)²/n, d = {d}", mean, bound)
            yield at_most(f"best of {c.draws} draws <= (2C)²/n, d = {d}", self.errors[d].min(axis=0), bound)
            yield slope(f"error against n, d = {d}", n, mean, -1.0, max(0.15, 4 * slope_error(n, spread / mean)), r2=0.95)
            one = draw(10 * c.points, d, c.shift, rng)
            yield mean_is(f"one unit is unbiased, d = {d}", one(x[:1]), float(rise(x[:1], c.shift)[0]))
            size = float(np.max(np.abs(one(x[:50]))))
            yield at_most(f"one unit <= 2C, d = {d}", size, 2 * barron_constant(d), rounding=1e-6, kind="EXACT")
        x, self.bound = ball(c.points, 10, rng), (2 * barron_constant(10)) ** 2 / n
        self.others = {"sigmoids": errors(c, x, rng, kappa=STEEP).mean(axis=0)}
        yield at_most(f"sigmoids of steepness {STEEP:g}: mean error, d = 10", self.others["sigmoids"], self.bound)
        pool = draw(2000, 10, c.shift, rng)
        seen = pool(x[: c.points // 2])
        chosen, self.path = greedy(seen, rise(x[: c.points // 2], c.shift), 256)
        again = np.mean((seen[:, chosen].astype(float).mean(axis=1) - rise(x[: c.points // 2], c.shift)) ** 2)
        yield close("greedy: f_n is the mean of its n units, n = 256", self.path[-1], float(again), 1e-6)
        most = (2 * barron_constant(10)) ** 2 / np.arange(1, 257)
        yield at_most("greedy: error on its points <= (2C)²/n, n <= 256, d = 10", self.path, most)
        fresh = np.mean((pool(x[c.points // 2 :])[:, chosen].mean(axis=1) - rise(x[c.points // 2 :], c.shift)) ** 2)
        yield at_most("greedy: error on other points, n = 256, d = 10", float(fresh), most[-1])
        r, wide = c.radius, errors(c, c.radius * x, rng, radius=c.radius).mean(axis=0)
        yield at_most(f"ball of radius r = {r:g}: mean error <= (2rC)²/n, d = 10", wide, (r**2) * self.bound)
        far, one = np.array([[r, 0.0]]), draw(40 * c.points, 2, c.shift, rng, r)
        yield mean_is(f"ball of radius r = {r:g}: one unit is unbiased at ‖x‖ = r, d = 2", one(far), float(rise(far, c.shift)[0]))
        square = rng.uniform(-1, 1, (2 * c.points, 2))  # the integral over the disc as 4 times the mean over the square
        inside = square[np.sum(square**2, axis=1) <= 1]
        lebesgue = 4 * len(inside) / len(square) * errors(c, inside, rng).mean(axis=0)
        yield at_most("Lebesgue measure: error <= π (2C)²/n, d = 2", lebesgue, math.pi * (2 * barron_constant(2)) ** 2 / n)
        self.lebesgue = float(math.pi**5 / 120 * r**10 * wide[-1])  # the volume of a ball in ten dimensions is π⁵ r¹⁰ / 5!

    def control(self, c: Config, rng: np.random.Generator) -> Iterator[Check]:
        n, d = c.sizes[-1], c.dimensions[-1]
        bound = (2 * c.radius * barron_constant(10)) ** 2 / n
        yield vacuous(at_most(f"Lebesgue measure without the volume, d = 10, r = {c.radius:g}", self.lebesgue, bound), "A5")
        yield vacuous(at_most(f"O(1/n) without C, constant 1, d = {d}", float(self.errors[d][:, -1].mean()), 1 / n), "C23")
        without = errors(c, ball(c.points, 2, rng), rng, phase=0.0).mean(axis=0)
        yield slope("the phase b_w left out: error against n, d = 2", c.sizes, without, -1.0, 0.15)

    def plot(self, c: Config, axes: "style.Panels") -> None:
        n = np.array(c.sizes)
        for i, (d, values) in enumerate(self.errors.items()):
            look, mean = style.series(i), values.mean(axis=0)
            axes[0].loglog(n, mean, **look, label=f"d = {d}")
            axes[0].loglog(n, (2 * barron_constant(d)) ** 2 / n, **style.BOUND | {"color": look["color"]}, label=f"(2C)²/n, d = {d}")
            grid = style.CONTROL | {"marker": "", "color": look["color"]}
            axes[0].loglog(n, mean[0] * (n / n[0]) ** (-2 / d), **grid, label=f"a grid, n^(-2/{d})")
        axes[0].set(title="The rate does not depend on d", xlabel="hidden units n", ylabel="∫ (f - f_n)² dμ", ylim=(1e-4, 1e6))
        axes[0].legend(ncols=2, fontsize=8.5, loc="upper right")
        shown = self.errors.get(10, next(iter(self.errors.values())))
        axes[1].loglog(n, shown.mean(axis=0), **style.series(0), label="steps, mean")
        axes[1].loglog(n, shown.min(axis=0), **style.series(4), label=f"steps, best of {c.draws}")
        axes[1].loglog(n, self.others["sigmoids"], **style.series(1) | {"linestyle": "none"}, label="sigmoids, mean")
        axes[1].loglog(np.arange(1, 257)[15:], self.path[15:], **style.CURVE | {"color": style.GREEN}, label="greedy")
        axes[1].loglog(n, self.bound, **style.BOUND, label="(2C)²/n")
        axes[1].set(title="Ten dimensions", xlabel="hidden units n", ylabel="∫ (f - f_n)² dμ", ylim=(1e-4, 1e3))
        axes[1].legend(loc="upper right", ncols=2)
