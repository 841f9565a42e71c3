"""A function on the line as an infinitely wide net, and random finite ones."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from headway.core.config import require
from headway.lab import style
from headway.lab.approximation.curves import CURVES, Curve
from headway.lab.certified import certified_sup
from headway.lab.checks import Check, at_most, loglog_slope, mean_is, printed, slope
from headway.lab.old import Experiment
from headway.lab.relu_net import hinges
from headway.lab.tools.curves import Curve as Target
from headway.lab.tools.staircase import Staircase

GRID = 2000  # cells of [0, 1] for integrals over a random staircase


@dataclass(frozen=True)
class Config:
    sizes: tuple[int, ...] = (16, 64, 256, 1024)  # the numbers m of units
    repetitions: int = 200  # random nets for each m and seed

    def __post_init__(self) -> None:
        require((len(self.sizes) >= 4 and min(self.sizes) >= 8, "four or more sizes, at least 8"))
        require((self.repetitions >= 20, "repetitions >= 20"))


def thresholds(curve: Curve, m: int) -> Staircase:
    """g(0) + (1/m) Σ g'(b_i) 1{x >= b_i} at the middles b_i."""
    b = (np.arange(m) + 0.5) / m
    return Staircase(np.append(0.0, curve.slope(b) / m), np.append(0.0, b))


def hinge_error(curve: Curve, m: int) -> float:
    """sup |g - g(0) - g'(0) x - (1/m) Σ g''(b_i) (x - b_i)_+|, certified: the slope of the difference is at most max |g''| / m."""
    b = (np.arange(m) + 0.5) / m
    net = hinges(b, curve.bend(b) / m, float(curve.slope(np.zeros(1))[0]))
    return certified_sup(lambda x: curve.g(x) - net.at(x), curve.steepest_bend / m, 0.0, 1.0, 0.01).high


def random_staircases(curve: Curve, m: int, repetitions: int, rng: np.random.Generator) -> np.ndarray:
    """(V/m) Σ sign g'(b_i) 1{x >= b_i} at the middles of the grid's cells, one row for each repetition."""
    b, sign = curve.draw(rng.random((repetitions, m)))
    cell = np.minimum(np.ceil(b * GRID - 0.5), GRID).astype(int) + (GRID + 1) * np.arange(repetitions)[:, None]
    jumps = np.bincount(cell.ravel(), sign.ravel() * curve.V / m, repetitions * (GRID + 1))
    return np.cumsum(jumps.reshape(repetitions, GRID + 1), axis=1)[:, :GRID]


