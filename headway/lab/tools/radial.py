"""Integrals of functions of ‖x‖ over the whole space of d dimensions: one integral over the radius.

    ∫ f(‖x‖) e^{-i<w,x>} dx = |S^{d-1}| ∫_0^∞ f(r) r^{d-1} A_d(‖w‖ r) dr,    A_d(z) = Γ(d/2) (2/z)^{d/2-1} J_{d/2-1}(z)

A_d is the mean of e^{i<w,x>} over the sphere ‖w‖ ‖x‖ = z. Stein and Weiss 1971, Introduction to Fourier Analysis,
chapter IV.
"""

import math
from collections.abc import Callable

import numpy as np

Profile = Callable[[np.ndarray], np.ndarray]  # f as a function of the radius


def sphere(d: int) -> float:
    """The area of the unit sphere in d dimensions, 2π^{d/2} / Γ(d/2); 2 on the line, where it is two points."""
    return 2 * math.exp(d / 2 * math.log(math.pi) - math.lgamma(d / 2))


def wave(d: int, z: np.ndarray) -> np.ndarray:
    """A_d(z), which is cos z on the line and sin z / z in space."""
    from scipy.special import hyp0f1

    return hyp0f1(d / 2, -np.square(z) / 4)


def nodes(start: float, end: float, count: int = 400) -> tuple[np.ndarray, np.ndarray]:
    """Places and weights of the rule of Gauss and Legendre on [start, end]."""
    x, weight = np.polynomial.legendre.leggauss(count)
    return start + (end - start) * (x + 1) / 2, weight * (end - start) / 2


def fourier(f: Profile, d: int, rho: np.ndarray, reach: float) -> np.ndarray:
    """∫ f(‖x‖) e^{-i<w,x>} dx at ‖w‖ = ρ over the ball of radius `reach`, without a factor of 2π."""
    r, weight = nodes(0.0, reach)
    return wave(d, np.multiply.outer(rho, r)) @ (sphere(d) * weight * r ** (d - 1) * f(r))


def radial_constant(f: Profile, d: int, reach: float, band: float) -> float:
    """C = ∫ ‖w‖ |f̂(w)| dw over ‖w‖ < `band`, with f̂ by `fourier`: of f itself, without a formula for its transform."""
    rho, weight = nodes(0.0, band, 100)
    return float(sphere(d) / (2 * math.pi) ** d * (weight @ (rho**d * np.abs(fourier(f, d, rho, reach)))))


def mean_norm(d: int) -> float:
    """E‖W‖ for W ~ N(0, I), by the radius: all of its density lies within 12 of the top."""
    u, weight = nodes(max(0.0, math.sqrt(d) - 12), math.sqrt(d) + 12)
    return float(weight @ np.exp(math.log(sphere(d)) - d / 2 * math.log(2 * math.pi) + d * np.log(u) - u * u / 2))


def cap(rho: np.ndarray) -> np.ndarray:
    """f̂ of (1 - ‖x‖²)_+ in five dimensions: (2π)^{-5} π^{-1} (ρ/2π)^{-7/2} J_{7/2}(ρ) (Bochner and Riesz)."""
    from scipy.special import jv

    return (2 * math.pi) ** -5.0 / math.pi * (rho / (2 * math.pi)) ** -3.5 * jv(3.5, rho)


def there_and_back(f: Profile, d: int, x: float, reach: float) -> float:
    """The transform and its inverse at ‖x‖ = x, both without a factor: (2π)^d f(x)."""
    return float(fourier(lambda rho: fourier(f, d, rho, reach), d, np.array(x), reach))
