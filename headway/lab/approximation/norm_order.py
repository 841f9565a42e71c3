"""Average error and largest error."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from headway.core.config import require
from headway.lab import style
from headway.lab.checks import Check, at_most, close, equal
from headway.lab.old import Experiment
from headway.lab.pwl1d import Pwl, l1_distance, pwl1d, sup_distance
from headway.lab.relu_net import ReluNet, hinges

ZERO = Pwl(np.zeros(1), np.zeros(1), 0.0, 0.0)


@dataclass(frozen=True)
class Config:
    pairs: int = 200  # random pairs f, g
    knots: int = 8  # of each function
    atoms: int = 20  # points of the discrete measure, and steps of the density
    widths: int = 10  # spikes of width 1/2, 1/4, … 2^-widths

    def __post_init__(self) -> None:
        require((self.pairs >= 20 and self.knots >= 2, "pairs >= 20, knots >= 2"), (self.atoms >= 1, "atoms >= 1"))
        require((1 <= self.widths <= 40, "widths is between 1 and 40"))


def random_function(knots: int, end: float, rng: np.random.Generator) -> Pwl:
    """Continuous and piecewise linear on [0, end], with normal values at random knots."""
    inside = np.sort(rng.uniform(0, end, knots - 2))
    return Pwl(np.concatenate([[0.0], inside, [end]]), rng.normal(size=knots), 0.0, 0.0)


def spike(w: float) -> ReluNet:
    """A triangle of height 1 over [0, w]: three ReLUs."""
    return hinges([0, w / 2, w], [2 / w, -4 / w, 2 / w])


def l1_with_density(f: Pwl, g: Pwl, edges: np.ndarray, density: np.ndarray) -> float:
    """∫ |f - g| p dx for a density p that is constant between the edges: a sum of exact integrals."""
    return float(sum(p * l1_distance(f, g, a, b) for p, (a, b) in zip(density, pairwise(edges), strict=True)))


class NormOrder(Experiment):
    """Small everywhere implies small on average, for a probability measure; small on average does not imply small everywhere.

    For every probability measure μ

        ‖f - g‖_{L1(μ)} = ∫ |f - g| dμ <= sup |f - g|,

    with equality for a constant difference. For a measure of mass M the right side is M sup |f - g|. There is no converse: the spike of
    height 1 and width w has L1 norm w/2 and supremum 1.
    """

    lecture = "A"
    kinds = ("BOUND",)
    cost = "S"
    source = "UW slides on approximation theory; Rudin, Real and Complex Analysis, ch. 3"
    assumptions = ("μ is a probability measure: its mass is 1", "f - g is bounded")
    aliases = ("average versus everywhere", "L1 against sup norm")
    panels = 2
    small = {"pairs": 30}

    def measure(self, c: Config, rng: np.random.Generator) -> Iterator[Check]:
        pairs = [(random_function(c.knots, 1, rng), random_function(c.knots, 1, rng)) for _ in range(c.pairs)]
        edges = np.linspace(0, 1, c.atoms + 1)
        density, mass, place = rng.dirichlet(np.full(c.atoms, 0.3)) * c.atoms, rng.dirichlet(np.ones(c.atoms)), rng.random(c.atoms)
        self.sup = np.array([sup_distance(f, g) for f, g in pairs])
        self.l1 = {
            "Lebesgue measure on [0, 1]": [l1_distance(f, g) for f, g in pairs],
            "a random density on [0, 1]": [l1_with_density(f, g, edges, density) for f, g in pairs],
            f"{c.atoms} random point masses": [float(mass @ np.abs(f(place) - g(place))) for f, g in pairs],
        }
        for name, l1 in self.l1.items():
            yield at_most(f"L1 error against sup error, {name}", l1, self.sup)
        f = pairs[0][0]
        up = Pwl(f.knots, f.values + 0.75, 0.0, 0.0)
        yield close("constant difference ¾: L1 is the supremum", l1_distance(f, up), sup_distance(f, up), 1e-12)
        some = pairs[:5]
        yield close("exact integrals against scipy's quadrature", [l1_distance(*p) for p in some], [_quadrature(*p) for p in some])
        wide = [(random_function(c.knots, 2, rng), random_function(c.knots, 2, rng)) for _ in range(c.pairs)] + [(f, up)]
        self.wide = np.array([[sup_distance(f, g, 0, 2), l1_distance(f, g, 0, 2)] for f, g in wide])
        yield at_most(
            "mass 2, Lebesgue on [0, 2]: L1 error against twice the supremum", self.wide[:, 1], 2 * self.wide[:, 0], rounding=1e-12
        )
        self.w = 0.5 ** np.arange(1, c.widths + 1)
        nets = [spike(w) for w in self.w]
        self.spikes = np.array([l1_distance(pwl1d(net), ZERO) for net in nets])
        yield close(f"spikes of width 1/2 … 2^-{c.widths}: L1 norm is w/2", self.spikes, self.w / 2, 1e-12)
        yield equal("spikes: supremum is 1", np.array([sup_distance(pwl1d(net), ZERO) for net in nets]), np.ones(c.widths))
        yield equal("ReLUs of a spike", nets[0].nodes, 3)

    def control(self, c: Config, rng: np.random.Generator) -> Iterator[Check]:
        yield at_most("mass 2, Lebesgue on [0, 2]: L1 error against the supremum", self.wide[:, 1], self.wide[:, 0])
        factor = 2.0 ** (c.widths - 1)
        yield at_most(f"converse: supremum of the narrowest spike against {factor:g} L1", 1.0, factor * self.spikes[-1])

    def plot(self, c: Config, axes: "style.Panels") -> None:
        for i, (name, l1) in enumerate(self.l1.items()):
            axes[0].plot(self.sup, l1, **style.series(i) | {"linestyle": "none", "markersize": 3, "alpha": 0.7}, label=name)
        axes[0].plot(*self.wide.T, **style.CONTROL | {"linestyle": "none", "markersize": 4}, label="mass 2: Lebesgue on [0, 2]")
        axes[0].plot([0, self.sup.max()], [0, self.sup.max()], **style.BOUND, label="L1 = sup")
        axes[0].set(title="Average and largest error of random pairs", xlabel="sup |f - g|", ylabel="∫ |f - g| dμ")
        axes[0].set_ylim(0, 1.6 * self.wide[:, 1].max())  # room for the legend
        axes[1].loglog(self.w, self.spikes, **style.MEASURED, label="L1 norm")
        axes[1].loglog(self.w, self.w / 2, **style.BOUND, label="w/2")
        axes[1].loglog(self.w, np.ones(self.w.size), **style.series(1), label="supremum")
        axes[1].set(title="A spike: no converse", xlabel="width w", ylabel="norm")
        for panel in axes:
            panel.legend(loc="upper left" if panel is axes[0] else "lower right")


def _quadrature(f: Pwl, g: Pwl) -> float:
    """Adaptive, between neighbouring knots and the sign changes between them."""
    from scipy.integrate import quad
    from scipy.optimize import brentq

    def d(x: float) -> float:
        return float(f(x) - g(x))

    knots = np.unique(np.concatenate([f.knots, g.knots]))
    changes = [brentq(d, a, b) for a, b in pairwise(knots) if d(a) * d(b) < 0]
    return sum(abs(quad(d, a, b)[0]) for a, b in pairwise(np.sort(np.append(knots, changes))))
