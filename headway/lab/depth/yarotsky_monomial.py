"""Powers and polynomials by chains of multiplication gates."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from headway.core.config import require
from headway.lab import style
from headway.lab.checks import Check, at_most, close, equal
from headway.lab.tools.gate_chains import Function, M, certified_gap, chain_knots, polynomial_net, power_gap, power_net
from headway.lab.depth.yarotsky_product import product_error
from headway.lab.old import Experiment
from headway.lab.relu_net import ReluNet


@dataclass(frozen=True)
class Config:
    k: int = 8  # the largest power, and the degree of the Taylor polynomials
    m: int = 7  # the largest depth of the squares; all from 3 on are tried

    def __post_init__(self) -> None:
        require((4 <= self.k <= 12, "k is 4 to 12, so that |power| <= 2 from m = 3 on"), (4 <= self.m <= 9, "m is 4 to 9"))


@dataclass(frozen=True)
class Series:
    """A function with its Taylor coefficients at 0, |g''|, and a bound on |g^(K+1)| on [-1, 1] for the remainder."""

    name: str
    g: Function
    curvature: Function
    coefficient: Callable[[int], float]
    steepest: float

    def coefficients(self, K: int) -> list[float]:
        return [self.coefficient(k) for k in range(K + 1)]

    def truncation(self, K: int) -> float:
        return self.steepest / math.factorial(K + 1)


SERIES = (
    Series("exp", np.exp, np.exp, lambda k: 1 / math.factorial(k), math.e),
    Series("sin", np.sin, lambda x: np.abs(np.sin(x)), lambda k: (0, 1, 0, -1)[k % 4] / math.factorial(k), 1.0),
)


class YarotskyMonomial(Experiment):
    """A chain of k - 1 multiplication gates computes x^k on [-1, 1] up to (k - 1)δ, where δ is the error of one gate.

        p_1 = x,   p_{j+1} = ×̃(p_j, x),     |p_k - x^k| <= (k - 1)δ,     |Σ a_k p_k - Σ a_k x^k| <= Σ |a_k| (k - 1)δ

    because a gate errs by δ and passes on the error before it times |x| <= 1. Gates with M = 2 have δ = 4·4^{-m} and stay in their range
    while (k - 2)δ <= 1. The depth (k - 1)(m + 2) + 1 is O(k log 1/δ). With a Taylor polynomial the total error is at most truncation plus
    gates. The nets are linear between knots that are computed gate by gate; so suprema are exact for powers and certified for series.
    """

    lecture = "A, B"
    kinds = ("BOUND",)
    cost = "S"
    source = "Yarotsky 2017, section 3.2, https://arxiv.org/abs/1610.01145; Liang and Srikant 2017, https://arxiv.org/abs/1610.04161"
    assumptions = ("|x| <= 1", "(k - 2)δ <= 1, so that every factor is at most M = 2")
    aliases = ("powers by multiplication gates", "polynomials by deep nets")
    panels = 2
    small = {"k": 4, "m": 5}

    def measure(self, c: Config, rng: np.random.Generator) -> Iterator[Check]:
        self.m, ks = np.arange(3, c.m + 1), np.arange(2, c.k + 1)
        self.delta = product_error(self.m, M)
        self.errors = np.zeros((ks.size, self.m.size))
        self.totals = {(s, K): np.zeros(self.m.size) for s in SERIES for K in sorted({4, c.k})}
        depth, straight, largest = np.zeros((ks.size, self.m.size), dtype=int), [], []
        for j, m in enumerate(int(m) for m in self.m):
            t, top = chain_knots(c.k, m)
            largest.append(top)
            middle = (t[1:] + t[:-1]) / 2

            def values(net: ReluNet, t: np.ndarray = t, middle: np.ndarray = middle) -> np.ndarray:
                v = net.at(np.append(t, middle))
                straight.append(float(np.max(np.abs(v[t.size :] - (v[1 : t.size] + v[: t.size - 1]) / 2))))
                return v[: t.size]

            for i, k in enumerate(int(k) for k in ks):
                net = power_net(k, m)
                depth[i, j] = net.depth
                self.errors[i, j] = power_gap(t, values(net), k)
            for (s, K), total in self.totals.items():
                total[j] = certified_gap(t, values(polynomial_net(s.coefficients(K), m)), s.g, s.curvature)
        yield equal("depth is (k - 1)(m + 2) + 1", depth, (ks[:, None] - 1) * (self.m + 2) + 1)
        yield close("m is 1 + ½ log₂(1/δ): the depth is O(k log 1/δ)", self.m, 1 + np.log2(1 / self.delta) / 2)
        yield close("the nets are linear between the knots: middles", straight, np.zeros(len(straight)), 1e-12)
        yield at_most(f"largest factor of a gate, k <= {c.k}", largest, M)
        for i, k in enumerate(ks):
            yield at_most(f"x^{k}: error, (k - 1)δ, m = 3 … {c.m}", self.errors[i], (k - 1) * self.delta, rounding=1e-10)
        for (s, K), total in self.totals.items():
            gates = sum(abs(a_k) * (k - 1) for k, a_k in enumerate(s.coefficients(K)) if k > 1) * self.delta
            yield at_most(f"{s.name}, degree {K}: error, truncation + gates", total, s.truncation(K) + gates)

    def control(self, c: Config, rng: np.random.Generator) -> Iterator[Check]:
        x = np.linspace(-1, 1, 401)
        delta, net, far = product_error(4, M), power_net(c.k, 4), np.array([-1.5, 1.5])
        yield at_most(f"x^{c.k} on [-1.5, 1.5], m = 4", float(np.max(np.abs(net.at(far) - far**c.k))), (c.k - 1) * delta)
        yield at_most(
            f"x^{c.k}: as if errors did not add up, δ", float(np.max(np.abs(power_net(c.k, 6).at(x) - x**c.k))), product_error(6, M)
        )
        small = power_net(c.k, 4, bound=0.5)
        yield at_most(f"x^{c.k} with M = ½", float(np.max(np.abs(small.at(x) - x**c.k))), (c.k - 1) * product_error(4, 0.5))
        error = float(np.max(np.abs(polynomial_net(SERIES[0].coefficients(c.k), 3).at(x) - np.exp(x))))
        yield at_most("exp, m = 3: truncation alone", error, SERIES[0].truncation(c.k))

    def plot(self, c: Config, axes: "style.Panels") -> None:
        for i, k in enumerate(dict.fromkeys((2, (c.k + 2) // 2, c.k))):
            depth = (k - 1) * (self.m + 2) + 1
            axes[0].semilogy(depth, self.errors[k - 2], **style.series(i), label=f"x^{k}")
            axes[0].semilogy(depth, (k - 1) * self.delta, **style.BOUND, label="(k - 1)δ" if k == c.k else None)
        axes[0].set(title="Powers", xlabel="depth (k - 1)(m + 2) + 1", ylabel="sup error on [-1, 1]")
        for i, ((s, K), total) in enumerate(self.totals.items()):
            axes[1].semilogy((K - 1) * (self.m + 2) + 1, total, **style.series(i), label=f"{s.name}, degree {K}")
            look = style.BOUND | {"color": style.SERIES[i], "linewidth": 0.9}
            axes[1].axhline(s.truncation(K), **look, label=None if i else "truncation")
        axes[1].set(
            title="Taylor polynomials: gates, then truncation", xlabel="depth", ylabel="sup error on [-1, 1], certified", ylim=(1e-6, 1)
        )
        axes[0].legend()
        axes[1].legend(loc="upper right", ncols=2)
