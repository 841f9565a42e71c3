"""Fejér's means as nets of cosines.

    σ_n f = Σ_{|k|<=n} (1 - |k|/(n+1)) f_k e^{ikx}

For functions on [0, 1] that are reflected to even ones of period 2, and for the distance to a point on the circle of length 2π.
"""

import numpy as np

from headway.lab.tools.nets import RidgeNet


def bend_coefficients(c: float, n: int) -> np.ndarray:
    """a_k of |x - c| = Σ a_k cos kπx on [0, 1]: a_0 = ∫ |x - c|, a_k = 2 (1 + cos kπ - 2 cos kπc) / (kπ)²."""
    w = np.arange(1, n + 1) * np.pi
    return np.append((c**2 + (1 - c) ** 2) / 2, 2 * (1 + np.cos(w) - 2 * np.cos(w * c)) / w**2)


def root_coefficients(n: int) -> np.ndarray:
    """a_k of √x: a_0 = 2/3, a_k = -(2/kπ) S(√(2k)) / √(2k) with Fresnel's integral S."""
    from scipy.special import fresnel

    k = np.arange(1, n + 1)
    return np.append(2 / 3, -2 / (k * np.pi) * fresnel(np.sqrt(2 * k))[0] / np.sqrt(2 * k))


def square_wave(n: int) -> np.ndarray:
    """b_k of sign(sin x) = Σ b_k sin kx."""
    return np.append(0.0, np.arange(1, n + 1) % 2 * 4 / np.pi / np.arange(1, n + 1))


def fejer(a: np.ndarray) -> np.ndarray:
    """The coefficients times 1 - k/(n+1): the mean of the first n + 1 partial sums."""
    return a * (1 - np.arange(a.size) / a.size)


def cosine_net(a: np.ndarray) -> RidgeNet:
    """Σ_k a_k cos(kπx), n + 1 units."""
    return RidgeNet(np.cos, np.arange(a.size)[:, None] * np.pi, np.zeros(a.size), a)


def circle_net(centre: float, n: int) -> RidgeNet:
    """Fejér's mean of the distance to a point on the circle of length 2π, with cosines and sines: 2n + 1 units."""
    k = np.arange(1, n + 1)
    a = fejer(np.append(np.pi / 2, -4 / np.pi / k**2 * (k % 2)))
    w, phase = np.concatenate([[0.0], k, k])[:, None], np.repeat([0.0, -np.pi / 2], [n + 1, n])  # cos(kx - π/2) = sin kx
    return RidgeNet(np.cos, w, phase, np.concatenate([a[:1], a[1:] * np.cos(centre * k), a[1:] * np.sin(centre * k)]))


def sharp(n: int) -> float:
    """σ_n|t| at 0, the sharp constant for Lipschitz functions of period 2π: π/2 - (4/π) Σ_{odd k <= n} (1 - k/(n+1)) / k²."""
    k = np.arange(1, n + 1, 2)
    return float(np.pi / 2 - 4 / np.pi * np.sum((1 - k / (n + 1)) / k**2))
