from itertools import product

from headway.lab.kit import Checks, Experiment, Generator, Panel, at_most, because, close, equal, headline, math, np, param
from headway.lab.relu_net import random_net
from headway.lab.tools.curves import Function
from headway.lab.tools.nets import multiply, random_units, sigmoid
from headway.lab.tools.programs import minimax

T = np.linspace(-1, 1, 201)  # where best fits are sought: the obstructions lie at -1, 0 and 1
NEAR = 0.05
TARGETS: dict[str, Function] = {"sin x": np.sin, "cos x": np.cos, "|x|": np.abs}


def waves(m: int, x: np.ndarray) -> np.ndarray:
    """1, and cos(kπx/2 + b) with two phases each: all hypotheses hold."""
    k = np.arange(1, m // 2 + 1) * math.pi / 2 * x[:, None]
    return np.column_stack([np.ones(x.size), np.cos(k), np.cos(k - math.pi / 2)])



class StoneWeierstrassClosure(Experiment):
    """Spans of cosines and of exponentials are algebras, so Stone-Weierstrass applies; those of ReLUs and tanh are not.

        2 cos a cos b = cos(a + b) + cos(a - b),      e^a e^b = e^{a+b}

    A set of functions on a compact set is dense in the continuous ones if they are continuous, have no common zero, separate points and
    are closed under sums and products. Each hypothesis is needed: even cosines come no closer to sin on [-1, 1] than sin 1. (x_+)² bends
    everywhere, so it is no sum of N ReLUs: among N + 1 disjoint intervals one has no kink. tanh² has a double pole at iπ/2 and a sum of
    tanh units only simple poles, and likewise for sigmoids; their density needs another proof (Leshno).

    Notes: A. Source: Stone 1948, The Generalized Weierstrass Approximation Theorem; Pinkus 1999, https://doi.org/10.1017/S0962492900002919
    Assumes: a compact set; continuous units; no common zero; points are separated; closed under products. Deviates: density cannot be
    measured; best fits come near, or stay away. Also: Stone-Weierstrass; cosine nets are an algebra; closure under multiplication.
    """

    units = param((1, 3, 8), "of the nets that are multiplied", least=1, most=40, small=(1, 3))
    dimensions = param(3, "d = 1 … dimensions", least=1, most=8)
    points = param(200, "random points", least=20, most=2000, small=50)
    span = param(24, "units of the largest span that is fitted", least=16, most=40, small=16)

    def measure(self, rng: Generator) -> Checks:
        gaps, sizes, N, s, e = [], [], self.span, 2.0**-8, 1e-5
        for sigma, d, m, k in product((np.cos, np.exp), range(1, self.dimensions + 1), self.units, self.units):
            f, g, x = random_units(sigma, m, d, rng), random_units(sigma, k, d, rng), rng.uniform(-1, 1, (self.points, d))
            net, both = multiply(f, g), f(x) * g(x)
            gaps.append(np.max(np.abs(net(x) - both)) / max(1.0, np.max(np.abs(both))))
            sizes.append(net.c.size / (m * k))
        yield headline(close("net of the product minus the product", gaps, 0.0, 1e-12))
        yield equal("its units are 2 m₁m₂ cosines or m₁m₂ exponentials", sizes, np.repeat([2, 1], len(sizes) // 2))
        x, y = rng.uniform(-1, 1, (2, self.points, self.dimensions))
        w = (y - x) * np.pi / np.sum((y - x) ** 2, axis=1, keepdims=True)
        yield close("separation: cos<w, · - x> is 1 at x, -1 at x'", np.cos(np.sum(w * (y - x), axis=1)), -1.0, 1e-9)
        self.spans = np.array([2, 4, 8, *range(12, N + 1, 4)])
        self.errors = {n: np.array([minimax(waves(m, T), f(T))[0] for m in self.spans]) for n, f in TARGETS.items()}
        last, x = {name: errors[-1] for name, errors in self.errors.items()}, T[:, None]
        yield at_most(f"best fits by {self.spans[-1] + 1} cosines, at 201 points", last, NEAR)
        spans = np.cos(np.arange(N + 1) * x), np.exp(np.arange(1, 7) * x / 4) - 1, x ** np.arange(2)
        self.floors = [minimax(A, f(T))[0] for A, f in zip(spans, TARGETS.values(), strict=True)]
        yield close("best fits without one hypothesis are sin 1, 1, ½", self.floors, [math.sin(1), 1, 0.5], 1e-7)
        t = (np.arange(N + 1) + 0.5) / (N + 1)  # centres of N + 1 disjoint intervals that contain t ± s
        near = np.stack([t - s, t, t + s])  # for second differences, which are 0 where a function is linear
        second = [1, -2, 1] @ np.maximum(near, 0) ** 2 / (2 * s * s)
        yield close(f"(x_+)²: second differences on {N + 1} intervals over 2s²", second, 1.0, 1e-9)
        nets = [random_net([1, N, 1], rng).at(near) for _ in range(20)]
        kinks = [np.sum(np.abs([1, -2, 1] @ values) > 1e-12) for values in nets]
        yield at_most(f"nets of {N} ReLUs: of {N + 1} intervals, those that bend", kinks, N, kind="EXACT")
        for name, unit, pole in (("tanh", np.tanh, 0.5j * np.pi), ("sigmoid", sigmoid, 1j * np.pi)):
            at, net = np.array([[pole - 1j * e]]), random_units(unit, N, 1, rng)
            net.w[:3], net.b[:3] = 1.0, 0.0  # three units with a pole at the very place
            yield close(f"{name}²: size times distance² from the pole", np.abs(e * e * unit(at) ** 2), 1.0, 1e-8)
            yield at_most(f"the same of {N} units {name}, three poles there", np.abs(e * e * net(at)), 1e-4, kind="EXACT")
        self.pair = [random_units(np.cos, 3, 1, rng) for _ in range(2)]

    def control(self, rng: Generator) -> Checks:
        why = ("cos kx cannot tell x from -x", "every e^{kx/4} - 1 is 0 at 0", "{1, x} is not closed under products")
        for name, reason, floor in zip(TARGETS, why, self.floors, strict=True):
            yield because(reason, at_most(f"best fit of {name}", floor, NEAR))
        both = np.append(T, -1e-12)
        floor = minimax(waves(self.span, both), (both >= 0) * 1.0)[0]
        yield because("a step is not continuous", at_most("best fit of a step", floor, NEAR))

    def plots(self) -> list[Panel]:
        (f, g), t = self.pair, np.linspace(-3, 3, 400)[:, None]
        left = Panel("The product of two nets is a net", "x", "value").curve(t, {"f": f(t), "g": g(t)})
        left.target(t, f(t) * g(t), "f times g").bound(t, multiply(f, g)(t), "net of 18 cosines")
        right = Panel("One hypothesis less: fits stay away", "units", "largest error of the best fit", log="y")
        right.series(self.spans + 1, {name: np.maximum(e, 1e-9) for name, e in self.errors.items()})
        for label, floor in zip(("sin: even only", "cos: zero at 0", "|x|: only 1, x"), self.floors, strict=True):
            right.control(self.spans[[0, -1]] + 1, [floor] * 2, label)
        return [left, right]
