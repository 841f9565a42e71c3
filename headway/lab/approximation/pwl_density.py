"""Interpolation by piecewise-linear functions."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from headway.core.config import require
from headway.lab import style
from headway.lab.approximation.minimax import minimax
from headway.lab.checks import Check, at_least, at_most, close, equal, slope
from headway.lab.old import Experiment
from headway.lab.relu_net import ReluNet, hinges, scale

Function = Callable[[np.ndarray], np.ndarray]
KINK = 1 / np.pi


@dataclass(frozen=True)
class Config:
    pieces: tuple[int, ...] = (8, 16, 32, 64, 128, 256, 512)  # m, the step is h = 1/m
    window: float = 1.5  # the slope for |x - 1/π| is that of the worst error over m … window m
    knots: int = 200  # random partitions for the lower bound

    def __post_init__(self) -> None:
        require((len(self.pieces) >= 4 and all(2 <= m <= 2048 for m in self.pieces), "at least four m, between 2 and 2048"))
        require((all(m & (m - 1) == 0 for m in self.pieces), "every m is a power of two"), (self.window >= 1, "window >= 1"))


class Target(NamedTuple):
    """f, the points where f' equals a given slope or does not exist, its modulus of continuity and its best bound for a step h."""

    name: str
    f: Function
    turns: Callable[[np.ndarray], np.ndarray]
    modulus: Callable[[float], float]
    law: str
    bound: Callable[[float], float]
    rate: float


def _sine_turns(s: np.ndarray) -> np.ndarray:
    """cos 7x = s/7 on [0, 1], where 7x < 3π."""
    angle = np.arccos(np.clip(s / 7, -1, 1))
    return np.stack([angle, 2 * np.pi - angle, 2 * np.pi + angle]) / 7


def _sine_modulus(h: float) -> float:
    return 2 * np.sin(min(3.5 * h, np.pi / 2))


TARGETS = (
    Target("sin 7x", lambda x: np.sin(7 * x), _sine_turns, _sine_modulus, "(h²/8) 49", lambda h: h * h / 8 * 49, -2),
    Target("x²", np.square, lambda s: s / 2, lambda h: 2 * h - h * h, "(h²/8) 2", lambda h: h * h / 4, -2),
    Target("|x - 1/π|", lambda x: np.abs(x - KINK), lambda s: np.array([KINK]), lambda h: h, "ρh/2", lambda h: h / 2, -1),
    Target("√x", np.sqrt, lambda s: 1 / (4 * s * s), np.sqrt, "√h/4", lambda h: np.sqrt(h) / 4, -0.5),
)


def interpolant(f: Function, m: int) -> ReluNet:
    """The piecewise-linear function through (i/m, f(i/m)) on [0, 1], with m ReLUs: one hinge at each knot but the last."""
    values = f(np.arange(m + 1) / m)
    return hinges(np.arange(m) / m, np.diff(np.diff(values) * m, prepend=0.0), shift=float(values[0]))


def sup_error(net: ReluNet, t: Target, m: int) -> float:
    """Exact: f - net is largest at a knot or where f' is the slope of a piece."""
    knots = np.arange(m + 1) / m
    x = np.concatenate([knots, t.turns(np.diff(t.f(knots)) * m).ravel()])
    x = x[(x >= 0) & (x <= 1)]
    return float(np.max(np.abs(net.at(x) - t.f(x))))


