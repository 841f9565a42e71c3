"""The net of Yarotsky's theorem: a chain of gates for each part of unity and each power, evaluated lazily, built as matrices, counted.

    f̃(x) = Σ_m Σ_{|k|<n} a_{m,k} t_{m,k}(x),     t_{m,k} = ×̃(… ×̃(ψ_1, ψ_2) …, x_j - m_j/N),     a_{m,k} = D^k f(m/N) / k!

Furniture of `yarotsky-network` and `yarotsky-rate`.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property
from itertools import product

import numpy as np

from headway.lab.certified import certified_sup
from headway.lab.tools.gate_chains import crossings
from headway.lab.tools.partition_of_unity import BUMP, Smooth, indices, local_taylor
from headway.lab.depth.yarotsky_product import product_error, product_net
from headway.lab.relu_net import ReluNet, affine, compose, deepen, side_by_side

M = 2.0  # of every gate: factors are at most 1, so products are at most 1 + (number of gates) δ <= 2


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
    def reaching(d: int, n: int, epsilon: float) -> "TaylorNet":
        """N = ⌈(n! / (2^d d^n) ε/2)^{-1/n}⌉ and the least m whose gates err by at most δ = ε / (2^{d+1} d^n (d + n))."""
        wanted = Fraction(2 ** (d + 1) * d**n, math.factorial(n)) / Fraction(str(epsilon))  # N^n must reach it
        low, high = 0, 2 ** (math.ceil(wanted).bit_length() // n + 1)
        while high - low > 1:  # the root in integers, because a root in floats is rounded
            middle = (low + high) // 2
            low, high = (low, middle) if middle**n >= wanted else (middle, high)
        delta = epsilon / (2 ** (d + 1) * d**n * (d + n))
        return TaylorNet(d, n, high, next(m for m in range(1, 500) if product_error(m, M) <= delta))

    @cached_property
    def gate(self) -> ReluNet:
        return product_net(self.m, M)

    @property
    def gate_bound(self) -> float:
        """2^d Σ_k (d + |k| - 1) / k! times the error of a gate: 2^d parts are active, and |a_k| <= 1/k!."""
        each = sum((self.d + sum(k) - 1) / math.prod(map(math.factorial, k)) for k in indices(self.d, self.n))
        return 2**self.d * each * product_error(self.m, M)

    def parts(self, x: np.ndarray, net: ReluNet | None = None) -> Iterator[tuple[tuple[int, ...], np.ndarray, np.ndarray]]:
        """(k, m/N, t_{m,k}(x)) at points (p, d) for the 2^d parts m that are not 0 there; `net` takes the place of the gate."""
        gate = net or self.gate

        def times(p: np.ndarray, q: np.ndarray) -> np.ndarray:
            return gate(np.stack([p, q], axis=1))[:, 0]

        left = np.clip(np.floor(self.N * x), 0, self.N - 1)
        for corner in product((0, 1), repeat=self.d):
            psi, centre = BUMP.at(3 * (self.N * x - left - corner)), (left + corner) / self.N
            made = {(): psi[:, 0]}  # products by the coordinates of their differences: longer chains go on from shorter ones
            for j in range(1, self.d):
                made[()] = times(made[()], psi[:, j])
            for k in indices(self.d, self.n):
                key = tuple(_factors(k))
                if key:
                    made[key] = times(made[key[:-1]], x[:, key[-1]] - centre[:, key[-1]])
                yield k, centre, made[key]

    def __call__(self, f: Smooth, x: np.ndarray, net: ReluNet | None = None) -> np.ndarray:
        """f̃ at points (p, d)."""
        return self.several([f], x, net)[0]

    def several(self, functions: Sequence[Smooth], x: np.ndarray, net: ReluNet | None = None) -> np.ndarray:
        """f̃ of each function at points (p, d): the terms are the same."""
        total = np.zeros((len(functions), len(x)))
        for k, centre, term in self.parts(x, net):
            for i, f in enumerate(functions):
                total[i] += f.partial(k, centre) / math.prod(map(math.factorial, k)) * term
        return total

    def term(self, centre: tuple[int, ...], k: tuple[int, ...]) -> ReluNet:
        """x -> t_{m,k}(x): bumps and differences in the first layer, then d + |k| - 1 gates, each beside the factors that still wait."""
        rows, eye = np.array(centre), np.eye(self.d)
        bumps = [compose(BUMP, affine([3 * self.N * eye[j]], [-3.0 * rows[j]])) for j in range(self.d)]
        net = side_by_side(*bumps, *[affine([eye[j]], [-rows[j] / self.N]) for j in _factors(k)])
        for waiting in range(net.outputs - 2, -1, -1):
            two, rest = np.eye(2, waiting + 2), np.eye(waiting, waiting + 2, 2)
            step = compose(self.gate, affine(two, np.zeros(2)))
            net = compose(side_by_side(step, affine(rest, np.zeros(waiting))) if waiting else step, net)
        return net

    def matrices(self, f: Smooth) -> ReluNet:
        """The whole net: all terms side by side, carried to the same depth, and the Taylor coefficients of f as output weights."""
        pairs = list(product(product(range(self.N + 1), repeat=self.d), indices(self.d, self.n)))
        out = [float(f.partial(k, np.array(c) / self.N)) / math.prod(map(math.factorial, k)) for c, k in pairs]
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
        terms = [math.comb(self.d + j - 1, j) for j in range(self.n)]  # multi-indices of the degree j
        zeros = 2 * share * sum(j * count for j, count in enumerate(terms))
        two, three = _terms(self.d, self.n, 2), _terms(self.d, self.n, 3)
        units, weights, depth = (sum(a) + (self.m - 2) * (sum(b) - sum(a)) for a, b in zip(two, three, strict=True))
        return Size(each * units, each * weights - zeros, depth)

    def knots(self) -> np.ndarray:
        """For d = 1: every place of [0, 1] where f̃ can bend, found gate by gate around one centre and repeated around all."""
        t, h = np.arange(-2, 3) / (3 * self.N), 2 * M / 2**self.m
        p = BUMP.at(3 * self.N * t)
        for _ in range(self.n - 1):
            finer = np.unique(np.concatenate([t, *(crossings(t, u, h) for u in (p + t, p, t))]))
            finer = finer[np.append(True, np.diff(finer) > 1e-13)]
            t, p = finer, self.gate(np.stack([np.interp(finer, t, p), finer], axis=1))[:, 0]
        x = np.unique((np.arange(self.N + 1)[:, None] / self.N + t).ravel())
        x = np.append(0.0, np.append(x[(x > 1e-13) & (x < 1 - 1e-13)], 1.0))
        return x[np.append(True, np.diff(x) > 1e-13)]


@cache
def _terms(d: int, n: int, m: int) -> tuple[list[int], list[int], list[int]]:
    """Units and weights of all terms of one centre, by degree, and their common depth."""
    nets, often = TaylorNet(d, n, 1, m).generic, [math.comb(d + j - 1, j) for j in range(n)]
    pairs = list(zip(often, nets, strict=True))
    return [c * net.nodes for c, net in pairs], [c * net.weights for c, net in pairs], [nets[0].depth]


def _factors(k: tuple[int, ...]) -> Iterator[int]:
    """The coordinates of the differences of (x - m/N)^k, one for each factor."""
    return (j for j, times in enumerate(k) for _ in range(times))


def taylor_error(f: Smooth, N: int, n: int) -> float:
    """sup |f - Σ φ_m P_m| from above, with the Lipschitz constant that `yarotsky-pou` derives and fewer points."""
    r = 2 * f.d / (3 * N)
    lip = f.d * (r ** (n - 1) / math.factorial(n - 1) + 6 * N * r**n / math.factorial(n))
    return certified_sup(lambda x: f(x) - local_taylor(f, x, N, n), lip, np.zeros(f.d), np.ones(f.d), 0.5, 20_000).high
