"""Dense associative memories E(σ) = -Σ_μ F(ξ^μ·σ): which patterns are fixed points, and how many patterns fit."""

import math
from collections.abc import Callable

import numpy as np
from numpy.random import Generator
from scipy.special import binom, ndtri

Energy = Callable[[np.ndarray], np.ndarray]
LIMIT = 20_000  # patterns, at most


def energy(k: int, n: int) -> Energy:
    """F(x) = x^k; k = 0 stands for exp(x - n), whose common factor changes no sign and keeps the numbers below 1."""
    return (lambda x: np.exp(x - n)) if k == 0 else (lambda x: np.asarray(x, dtype=float) ** k)


def estimate(n: int, F: Energy) -> float:
    """The s with n Q(S/√(sv)) = 0.05: signal S = F(n) - F(n-2), v the variance that one pattern adds, as if the sum were Gaussian."""
    o = np.arange(-n, n + 1, 2.0)
    p, agree = binom(n, (o + n) / 2) / 2.0**n, (o + n) / (2 * n)  # of an overlap o, and of a bit y = +1 given o
    v = np.sum(p * (agree * (F(o) - F(o - 2)) ** 2 + (1 - agree) * (F(o) - F(o + 2)) ** 2))
    return float((F(np.array(n)) - F(np.array(n - 2))) ** 2 / (ndtri(0.05 / n) ** 2 * v))


def stays(y: np.ndarray, F: Energy) -> np.ndarray:
    """Whether σ = (1, …, 1), stored with the first 1, 2, … of the patterns 2y - 1 ("trial, μ, i"), is a fixed point.

    Flipping bit i lowers the overlap o with ξ by 2 ξ_i, so the bit stays if Σ_μ F(o_μ) - F(o_μ - 2 ξ_i^μ) >= 0, σ itself included.
    """
    n = y.shape[2]
    o = 2.0 * y.sum(axis=2, keepdims=True) - n
    terms = np.where(y, F(o) - F(o - 2), F(o) - F(o + 2))
    return np.cumsum(terms, axis=1).min(axis=2) + float(F(np.array(n)) - F(np.array(n - 2))) >= 0


def stable_share(n: int, F: Energy, s: int, trials: int, rng: Generator, ones: float = 0.5) -> np.ndarray:
    """P(a stored pattern is a fixed point) with 1, 2, …, s patterns; by symmetry that pattern is (1, …, 1).

    ones   the share of bits of the other patterns that agree with it, in steps of 0.01
    """
    group, total = max(1, 100_000 // (s * n)), np.zeros(s - 1)  # so many trials at once
    for first in range(0, trials, group):
        y = rng.integers(0, 100, (min(group, trials - first), s - 1, n), dtype=np.int8) < 100 * ones
        total += stays(y, F).sum(axis=0)
    return np.append(1.0, total / trials)


def capacity(n: int, k: int, trials: int, rng: Generator) -> float:
    """The largest s at which 95 % of the patterns are fixed points, between whole numbers; not a number if that is LIMIT or more."""
    F = energy(k, n)
    most = int(12 + 2 * estimate(n, F)) if k else 8 * 2 ** (n // 2)  # for exp the tails are too heavy for the estimate
    while most <= LIMIT:
        share = stable_share(n, F, most, trials, rng)
        last = int(np.flatnonzero(share >= 0.95)[-1])
        if last < 0.8 * most:
            return last + 1 + (share[last] - 0.95) / (share[last] - share[last + 1])
        most *= 4  # the search ended too early
    return math.nan


def formula(n: int, k: int) -> float:
    """n^{k-1} / (2 (2k-3)!! ln n)."""
    return n ** (k - 1) / (2 * math.prod(range(2 * k - 3, 1, -2)) * math.log(n))
