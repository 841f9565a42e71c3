"""The net of Yarotsky's theorem: a chain of gates for each part of unity and each power, evaluated lazily, built as matrices, counted.

    f̃(x) = Σ_m Σ_{|k|<n} a_{m,k} t_{m,k}(x),     t_{m,k} = ×̃(… ×̃(ψ_1, ψ_2) …, x_j - m_j/N),     a_{m,k} = D^k f(m/N) / k!
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property
from itertools import product

import numpy as np

from headway.lab.relu_net import ReluNet, affine, compose, deepen, side_by_side
from headway.lab.tools.gate_chains import M, apart, certified_gap, chain_knots
from headway.lab.tools.gates import product_error, product_net
from headway.lab.tools.multiindex import Index, below, factorial, factors
from headway.lab.tools.partition_of_unity import BUMP, Smooth, active


@dataclass(frozen=True)
class Size:
    units: int
    weights: int
    depth: int


@dataclass(frozen=True)
class TaylorNet:
    """The architecture for d variables and n derivatives: a grid of N and gates of depth m. A function enters only as output weights."""

    d: int
    n: int
    N: int
    m: int

    @staticmethod
    def reaching(d: int, n: int, epsilon: float, share: float = 1.0) -> "TaylorNet":
        """N = ⌈(n! / (2^d d^n) ε/2)^{-1/n}⌉ and the least m whose gates err by at most `share` δ, δ = ε / (2^{d+1} d^n (d + n))."""
        wanted = Fraction(2 ** (d + 1) * d**n, math.factorial(n)) / Fraction(str(epsilon))  # N^n must reach it
        low, high = 0, 2 ** (math.ceil(wanted).bit_length() // n + 1)
        while high - low > 1:  # the root in integers, because a root in floats is rounded
            middle = (low + high) // 2
            low, high = (low, middle) if middle**n >= wanted else (middle, high)
        delta = share * epsilon / (2 ** (d + 1) * d**n * (d + n))
        return TaylorNet(d, n, high, next(m for m in range(1, 2000) if product_error(m, M) <= delta))

    @cached_property
    def gate(self) -> ReluNet:
        return product_net(self.m, M)

    @property
    def gate_bound(self) -> float:
        """2^d Σ_k (d + |k| - 1) / k! times the error of a gate: 2^d parts are active, and |a_k| <= 1/k!."""
        each = sum((self.d + sum(k) - 1) / factorial(k) for k in below(self.d, self.n))
        return float(2**self.d * each * product_error(self.m, M))

    def parts(self, x: np.ndarray, net: ReluNet | None = None) -> Iterator[tuple[Index, np.ndarray, np.ndarray]]:
        """(k, m/N, t_{m,k}(x)) at points (p, d) for the 2^d parts m that are not 0 there; `net` takes the place of the gate."""
        gate = net or self.gate

        def times(p: np.ndarray, q: np.ndarray) -> np.ndarray:
            return gate(np.stack([p, q], axis=1))[:, 0]

        for centre, psi in active(x, self.N):
            made: dict[Index, np.ndarray] = {(): psi[:, 0]}  # by the coordinates of the differences: chains go on from shorter ones
            for j in range(1, self.d):
                made[()] = times(made[()], psi[:, j])
            for k in below(self.d, self.n):
                key = tuple(factors(k))
                if key:
                    made[key] = times(made[key[:-1]], x[:, key[-1]] - centre[:, key[-1]])
                yield k, centre, made[key]

    def __call__(self, functions: Sequence[Smooth], x: np.ndarray, net: ReluNet | None = None) -> np.ndarray:
        """f̃ of each function at points (p, d): the terms are the same."""
        total = np.zeros((len(functions), len(x)))
        for k, centre, term in self.parts(x, net):
            total += np.stack([f.partial(k, centre) for f in functions]) / factorial(k) * term
        return total

    def term(self, centre: Sequence[int], k: Index) -> ReluNet:
        """x -> t_{m,k}(x): bumps and differences in the first layer, then d + |k| - 1 gates, each beside the factors that still wait."""
        rows, eye = np.array(centre), np.eye(self.d)
        bumps = [compose(BUMP, affine([3 * self.N * eye[j]], [-3.0 * rows[j]])) for j in range(self.d)]
        net = side_by_side(*bumps, *[affine([eye[j]], [-rows[j] / self.N]) for j in factors(k)])
        for waiting in range(net.outputs - 2, -1, -1):
            two, rest = np.eye(2, waiting + 2), np.eye(waiting, waiting + 2, 2)
            step = compose(self.gate, affine(two, np.zeros(2)))
            net = compose(side_by_side(step, affine(rest, np.zeros(waiting))) if waiting else step, net)
        return net

    def matrices(self, f: Smooth) -> ReluNet:
        """The whole net: all terms side by side, carried to the same depth, and the Taylor coefficients of f as output weights."""
        pairs = list(product(product(range(self.N + 1), repeat=self.d), below(self.d, self.n)))
        out = [float(f.partial(k, np.array(c) / self.N)) / factorial(k) for c, k in pairs]
        return compose(affine([out], [0.0]), side_by_side(*[self.term(c, k) for c, k in pairs]))

    @property
    def generic(self) -> list[ReluNet]:
        """One term for each degree |k| = 0 … n - 1, at the full depth and at a centre without zeros: all others have the same layers."""
        depth = 2 + (self.d + self.n - 2) * (self.m + 2)
        return [deepen(self.term((1,) * self.d, (j, *[0] * (self.d - 1))), depth) for j in range(self.n)]

    @property
    def size(self) -> Size:
        """Of the whole net, without building it: a term has a + b m units and weights, known from those with m = 2 and m = 3.

        A bias -m_j/N is 0 where m_j = 0; every other weight is there for every term.
        """
        each, share = (self.N + 1) ** self.d, (self.N + 1) ** (self.d - 1)
        zeros = 2 * share * sum(j * count for j, count in enumerate(_often(self.d, self.n)))
        two, three = _terms(self.d, self.n, 2), _terms(self.d, self.n, 3)
        units, weights, depth = (a + (self.m - 2) * (b - a) for a, b in zip(two, three, strict=True))
        return Size(each * units, each * weights - zeros, depth)

    def knots(self) -> np.ndarray:
        """For d = 1: every place of [0, 1] where f̃ can bend, found gate by gate around one centre and repeated around all."""
        t = np.arange(-2, 3) / (3 * self.N)
        t, _ = chain_knots(t, BUMP.at(3 * self.N * t), self.n - 1, self.m)
        x = (np.arange(self.N + 1)[:, None] / self.N + t).ravel()
        return apart(np.concatenate([[0.0], x[(x > 1e-13) & (x < 1 - 1e-13)], [1.0]]))

    def line_error(self, f: Smooth) -> float:
        """For d = 1: sup |f - f̃| from above, certified between the knots; |f''| is monotone on [0, 1]."""
        t = self.knots()
        values = self([f], t[:, None])[0]
        return certified_gap(t, values, lambda x: f(x[:, None]), lambda x: np.abs(f.partial((2,), x[:, None])))

    @property
    def constants(self) -> tuple[float, float]:
        """A c of the theorem for the depth, and one for the weights.

        m <= 2 + log_4(C / ε) with C = 2^{d+1} d^n (d + n), N + 1 <= ((2^{d+1} d^n / n!)^{1/n} + 2) ε^{-1/n}, and no layer of a term is
        wider than those of one with m = 2.
        """
        d, n = self.d, self.n
        deep = 2 + (d + n - 2) * (4 + math.log(2 ** (d + 1) * d**n * (d + n), 4))
        wide = max(max(term.widths) for term in TaylorNet(d, n, 1, 2).generic)
        grid = (2 ** (d + 1) * d**n / math.factorial(n)) ** (1 / n) + 2
        return deep, grid**d * len(below(d, n)) * wide * (wide + 1) * deep


def _often(d: int, n: int) -> list[int]:
    """How many multi-indices have the degree 0 … n - 1."""
    return [math.comb(d + j - 1, j) for j in range(n)]


@cache
def _terms(d: int, n: int, m: int) -> tuple[int, int, int]:
    """Units and weights of all terms of one centre, and their common depth."""
    nets = TaylorNet(d, n, 1, m).generic
    pairs = list(zip(_often(d, n), nets, strict=True))
    return sum(c * net.nodes for c, net in pairs), sum(c * net.weights for c, net in pairs), nets[0].depth
