"""Which spans of units are algebras."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from headway.core.config import require
from headway.lab import style
from headway.lab.checks import Check, at_least, at_most, close, equal
from headway.lab.old import Experiment
from headway.lab.relu_net import random_net
from headway.lab.tools.minimax import minimax
from headway.lab.tools.nets import RidgeNet, multiply, random_units


@dataclass(frozen=True)
class Config:
    units: tuple[int, ...] = (1, 3, 8)  # of the nets that are multiplied
    dimensions: int = 3  # d = 1 … dimensions
    points: int = 200  # random points
    span: int = 20  # units of the spans that are fitted

    def __post_init__(self) -> None:
        require((all(1 <= m <= 50 for m in self.units), "units are 1 to 50"), (1 <= self.dimensions <= 10, "d is 1 to 10"))
        require((self.points >= 20 and 4 <= self.span <= 40, "points >= 20 and span is 4 to 40"))


def bend(f: Callable[[np.ndarray], np.ndarray], t: np.ndarray, s: float) -> np.ndarray:
    """The second difference f(t - s) - 2 f(t) + f(t + s): 0 where f is linear around t."""
    return f(t - s) - 2 * f(t) + f(t + s)


class StoneWeierstrassClosure(Experiment):
    """Spans of cosines and of exponentials are algebras, so Stone-Weierstrass applies; spans of ReLUs, tanh and sigmoids are not.

        2 cos a cos b = cos(a + b) + cos(a - b),      e^a e^b = e^{a+b}

    A set of functions on a compact set is dense in the continuous ones if they are continuous, have no common zero, separate points and are
    closed under sums and products. Each hypothesis is needed: even cosines cannot tell x from -x, so no span of them comes closer to sin
    on [-1, 1] than sin 1. (x_+)² bends everywhere, so it is no sum of N ReLUs: among N + 1 disjoint intervals one has no kink. tanh² has a
    double pole at iπ/2 and a sum of tanh units only simple poles, and likewise for sigmoids; their density needs another proof (Leshno).
    """

    lecture = "A"
    kinds = ("EXACT",)
    cost = "S"
    source = "Stone 1948, The Generalized Weierstrass Approximation Theorem; Pinkus 1999, https://doi.org/10.1017/S0962492900002919"
    assumptions = ("a compact set", "continuous units", "no common zero", "points are separated", "closed under multiplication")
    aliases = ("Stone-Weierstrass", "cosine nets are an algebra", "closure under multiplication")
    panels = 2
    small = {"units": (1, 3), "points": 50, "span": 8}

    def measure(self, c: Config, rng: np.random.Generator) -> Iterator[Check]:
        for name, sigma, factor in (("cosine", np.cos, 2), ("exponential", np.exp, 1)):
            gaps, sizes = [], []
            for d in range(1, c.dimensions + 1):
                x = rng.uniform(-1, 1, (c.points, d))
                for m, k in [(m, k) for m in c.units for k in c.units]:
                    f, g = random_units(sigma, m, d, rng), random_units(sigma, k, d, rng)
                    product = multiply(f, g)
                    gaps.append(np.max(np.abs(product(x) - f(x) * g(x))) / max(1.0, np.max(np.abs(f(x) * g(x)))))
                    sizes.append(product.c.size - factor * m * k)
            yield close(f"{name} nets: the net of the product against the product", gaps, np.zeros(len(gaps)), 1e-12)
            yield equal(f"{name} nets: units minus {factor} m₁m₂", np.array(sizes), np.zeros(len(sizes), dtype=int))
        yield from self._hypotheses(c, rng)
        yield from self._not_closed(c, rng)
        yield from self._dropped(c)
        self.pair = [random_units(np.cos, 3, 1, rng) for _ in range(2)]

    def _hypotheses(self, c: Config, rng: np.random.Generator) -> Iterator[Check]:
        """Continuity, no common zero, separation; closure was shown before."""
        d = c.dimensions
        x, y = rng.uniform(-1, 1, (2, c.points, d))
        net = random_units(np.cos, 8, d, rng)
        rho = np.sum(np.abs(net.c) * np.linalg.norm(net.w, axis=1))
        quotient = np.abs(net(x) - net(y)) / np.linalg.norm(x - y, axis=1)
        yield at_most("continuity: difference quotients against Σ|c| ‖w‖", quotient, rho, kind="EXACT")
        one = RidgeNet(np.cos, np.zeros((1, d)), np.zeros(1), np.ones(1))
        yield equal("no common zero: w = 0, b = 0 is the constant 1", one(x), np.ones(c.points))
        w = (y - x) * np.pi / np.sum((y - x) ** 2, axis=1, keepdims=True)
        b = -np.sum(w * x, axis=1)
        apart = [np.cos(np.sum(w * p, axis=1) + b) for p in (x, y)]
        yield close("separation: a cosine that is 1 at x and -1 at x'", apart, [np.ones(c.points), -np.ones(c.points)], 1e-9)

    def _not_closed(self, c: Config, rng: np.random.Generator) -> Iterator[Check]:
        s, N = 2.0**-8, c.span
        t = (np.arange(N + 1) + 0.5) / (N + 1)  # centres of N + 1 disjoint intervals that contain t ± s
        second = bend(lambda x: np.maximum(x, 0) ** 2, t, s)
        yield close(f"(x_+)²: second differences on {N + 1} disjoint intervals over 2s²", second / (2 * s * s), np.ones(N + 1), 1e-9)
        kinks = [np.sum(np.abs(bend(random_net([1, N, 1], rng).at, t, s)) > 1e-12) for _ in range(20)]
        yield at_most(f"20 nets of {N} ReLUs: intervals with a second difference, of {N + 1}", kinks, N, kind="EXACT")
        e = 1e-5
        for name, sigma, pole in (("tanh", np.tanh, 0.5j * np.pi), ("sigmoid", lambda z: 1 / (1 + np.exp(-z)), 1j * np.pi)):
            near = np.array([pole - 1j * e])
            yield close(f"{name}²: distance² from the pole times the size", np.abs(e * e * sigma(near) ** 2)[0], 1.0, 1e-8)
            net = random_units(sigma, N, 1, rng)
            net.w[:3], net.b[:3] = 1.0, 0.0  # three units with a pole at the very place
            yield at_most(f"the same of {N} {name} units", np.abs(e * e * net(near[:, None]))[0], 1e-4, kind="EXACT")

    def _dropped(self, c: Config) -> Iterator[Check]:
        """Without one hypothesis: the best fit by linear programming at points that contain the obstruction, and the floor."""
        k, t = np.arange(c.span), np.linspace(-1, 1, 201)
        self.even, self.fit = minimax(np.cos(k * t[:, None]), np.sin(t))
        yield close("no separation, cos kx: best fit of sin is sin 1", self.even, np.sin(1.0), 1e-7)
        zero = minimax(np.exp(k[1:7] * t[:, None] / 4) - 1, np.cos(t))[0]
        yield at_least("common zero at 0, e^{kx/4} - 1: best fit of cos x", zero, 1 - 1e-7, kind="EXACT")
        yield close("not closed, {1, x}: best fit of |x| is 1/2", minimax(t[:, None] ** np.arange(2), np.abs(t))[0], 0.5, 1e-7)
        both = np.concatenate([t, [-1e-12, 1e-12]])
        phases = np.concatenate([np.cos(k * both[:, None]), np.sin(k[1:] * both[:, None])], axis=1)
        step = minimax(phases, np.where(both > 0, 1.0, -1.0))[0]
        yield at_least("target not continuous, a step of 2: best fit with all phases", step, 1 - 1e-6, kind="EXACT")
        yield at_most("all hypotheses, cos kx and sin kx: best fit of x³ - x/2", minimax(phases, both**3 - both / 2)[0], 1e-3, kind="EXACT")

    def control(self, c: Config, rng: np.random.Generator) -> Iterator[Check]:
        f, g = (random_units(np.cos, 3, 2, rng) for _ in range(2))
        x = rng.uniform(-1, 1, (c.points, 2))
        wrong = multiply(f, g)
        yield close("cos a cos b = cos(a + b) + cos(a - b), without ½", 2 * wrong(x), f(x) * g(x))
        yield at_most("even cosines approximate sin", self.even, 1e-3)
        yield close("(x_+)² is linear near ½: second difference", bend(lambda x: np.maximum(x, 0) ** 2, np.array(0.5), 0.1), 0.0)

    def plot(self, c: Config, axes: "style.Panels") -> None:
        t = np.linspace(-3, 3, 400)[:, None]
        f, g = self.pair
        axes[0].plot(t[:, 0], f(t), **style.CURVE | {"color": style.SKY}, label="f, 3 cosines")
        axes[0].plot(t[:, 0], g(t), **style.CURVE | {"color": style.ORANGE}, label="g, 3 cosines")
        axes[0].plot(t[:, 0], f(t) * g(t), **style.TARGET, label="f times g")
        axes[0].plot(t[:, 0], multiply(f, g)(t), **style.BOUND | {"color": style.BLUE}, label="net of 18 cosines")
        axes[0].set(title="The product is a net again", xlabel="x", ylabel="value")
        t = np.linspace(-1, 1, 300)
        axes[1].plot(t, np.sin(t), **style.TARGET, label="sin x")
        axes[1].plot(
            t, np.cos(np.arange(c.span) * t[:, None]) @ self.fit, **style.CONTROL | {"marker": None}, label="a best even fit (0 is another)"
        )
        axes[1].set(title="Even cosines cannot follow sin", xlabel="x", ylabel="value", xticks=[-1, -0.5, 0, 0.5, 1])
        for panel in axes:
            low, high = panel.get_ylim()
            panel.set_ylim(low, high + 0.45 * (high - low))  # room for the legend
            panel.legend(ncols=2, loc="upper left")
