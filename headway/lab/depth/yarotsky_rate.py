"""How many weights smoothness saves."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from headway.core.config import require
from headway.lab import style
from headway.lab.checks import Check, at_most, equal, slope
from headway.lab.tools.taylor_net import TaylorNet
from headway.lab.old import Experiment

CASES = ((1, 1), (1, 2), (2, 2), (4, 2), (4, 4), (8, 2))  # (d, n)


@dataclass(frozen=True)
class Config:
    digits: int = 8  # ε = 10^-1 … 10^-digits
    far: tuple[int, ...] = (16, 24, 32, 48, 64)  # ε = 10^-far, where ln(1/ε) is large against the constant beside it
    dimensions: int = 12  # the curse is drawn for d = 1 … dimensions

    def __post_init__(self) -> None:
        require(
            (4 <= self.digits <= 12, "digits is 4 to 12"),
            (len(self.far) >= 4 and all(12 <= k <= 100 for k in self.far), "far is 12 to 100"),
        )
        require((2 <= self.dimensions <= 40, "dimensions is 2 to 40"))


def powers_of_ten(digits: np.ndarray) -> list[float]:
    """Exactly the floats that are written 1e-k: the counter takes them as decimals."""
    return [float(f"1e-{k}") for k in digits]


def layers(d: int, n: int, epsilon: np.ndarray) -> np.ndarray:
    """The depth before m is rounded up: 2 + (d + n - 2)(2 + log_4(4/δ)) with δ = ε / (2^{d+1} d^n (d + n))."""
    return 2 + (d + n - 2) * (2 + np.log(4 * 2 ** (d + 1) * d**n * (d + n) / epsilon) / math.log(4))


class YarotskyRate(Experiment):
    """The net that approximates all functions with n bounded derivatives in d dimensions has ε^{-d/n} ln(1/ε) weights.

    Counted, not evaluated, for the architecture of `yarotsky-network`:

        weights = (N + 1)^d Σ_{j<n} C(d+j-1, j) (a_j + b_j m) - zeros,     depth = 2 + (d + n - 2)(m + 2),
        N ~ ε^{-1/n},     m ~ ln(1/ε) / ln 4.

    So log(weights / ln(1/ε)) against log(1/ε) has the slope d/n, and the depth grows by (d + n - 2)/ln 4 for each unit of ln(1/ε). The
    first is asymptotic: m = ln(1/ε)/ln 4 + a constant that depends on d and n, so between 10^-1 and 10^-8 the slope of weights / ln(1/ε)
    is up to 14 % too small (d = 1, n = 2). There the weights are divided by the depth, which contains the constant; the slope of
    weights / ln(1/ε) itself is fitted where ε is far smaller. For d = n = 1 no gate is needed, and the depth is 2.
    """

    lecture = "A, B"
    kinds = ("RATE",)
    cost = "S"
    source = "Yarotsky 2017, theorem 1, https://arxiv.org/abs/1610.01145"
    assumptions = ("all derivatives up to the order n are at most 1 in modulus on [0, 1]^d", "ε small against the constants, for the rate")
    aliases = ("rate of smooth approximation", "smoothness against dimension")
    panels = 2
    small = {"dimensions": 4}

    def measure(self, c: Config, rng: np.random.Generator) -> Iterator[Check]:
        near, far = powers_of_ten(np.arange(1, c.digits + 1)), powers_of_ten(np.array(c.far))
        self.epsilon, self.weights = np.array(near), {}
        for d, n in CASES:
            one = TaylorNet(d, n, 1, 5)
            built = one.generic
            share = [math.comb(d + j - 1, j) for j in range(n)]
            # with N = 1 there are 2^d centres, and a bias of a difference is 0 at half of them
            weights = sum(2**d * k * net.weights - 2**d * j * k for j, (k, net) in enumerate(zip(share, built, strict=True)))
            yield equal(f"d = {d}, n = {n}: counted and built weights, N = 1, m = 5", one.size.weights, weights)
            sizes = [TaylorNet.reaching(d, n, e).size for e in near]
            depth = np.array([size.depth for size in sizes])
            self.weights[d, n] = np.array([float(size.weights) for size in sizes])
            yield slope(f"d = {d}, n = {n}: weights / depth", 1 / self.epsilon, self.weights[d, n] / depth, d / n, 0.05 * d / n)
            asymptotic = [TaylorNet.reaching(d, n, e).size.weights / math.log(1 / e) for e in far]
            yield slope(f"d = {d}, n = {n}: weights / ln(1/ε), small ε", 1 / np.array(far), asymptotic, d / n, 0.05 * d / n)
            gates = d + n - 2
            if gates:  # rounding m up costs less than one layer for each gate, half a layer in the mean
                yield at_most(f"d = {d}, n = {n}: depth, next above the line", depth - layers(d, n, self.epsilon), gates)
                # a line in ln(1/ε) of the slope gates / ln 4 is a power of 1/ε with the exponent 1 after this exponential
                lifted = np.exp((depth - depth[0]) * math.log(4) / gates)
                yield slope(f"d = {d}, n = {n}: depth · ln 4 / (d + n - 2) against ln(1/ε)", 1 / self.epsilon, lifted, 1.0, 0.05)
        yield equal("d = n = 1: depth", TaylorNet.reaching(1, 1, near[-1]).size.depth, 2)

    def control(self, c: Config, rng: np.random.Generator) -> Iterator[Check]:
        log = np.log(1 / self.epsilon)
        yield slope("d = 1, n = 2: weights / ln(1/ε) from 10^-1 on", 1 / self.epsilon, self.weights[1, 2] / log, 0.5, 0.025)
        yield slope("d = 4, n = 2: as if smoothness did not help, ε^-d", 1 / self.epsilon, self.weights[4, 2] / log, 4.0, 0.2)
        yield slope("d = 4, n = 2: as if dimension did not hurt, ε^(-1/n)", 1 / self.epsilon, self.weights[4, 2] / log, 0.5, 0.025)

    def plot(self, c: Config, axes: "style.Panels") -> None:
        for i, ((d, n), weights) in enumerate(self.weights.items()):
            look = style.series(i) | ({"color": style.VERMILION, "marker": "P"} if i == 5 else {})
            axes[0].loglog(1 / self.epsilon, weights, **look, label=f"d = {d}, n = {n}")
            axes[0].loglog(1 / self.epsilon, weights[-1] * (self.epsilon[-1] / self.epsilon) ** (d / n), **style.BOUND | {"linewidth": 0.8})
        axes[0].plot([], [], **style.BOUND | {"linewidth": 0.8}, label="slope d/n")
        axes[0].set(title="Weights of the net", xlabel="1/ε", ylabel="weights", ylim=(1, 1e74))
        axes[0].legend(ncols=2, loc="upper left")
        d = np.arange(1, c.dimensions + 1)
        for i, n in enumerate((1, 2, 4)):
            weights = [float(TaylorNet.reaching(int(k), n, 0.01).size.weights) for k in d]
            axes[1].semilogy(d, weights, **style.series(i), label=f"n = {n}")
        axes[1].set(title="The curse of dimension, ε = 0.01", xlabel="dimension d", ylabel="weights")
        axes[1].legend(loc="upper left")
