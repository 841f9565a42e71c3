"""The polynomial and the Gaussian kernel, their features, and regression with them."""

import numpy as np
from scipy.special import gammaln

from headway.lab.tools.curves import Function
from headway.lab.tools.multiindex import exponents, monomials, multinomial


def polynomial(x: np.ndarray, z: np.ndarray, k: float) -> np.ndarray:
    """(1 + <x, z>)^k"""
    return (1 + x @ z.T) ** k


def polynomial_features(x: np.ndarray, k: int, weighted: bool = True) -> np.ndarray:
    """φ_a(x) = sqrt(multinomial(a)) x^a for a_0 + … + a_d = k; a_0 belongs to the constant 1. Without weights whole numbers stay whole."""
    a = exponents(x.shape[1] + 1, k)
    plain = monomials(x, np.array(a)[:, 1:])
    return plain * np.sqrt([multinomial(e) for e in a]) if weighted else plain


def gaussian(x: np.ndarray, z: np.ndarray, gamma: float) -> np.ndarray:
    """exp(-γ(x - z)²) of numbers."""
    return np.exp(-gamma * (x[:, None] - z) ** 2)


def gaussian_features(x: np.ndarray, K: int, gamma: float) -> np.ndarray:
    """φ_k(x) = e^{-γx²} sqrt((2γ)^k / k!) x^k for k = 0 … K."""
    k = np.arange(K + 1)
    return np.exp(-gamma * x[:, None] ** 2 + (k * np.log(2 * gamma) - gammaln(k + 1)) / 2) * x[:, None] ** k


def gaussian_tail(K: np.ndarray, t: float) -> np.ndarray:
    """A bound of what the features after K add, for t = 2γR²: t^{K+1} / (K+1)! / (1 - t/(K+2)) where K + 2 > t."""
    return np.exp((K + 1) * np.log(t) - gammaln(K + 2)) / (1 - t / (K + 2))


def chebyshev(n: int) -> np.ndarray:
    """n nodes of [-1, 1] that are denser near its ends."""
    return np.cos((np.arange(n) + 0.5) * np.pi / n)


def gaussian_ridge(f: Function, n: int, gamma: float, penalty: float, points: int = 4001) -> tuple[float, float]:
    """Kernel ridge regression at n Chebyshev nodes: its largest error on a grid of [-1, 1], and its norm in the kernel's space."""
    x, t = chebyshev(n), np.linspace(-1, 1, points)
    gram = gaussian(x, x, gamma)
    weights = np.linalg.solve(gram + penalty * np.eye(n), f(x))
    return float(np.max(np.abs(gaussian(t, x, gamma) @ weights - f(t)))), float(np.sqrt(weights @ gram @ weights))