class PwlDensity(Experiment):
    """Piecewise-linear interpolation converges for every continuous function, as fast as the function is smooth.

    Interpolation at m + 1 equidistant knots, step h = 1/m, m ReLUs on [0, 1]:

        sup |f - f_h| <= ω_f(h)                 f continuous
                      <= ρ h / 2                f ρ-Lipschitz
                      <= (h²/8) max |f''|       f twice differentiable, with equality for x² (h²/4)
        sup |√x - f_h| = √h / 4                 slower than for a Lipschitz function

    Not interpolating is better by a factor of two: the best function with m pieces has error h²/8 for x², whatever its knots, since one
    piece is as long as h and a line errs by at least ℓ²/8 on a piece of length ℓ. The error for |x - 1/π| is 2θ(1-θ)h with θ the fractional
    part of m/π, so the slope -1 is that of the worst m in a window.
    """

    lecture = "C"
    kinds = ("BOUND", "RATE")
    cost = "S"
    source = "de Boor, A Practical Guide to Splines, ch. III; ETH Deep Learning notes, section 2"
    assumptions = ("f is continuous on [0, 1]", "the knots are equidistant", "ρ-Lipschitz or twice differentiable for the faster rates")
    aliases = ("piecewise linear functions are dense", "linear spline interpolation error")
    panels = 2
    small = {"pieces": (8, 16, 32, 64), "knots": 50}

    def measure(self, c: Config, rng: np.random.Generator) -> Iterator[Check]:
        h = 1 / np.array(c.pieces)
        nets = {t.name: [interpolant(t.f, m) for m in c.pieces] for t in TARGETS}
        self.errors = {t.name: np.array([sup_error(n, t, m) for n, m in zip(nets[t.name], c.pieces, strict=True)]) for t in TARGETS}
        x = rng.random(300)
        for t in TARGETS:
            knots = np.arange(c.pieces[-1] + 1) / c.pieces[-1]
            yield close(f"{t.name}: net against numpy's interpolation", nets[t.name][-1].at(x), np.interp(x, knots, t.f(knots)), 1e-11)
            yield at_most(f"{t.name}: sup error against ω(h)", self.errors[t.name], [t.modulus(s) for s in h])
            yield at_most(f"{t.name}: sup error against {t.law}", self.errors[t.name], [t.bound(s) for s in h], rounding=1e-12)
        yield equal("ReLUs are m", np.array([n.nodes for n in nets["x²"]]), np.array(c.pieces))
        yield equal("x²: sup error is h²/4, bit for bit", self.errors["x²"], h * h / 4)
        self.best = np.array([sup_error(scale(n, 1.0, -s * s / 8), TARGETS[1], m) for n, s, m in zip(nets["x²"], h, c.pieces, strict=True)])
        yield equal("x²: lowered by h²/8 the error is h²/8, bit for bit", self.best, h * h / 8)
        x = np.linspace(0, 0.25, 401)  # contains the three points that decide
        yield close("x²: best line on a step of ¼ by linear programming", minimax(x[:, None] ** np.arange(2), x * x)[0], 0.25**2 / 8, 1e-9)
        m = c.pieces[0]
        steps = np.diff(np.sort(rng.random((c.knots, m - 1)), axis=1), axis=1, prepend=0.0, append=1.0)
        yield at_least(f"x²: best lines on any {m} pieces err by h²/8", np.max(steps**2, axis=1) / 8, 1 / (8 * m * m))
        near = [range(m, max(m + 1, int(m * c.window)), max(1, m // 16)) for m in c.pieces]
        self.worst = [max(sup_error(interpolant(TARGETS[2].f, k), TARGETS[2], k) for k in ks) for ks in near]
        for t in TARGETS:
            yield slope(f"{t.name}: error in m", c.pieces, self.worst if t is TARGETS[2] else self.errors[t.name], t.rate, 0.1)

    def control(self, c: Config, rng: np.random.Generator) -> Iterator[Check]:
        h = 1 / np.array(c.pieces)
        yield at_most("x²: the interpolant itself against h²/8", self.errors["x²"], h * h / 8)
        yield slope("√x is not smooth: error in m", c.pieces, self.errors["√x"], -2, 0.1)
        knots, x = np.arange(c.pieces[-1] + 1) / c.pieces[-1], KINK + np.array([-1e-12, 1e-12])
        jump = np.max(np.abs(np.interp(x, knots, knots >= KINK) - (x >= KINK)))
        yield at_most(f"a step at 1/π is not continuous: sup error, m = {c.pieces[-1]}", jump, 0.25)

    def plot(self, c: Config, axes: "style.Panels") -> None:
        t, x, m = TARGETS[3], np.linspace(0, 1, 801), 4
        axes[0].plot(x, t.f(x), **style.TARGET, label="f = √x")
        axes[0].plot(x, interpolant(t.f, m).at(x), **style.CURVE, label=f"{m} pieces")
        axes[0].plot(np.arange(m + 1) / m, t.f(np.arange(m + 1) / m), **style.MEASURED | {"linestyle": "none"})
        axes[0].set(title="Interpolation at equal distances", xlabel="x", ylabel="value")
        for i, t in enumerate(TARGETS):
            axes[1].loglog(c.pieces, self.worst if i == 2 else self.errors[t.name], **style.series(i), label=f"{t.name}, slope {t.rate:g}")
            axes[1].loglog(c.pieces, [t.bound(1 / m) for m in c.pieces], **style.BOUND, label="bounds" if i == 3 else None)
        axes[1].loglog(c.pieces, self.best, **style.series(4), label="x², best pieces")
        axes[1].set(title="Smoother is faster", xlabel="pieces m", ylabel="sup |f - f_h|")
        axes[1].set_ylim(bottom=self.best[-1] / 300)  # room for the legend
        axes[0].legend()
        axes[1].legend(loc="lower left", ncols=2)
