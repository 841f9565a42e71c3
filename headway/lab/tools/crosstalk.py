"""Noise that the other patterns of a Hopfield net make at a stored bit, and how often it turns the bit."""

import math

import numpy as np
from numpy.random import Generator
from scipy.special import bdtr, erfc

from headway.lab.tools.hopfield import patterns


def crosstalk(x: np.ndarray) -> np.ndarray:
    """n x_ti C_ti for every pattern and bit: n x_ti (W x_t)_i less the signal n - 1, by way of the s × s overlaps (cheaper than W)."""
    s, n = x.shape
    return x * (x @ x.T @ x) - (s + n - 1)


def unstable(x: np.ndarray, c: np.ndarray) -> np.ndarray:
    """The bits that sgn(W x_t) turns, from their crosstalk c; sgn 0 = +1."""
    field = c + (x.shape[1] - 1)
    return (field < 0) | ((field == 0) & (x < 0))


def fixed(x: np.ndarray) -> np.ndarray:
    """Which of the patterns have no unstable bit."""
    return np.asarray(~unstable(x, crosstalk(x)).any(axis=1))


def unstable_share(s: int, n: int, nets: int, rng: Generator) -> tuple[float, float]:
    """The share of unstable bits, and the mean of C², in nets with s random patterns."""
    found = []
    for _ in range(nets):
        x = patterns(s, n, rng)
        c = crosstalk(x)
        found.append((unstable(x, c).mean(), np.mean((c / n) ** 2, dtype=np.float64)))
    share, square = np.mean(found, axis=0)
    return float(share), float(square)


def bit_error(ratio: float | np.ndarray) -> np.ndarray:
    """½ erfc √(n/2s) at s/n = `ratio`."""
    return erfc(np.sqrt(0.5 / np.asarray(ratio))) / 2


def exact_bit_error(s: int, n: int) -> float:
    """P(a bit turns) without a Gaussian: n x C is a sum of K = (s-1)(n-1) independent signs, and half of the ties turn."""
    K = (s - 1) * (n - 1)
    return sum(float(bdtr(most, K, 0.5)) for most in ((K - n + 1) // 2, (K - n) // 2) if most >= 0) / 2


def standard_errors(s: int, n: int, nets: int) -> tuple[float, float]:
    """Of the share of turned bits and of the mean of C², in so many nets: the bits of a net are not independent, α = s/n.

    Mean and mean square of the x C move together with Q = Σ_{r<t} ((x_r·x_t)² - n), Var Q = s²n²; the mean square also with the products
    of three overlaps. To second order in Hermite polynomials a share p with density φ at its threshold then has the variance below.
    (Measured over 300 to 400 nets with n = 300, the standard deviations are 0.90 to 1.04 times these.)
    """
    p, a = exact_bit_error(s, n), s / n
    density = math.exp(-0.5 / a) / math.sqrt(2 * math.pi)
    share = math.sqrt((p * (1 - p) + density**2 * (1 - a) / a**2) / (n * s * nets))
    return share, 2 / s * math.sqrt(((1 + a) ** 2 + 1.5 * a) / nets) * (n - 1) * (s - 1) / n**2
