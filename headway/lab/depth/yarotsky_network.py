"""Every smooth function by one deep net."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from headway.core.config import require
from headway.lab import style
from headway.lab.checks import Check, at_most, close, equal, printed
from headway.lab.tools.gate_chains import certified_gap
from headway.lab.tools.partition_of_unity import Smooth, indices
from headway.lab.tools.taylor_net import TaylorNet, taylor_error
from headway.lab.depth.yarotsky_product import product_net
from headway.lab.old import Experiment


@dataclass(frozen=True)
class Config:
    orders: tuple[int, ...] = (1, 2, 3)  # n, for functions of one variable
    epsilons: tuple[float, ...] = (0.3, 0.1, 0.03, 0.01, 0.003, 0.001)  # errors ε to reach with one variable
    plane: tuple[float, ...] = (0.3, 0.1, 0.03)  # errors ε to reach with two variables and n = 2
    points: int = 600  # random places where the net of two variables is evaluated

    def __post_init__(self) -> None:
        require((all(1 <= n <= 3 for n in self.orders) and 3 in self.orders, "every n is 1 to 3, and 3 is among them"))
        require((all(5e-4 <= e < 1 for e in (*self.epsilons, *self.plane)), "0.0005 <= ε < 1"), (self.points >= 50, "points >= 50"))


def of_sum(name: str, derivative: Callable[[int, np.ndarray], np.ndarray], d: int) -> Smooth:
    """g(x_1 + … + x_d), whose partial derivatives of the order |k| are all g^(|k|)."""
    return Smooth(name, d, lambda k, x: derivative(sum(k), x.sum(axis=-1)))


def unit_ball(d: int) -> list[Smooth]:
    """Three functions whose derivatives of every order are at most 1; for d = 1 each |f''| is monotone on [0, 1]."""
    inner = " + ".join(f"x{i + 1}" for i in range(d)) if d > 1 else "x"
    return [
        of_sum(f"sin({inner})", lambda j, s: np.sin(s + j * math.pi / 2), d),
        of_sum(f"cos({inner})", lambda j, s: np.cos(s + j * math.pi / 2), d),
        of_sum(f"exp({inner} - {d})", lambda j, s: np.exp(s - d), d),
    ]


def constants(net: TaylorNet) -> tuple[float, float]:
    """The c of the theorem, for depth and for weights.

    m <= 2 + log_4(C / ε) with C = 2^{d+1} d^n (d + n), N + 1 <= ((2^{d+1} d^n / n!)^{1/n} + 2) ε^{-1/n}, and a layer of a term is no wider
    than those that are counted here, whatever m is.
    """
    d, n = net.d, net.n
    deep = 2 + (d + n - 2) * (4 + math.log(2 ** (d + 1) * d**n * (d + n), 4))
    wide = max(max(term.widths) for term in TaylorNet(d, n, 1, 2).generic)
    grid = (2 ** (d + 1) * d**n / math.factorial(n)) ** (1 / n) + 2
    return deep, grid**d * len(indices(d, n)) * wide * (wide + 1) * deep


class YarotskyNetwork(Experiment):
    """One architecture with about ε^{-d/n} ln(1/ε) weights reaches the error ε on every function with n bounded derivatives.

    For every ε in (0, 1) and all f on [0, 1]^d whose derivatives up to the order n are at most 1,

        depth <= c (ln(1/ε) + 1),     weights <= c ε^{-d/n} (ln(1/ε) + 1),     sup |f - f̃| <= ε.

    f̃ is Σ φ_m P_m with N = ⌈(n! / (2^d d^n) · ε/2)^{-1/n}⌉ (half of ε), each φ_m (x - m/N)^k a chain of multiplication gates that err by at
    most δ = ε / (2^{d+1} d^n (d + n)) (the other half); only the output weights, Taylor coefficients, depend on f. Where a bump is 0 the
    chain is exactly 0, so 2^d terms of a kind count. For d = 1 f̃ is linear between knots that are computed, and the error is certified
    there; for d = 2 it is the certified sup |f - Σ φ_m P_m| plus the proved error of the gates, and the net is also evaluated at random.
    For d = 1 the d^n of δ is below the number n of powers, but the gates of all powers together need at most eδ for each active part.
    """

    lecture = "A, B"
    kinds = ("BOUND",)
    cost = "M"
    source = "Yarotsky 2017, theorem 1, https://arxiv.org/abs/1610.01145"
    assumptions = ("all derivatives up to the order n, not only of the order n, are at most 1 in modulus on [0, 1]^d", "0 < ε < 1")
    errata = ("A11",)
    aliases = ("Yarotsky's theorem", "approximation of Sobolev functions")
    panels = 2
    small = {"orders": (2, 3), "epsilons": (0.3, 0.03), "plane": (0.3,), "points": 50}

    def measure(self, c: Config, rng: np.random.Generator) -> Iterator[Check]:
        for small, x in ((TaylorNet(1, 3, 3, 4), rng.random((200, 1))), (TaylorNet(2, 2, 2, 4), rng.random((60, 2)))):
            nets = [small.matrices(f) for f in unit_ball(small.d)]
            title = f"d = {small.d}, n = {small.n}, N = {small.N}, m = {small.m}"
            gaps = [net(x)[:, 0] - small(f, x) for net, f in zip(nets, unit_ball(small.d), strict=True)]
            yield close(f"matrices and lazy evaluation agree, {title}", np.array(gaps), np.zeros((3, len(x))), 1e-12)
            counted, size = nets[2], small.size  # exp has no derivative that is 0 anywhere
            yield equal(f"units, {title}", size.units, counted.nodes)
            yield equal(f"weights, {title}", size.weights, counted.weights)
            yield equal(f"depth is 2 + (d + n - 2)(m + 2), {title}", size.depth, counted.depth)
            pairs = [zip(nets[0].layers[:-1], net.layers[:-1], strict=True) for net in nets[1:]]
            same = all(np.array_equal(a, b) for pair in pairs for first, other in pair for a, b in zip(first, other, strict=True))
            yield equal(f"three functions, one net but for the output weights, {title}", same, True)
        self.errors: dict[tuple[int, int], np.ndarray] = {}
        self.nets = {(1, n): [TaylorNet.reaching(1, n, e) for e in c.epsilons] for n in c.orders}
        self.nets[2, 2] = [TaylorNet.reaching(2, 2, e) for e in c.plane]
        straight = []
        for n in c.orders:
            made = []
            for net in self.nets[1, n]:
                t = net.knots()
                middle = (t[1:] + t[:-1]) / 2
                some = slice(None, None, max(1, middle.size // 200))
                values, between = net.several(unit_ball(1), t[:, None]), net.several(unit_ball(1), middle[some, None])
                straight.append(float(np.max(np.abs(between - ((values[:, 1:] + values[:, :-1]) / 2)[:, some]))))
                for f, v in zip(unit_ball(1), values, strict=True):
                    g, bend = (lambda x, f=f, k=k: np.abs(f.partial((k,), x[:, None])) if k else f(x[:, None]) for k in (0, 2))
                    made.append(certified_gap(t, v, g, bend))
            self.errors[1, n] = np.reshape(made, (-1, 3))
            yield at_most(f"d = 1, n = {n}: error, ε, three functions", self.errors[1, n], np.array(c.epsilons)[:, None])
        yield close("the nets are linear between the knots: middles", straight, np.zeros(len(straight)), 1e-12)
        x, self.errors[2, 2] = rng.random((c.points, 2)), np.zeros((len(c.plane), 3))
        for i, net in enumerate(self.nets[2, 2]):
            found = np.max(np.abs([f(x) for f in unit_ball(2)] - net.several(unit_ball(2), x)), axis=1)
            self.errors[2, 2][i] = [taylor_error(f, net.N, 2) + net.gate_bound for f in unit_ball(2)]
            yield at_most(f"d = 2, ε = {c.plane[i]:g}: error at random places, certified", found, self.errors[2, 2][i])
        yield at_most("d = 2, n = 2: error, ε, three functions", self.errors[2, 2], np.array(c.plane)[:, None])
        for (d, n), nets in self.nets.items():
            epsilon = np.array(c.epsilons if d == 1 else c.plane)
            yield at_most(f"d = {d}, n = {n}: all gates together, ε/2", [net.gate_bound for net in nets], epsilon / 2)
            deep, large = np.array([constants(net) for net in nets]).T
            log = np.log(1 / epsilon) + 1
            yield at_most(f"d = {d}, n = {n}: depth, c (ln 1/ε + 1), c = {deep[0]:.3g}", [net.size.depth for net in nets], deep * log)
            weights = [net.size.weights for net in nets]
            yield at_most(f"d = {d}, n = {n}: weights, c ε^(-d/n) (ln 1/ε + 1)", weights, large * epsilon ** (-d / n) * log)

    def control(self, c: Config, rng: np.random.Generator) -> Iterator[Check]:
        e, sine = c.epsilons[-1], unit_ball(1)[0]
        net, x = TaylorNet.reaching(1, 3, e), rng.random((2000, 1))
        coarse = product_net(2, 2.0)
        yield at_most("gates of depth 2", float(np.max(np.abs(sine(x) - net(sine, x, coarse)))), e)
        narrow = product_net(net.m, 0.5)
        yield at_most("gates for factors up to ½", float(np.max(np.abs(sine(x) - net(sine, x, narrow)))), e)
        steep = Smooth("sin 20x", 1, lambda k, x: 20.0 ** k[0] * np.sin(20 * x[..., 0] + k[0] * math.pi / 2))
        yield at_most("sin 20x, whose derivatives are not at most 1", float(np.max(np.abs(steep(x) - net(steep, x)))), e)
        # only the third derivative is bounded: 0. Piece counting forbids it to every net of this size when the factor is large enough
        high = Smooth("10⁵x²", 1, lambda k, x: 1e5 * (x[..., 0] ** 2, 2 * x[..., 0], 2 + 0 * x[..., 0])[k[0]])
        missed = float(np.max(np.abs(high(x) - net(high, x))))
        yield printed(at_most('"derivatives of order 3" only: 10⁵x², whose third derivative is 0', missed, e), "A11")

    def plot(self, c: Config, axes: "style.Panels") -> None:
        for i, ((d, n), nets) in enumerate(self.nets.items()):
            epsilon = np.array(c.epsilons if d == 1 else c.plane)
            axes[0].loglog(epsilon, self.errors[d, n].max(axis=1), **style.series(i), label=f"d = {d}, n = {n}")
            axes[1].semilogx(1 / epsilon, [net.size.depth for net in nets], **style.series(i), label=f"d = {d}, n = {n}")
        ends = np.array([min(c.epsilons), max(c.epsilons)])
        axes[0].loglog(ends, ends, **style.BOUND, label="ε")
        axes[0].set(title="What is wanted and what is reached", xlabel="wanted error ε", ylabel="sup |f - f̃|, worst of three f")
        axes[0].legend()
        axes[1].set(title="The depth grows like ln(1/ε)", xlabel="1/ε", ylabel="depth", ylim=(0, 30))
        axes[1].legend(ncols=2, loc="upper left")
