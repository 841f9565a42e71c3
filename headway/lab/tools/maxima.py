"""The expected maximum of K independent numbers with distribution function F, by quadrature or by a sum.

E max = ∫_0^∞ (1 - F(x)^K) dx - ∫_0^∞ F(-x)^K dx
"""

import math
from collections.abc import Callable

import numpy as np
from scipy.integrate import quad
from scipy.special import ndtr, stdtr
from scipy.stats import binom


def expected_maximum(K: int, tail: Callable[[float], float], middle: float) -> float:
    """For a law that is symmetric around 0, up to about 1e-8; the integral is split at `middle`, a point near the maximum.

    tail   1 - F(x) for x >= 0
    """

    def above(x: float) -> float:
        return -math.expm1(K * math.log1p(-tail(x)))

    parts = [quad(above, lo, hi, limit=200)[0] for lo, hi in ((0, middle), (middle, 2 * middle), (2 * middle, np.inf))]
    return math.fsum(parts) - quad(lambda x: tail(x) ** K, 0, np.inf)[0]


def normal_maximum(K: int) -> float:
    """For N(0, 1)."""
    return expected_maximum(K, lambda x: ndtr(-x), math.sqrt(2 * math.log(K)))


def student_maximum(K: int) -> float:
    """For Student's t with 3 degrees of freedom, scaled to the variance 1."""
    return expected_maximum(K, lambda x: stdtr(3, -math.sqrt(3) * x), K ** (1 / 3))


def expected_most(K: int, n: int, p: float) -> float:
    """For the largest of K counts of n trials that succeed with probability p: Σ_{j<n} (1 - F(j)^K)."""
    return float(-np.sum(np.expm1(K * binom.logcdf(np.arange(n), n, p))))
