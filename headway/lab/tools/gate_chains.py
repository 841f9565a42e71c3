"""Chains of multiplication gates, the places where they bend, and how far they are from a smooth function.

A chain has tens of layers, so its knots are found gate by gate, not layer by layer as `pwl1d` does.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from headway.lab.relu_net import ReluNet, affine, compose, identity, side_by_side
from headway.lab.tools.gates import product_net

M = 2.0  # of every gate: factors are at most 1, so products are at most 1 + (number of gates) δ <= 2
Function = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Series:
    """A function with its derivatives at 0, |g''|, and a bound on all derivatives on [-1, 1] for the remainder."""

    g: Function
    curvature: Function
    derivatives: tuple[int, ...]  # they repeat
    steepest: float

    def coefficients(self, K: int) -> list[float]:
        return [self.derivatives[k % len(self.derivatives)] / math.factorial(k) for k in range(K + 1)]

    def truncation(self, K: int) -> float:
        return self.steepest / math.factorial(K + 1)

    def gates(self, K: int) -> float:
        """Σ |a_k| (k - 1)."""
        return sum(abs(a) * (k - 1) for k, a in enumerate(self.coefficients(K)) if k)


SERIES = {
    "exp": Series(np.exp, np.exp, (1,), math.e),
    "sin": Series(np.sin, lambda x: np.abs(np.sin(x)), (0, 1, 0, -1), 1.0),
}


def power_net(k: int, m: int, bound: float = M) -> ReluNet:
    """x -> ×̃(… ×̃(×̃(x, x), x) …, x), k - 1 gates in a row; x goes along in two channels. Depth (k - 1)(m + 2) + 1."""
    gate, net = product_net(m, bound), affine([[1.0], [1.0]], [0.0, 0.0])
    step = side_by_side(gate, affine([[0.0, 1.0]], [0.0]))
    for _ in range(k - 2):
        net = compose(step, net)
    return compose(gate, net) if k > 1 else identity(1)


def polynomial_net(a: Sequence[float], m: int) -> ReluNet:
    """x -> Σ a_k p_k(x) with the powers p_k of the chain: the state is (p_k, x, the sum so far)."""
    gate, net = compose(product_net(m, M), affine([[1, 0, 0], [0, 1, 0]], [0, 0])), affine([[1], [1], [a[1]]], [0, 0, a[0]])
    step = side_by_side(gate, affine([[0, 1, 0], [0, 0, 1]], [0, 0]))
    for a_k in a[2:]:
        net = compose(affine([[1, 0, 0], [0, 1, 0], [a_k, 0, 1]], [0, 0, 0]), compose(step, net))
    return compose(affine([[0, 0, 1]], [0]), net)


def crossings(t: np.ndarray, u: np.ndarray, h: float) -> np.ndarray:
    """Where the function that is linear between the points (t, u) meets a multiple of h."""
    low, high = np.minimum(u[1:], u[:-1]) / h, np.maximum(u[1:], u[:-1]) / h
    first = np.ceil(low)
    count = np.maximum(np.floor(high) - first + 1, 0).astype(int) * (high > low)
    i = np.repeat(np.arange(count.size), count)
    level = first[i] + np.arange(i.size) - np.repeat(np.cumsum(count) - count, count)
    return t[i] + (t[i + 1] - t[i]) * np.clip((level * h - u[i]) / (u[i + 1] - u[i]), 0, 1)


def apart(t: np.ndarray) -> np.ndarray:
    """Sorted, without those that rounding alone tells apart."""
    t = np.unique(t)
    return t[np.append(True, np.diff(t) > 1e-13)]


def chain_knots(t: np.ndarray, p: np.ndarray, gates: int, m: int) -> tuple[np.ndarray, float]:
    """Every place where p(t) and p_{j+1} = ×̃(p_j, t) of a chain of gates can bend, and the largest |p_j|.

    p is linear between the points (t, p). A gate bends where p + t, p or t is a multiple of 2M/2^m.
    """
    gate, h, largest = product_net(m, M), 2 * M / 2**m, float(np.max(np.abs(p)))
    for _ in range(gates):
        finer = apart(np.concatenate([t, *(crossings(t, u, h) for u in (p + t, p, t))]))
        t, p = finer, gate(np.stack([np.interp(finer, t, p), finer], axis=1))[:, 0]
        largest = max(largest, float(np.max(np.abs(p))))
    return t, largest


def certified_gap(t: np.ndarray, v: np.ndarray, g: Function, curvature: Function, parts: int = 8) -> float:
    """An upper bound on max |f - g| over [t_0, t_n] for f linear between the points (t, v).

    Between neighbours a, b the difference leaves its chord by at most h²/8 max |g''|; `curvature` is |g''|, largest at an end of [a, b].
    """
    x = np.unique((t[:-1, None] + np.diff(t)[:, None] * np.arange(parts + 1) / parts).ravel())
    d, bend = np.abs(np.interp(x, t, v) - g(x)), curvature(x)
    return float(np.max(np.maximum(d[1:], d[:-1]) + np.maximum(bend[1:], bend[:-1]) * np.diff(x) ** 2 / 8))


def power_gap(t: np.ndarray, v: np.ndarray, k: int) -> float:
    """max |f - x^k| for f linear between the points (t, v), exactly: at a point t or where k x^{k-1} is the slope."""
    turn = (np.abs(np.diff(v) / np.diff(t)) / k) ** (1 / (k - 1))
    x = np.concatenate([t, np.clip(turn, t[:-1], t[1:]), np.clip(-turn, t[:-1], t[1:])])
    return float(np.max(np.abs(np.interp(x, t, v) - x**k)))
