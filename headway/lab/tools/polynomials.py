"""Polynomials that approximate a function: Bernstein's, and interpolants of Runge's function 1/(1 + 25x²) on [-1, 1]."""

import math

import numpy as np

from headway.lab.certified import certified_sup
from headway.lab.tools.curves import Function
from headway.lab.tools.kernels import chebyshev


def bernstein(f: Function, n: int) -> Function:
    """B_n f(x) = Σ_k f(k/n) binomial(n, k) x^k (1-x)^{n-k}, with logarithms against overflow."""
    from scipy.special import gammaln, xlog1py, xlogy

    k = np.arange(n + 1)
    logs, values = gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1), f(k / n)
    return lambda x: np.exp(logs + xlogy(k, x[:, None]) + xlog1py(n - k, -x[:, None])) @ values


def bernstein_error(f: Function, n: int, slope: float, rtol: float) -> float:
    """sup |B_n f - f| on [0, 1], certified: B_n f is as Lipschitz as f."""
    b = bernstein(f, n)
    return certified_sup(lambda x: b(x) - f(x), 2 * slope, 0, 1, rtol).high


def bernstein_root_error(n: int, rtol: float) -> float:
    """The same for √x, in t = √x, where the slope of B_n is at most 2√n."""
    b = bernstein(np.sqrt, n)
    return certified_sup(lambda t: b(t * t) - t, 2 * n**0.5 + 1, 0, 1, rtol).high


def runge(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + 25 * x**2)


def runge_gap(nodes: np.ndarray) -> Function:
    """The interpolant at the nodes minus Runge's function."""
    from scipy.interpolate import BarycentricInterpolator

    p = BarycentricInterpolator(nodes, runge(nodes), random_state=np.random.RandomState(0))
    return lambda x: p(x) - runge(x)


def runge_error(n: int) -> float:
    """sup of that at n + 1 Chebyshev nodes, certified to a factor of 5.

    In x = cos θ the interpolant is a trigonometric polynomial of degree n, so its slope is at most n times its maximum.
    """
    gap, lip = runge_gap(chebyshev(n + 1)), n * (1 + 2 / math.pi * math.log(n + 1)) + 3.3
    return certified_sup(lambda angle: gap(np.cos(angle)), lip, 0, math.pi, rtol=4.0).high