class InfiniteNet1D(Experiment):
    """A continuously differentiable function is an infinitely wide net of thresholds, and m random units come within V²/m.

        g(x) = g(0) + ∫_0^1 1{x >= b} g'(b) db,          g(x) = g(0) + g'(0) x + ∫_0^1 (x - b)_+ g''(b) db

    Nodes at the middles of m cells err by O(1/m) with thresholds and O(1/m²) with ReLU. Units drawn from |g'|/V, V = ∫ |g'|, with weights
    (V/m) sign g'(b), have E ∫ (g - ĝ)² = (1/m) ∫ (V F - (g - g(0))²) <= V²/m, F(x) = ∫_0^x |g'|, and <= V²/(4m) for monotone g, where
    also P(sup |g - ĝ| > t) <= 2 exp(-2mt²/V²) (Dvoretzky, Kiefer, Wolfowitz). g must be absolutely continuous, not only differentiable.
    """

    lecture = "A"
    kinds = ("EXACT", "STAT")
    cost = "S"
    source = "Telgarsky, Deep Learning Theory lecture notes, ch. 2; Massart 1990 (the constant 2), https://doi.org/10.1214/aop/1176990746"
    assumptions = ("g is absolutely continuous (twice for ReLU)", "g(0) is known")
    errata = ("A9",)
    aliases = ("infinite width network in one dimension", "integral representation by thresholds")
    panels = 2
    small = {"repetitions": 60}

    def measure(self, c: Config, rng: np.random.Generator) -> Iterator[Check]:
        from scipy.integrate import quad

        self.mse: dict[str, list[np.ndarray]] = {curve.name: [] for curve in CURVES}
        self.sup: dict[str, list[np.ndarray]] = {curve.name: [] for curve in CURVES}
        self.x = (np.arange(GRID) + 0.5) / GRID
        self.nodes = {}
        for curve in CURVES:
            whole = [abs(quad(curve.slope, 0, x)[0] - float(curve.g(np.array(x)))) for x in (0.2, 0.5, 1.0)]
            bent = [abs(quad(lambda b, k=curve, x=x: (x - b) * float(k.bend(np.array(b))), 0, x)[0]
                        + float(curve.slope(np.array(0.0))) * x - float(curve.g(np.array(x)))) for x in (0.2, 0.5, 1.0)]  # fmt: skip
            yield at_most(f"{curve.name}: both integrals give g back (scipy), x = 0.2, 0.5, 1", [*whole, *bent], 1e-10, kind="EXACT")
            target = Target(curve.name, curve.g, curve.turns)
            steps, ramps = [thresholds(curve, m).sup_error(target) for m in c.sizes], [hinge_error(curve, m) for m in c.sizes]
            self.nodes[curve.name] = (steps, ramps)
            yield slope(f"{curve.name}: thresholds at m nodes, sup error", c.sizes, steps, -1.0, 0.1)
            yield slope(f"{curve.name}: ReLU at m nodes, sup error", c.sizes, ramps, -2.0, 0.1)
        self.ensemble = random_staircases(CURVES[0], c.sizes[1], 12, rng)

    def sample(self, c: Config, rng: np.random.Generator) -> Iterator[Check]:
        for curve in CURVES:
            g = curve.g(self.x)
            total = np.cumsum(np.abs(curve.slope(self.x))) / GRID  # F(x)
            per_unit = float(np.mean(curve.V * total - g**2))
            share = 0.25 if curve.name == "x²" else 1.0
            nets = [random_staircases(curve, m, c.repetitions, rng) - g for m in c.sizes]
            mse, sup = np.array([np.mean(e**2, axis=1) for e in nets]), np.array([np.max(np.abs(e), axis=1) for e in nets])
            m = np.array(c.sizes)
            self.mse[curve.name].append(mse.mean(axis=1))
            self.sup[curve.name].append(sup.mean(axis=1))
            name = f"{curve.name}: mean squared error <= V²/{'(4m)' if share < 1 else 'm'}"
            yield at_most(name, mse.mean(axis=1), share * curve.V**2 / m)
            yield mean_is(f"{curve.name}: m times the squared error, all m", mse * m[:, None], per_unit)
            error = mse.std(axis=1, ddof=1) / math.sqrt(c.repetitions) / mse.mean(axis=1)
            u = np.log(m) - np.log(m).mean()
            room = max(0.1, 4 * float(np.linalg.norm(u * error) / (u @ u)))  # four standard errors of the slope
            yield slope(f"{curve.name}: squared error against m", m, mse.mean(axis=1), -1.0, room)
            yield slope(f"{curve.name}: mean sup error against m", m, sup.mean(axis=1), -0.5, 0.1)
            if share < 1:  # 2 exp(-2mt²) = 0.1; the hits are binomial, so four standard errors above 0.1 are allowed
                t = np.sqrt(math.log(20) / (2 * m))
                allowed = 0.1 + 4 * math.sqrt(0.09 / c.repetitions)
                hits = np.mean(sup > t[:, None], axis=1)
                yield at_most("x²: share of sup errors above t, 2 exp(-2mt²) = 0.1", hits, allowed, kind="STAT")

    def control(self, c: Config, rng: np.random.Generator) -> Iterator[Check]:
        u = np.linspace(1, 1e4, 200_001)  # u = 1/x²: x² sin(1/x²) = sin(u)/u has a derivative everywhere
        V = np.cumsum(np.abs(np.diff(np.sin(u) / u)))
        near = float(V[np.searchsorted(u, 100.0) - 1])
        yield printed(at_most("x² sin(1/x²): V on [0.01, 1] is V on [0.1, 1]", float(V[-1]), 1.01 * near), "A9")
        curve = CURVES[0]
        unsigned = Curve(**{**curve.__dict__, "draw": lambda v: (curve.draw(v)[0], np.ones_like(v))})
        errors = [float(np.mean((random_staircases(unsigned, m, 20, rng) - curve.g(self.x)) ** 2)) for m in c.sizes]
        yield at_most("sin 6x without the sign of g': slope in m", loglog_slope(c.sizes, errors)[0], -0.9, kind="RATE")

    def plot(self, c: Config, axes: "style.Panels") -> None:
        axes[0].plot(self.x[::4], self.ensemble[:, ::4].T, color=style.BLUE, linewidth=0.7, alpha=0.6)
        axes[0].plot(self.x, CURVES[0].g(self.x), **style.TARGET | {"color": style.INK}, label="sin 6x")
        axes[0].plot([], [], **style.CURVE, label=f"{c.sizes[1]} random thresholds, 12 draws")
        axes[0].set(title="Random staircases", xlabel="x", ylabel="value", ylim=(-1.9, 2.6))
        m = np.array(c.sizes)
        for i, curve in enumerate(CURVES):
            axes[1].loglog(m, np.mean(self.mse[curve.name], axis=0), **style.series(i), label=f"random, {curve.name}")
            bound = curve.V**2 / m * (0.25 if curve.name == "x²" else 1)
            axes[1].loglog(m, bound, **style.BOUND | {"color": style.SERIES[i]}, label="V²/(4m)" if i else "V²/m")
        axes[1].loglog(m, np.array(self.nodes["sin 6x"][0]) ** 2, **style.series(2), label="nodes, thresholds")
        axes[1].loglog(m, np.array(self.nodes["sin 6x"][1]) ** 2, **style.series(3), label="nodes, ReLU")
        axes[1].set(title="Squared errors (nodes: sup, sin 6x)", xlabel="units m", ylabel="squared error", ylim=(1e-13, 1e5))
        for panel in axes:
            panel.legend(fontsize=8.5, loc="upper right", ncols=2 if panel is axes[1] else 1)
