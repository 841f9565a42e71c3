"""The partition of unity of Yarotsky's theorem, and smooth functions as Taylor polynomials on its parts.

    ψ(z) = clip(2 - |z|, 0, 1),     φ_m(x) = ∏_k ψ(3N(x_k - m_k/N)),  m in {0 … N}^d,     f_1 = Σ_m φ_m P_m
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np

from headway.lab.certified import Sup, certified_sup
from headway.lab.relu_net import ReluNet, hinges
from headway.lab.tools.multiindex import Index, below, factorial, monomials

BUMP = hinges([-2, -1, 1, 2], [1, -1, -1, 1])  # ψ(z) = σ(z + 2) - σ(z + 1) - σ(z - 1) + σ(z - 2)


@dataclass(frozen=True)
class Smooth:
    """A function of d variables with its partial derivatives: partial(k, x) is D^k f at points x of shape (..., d)."""

    name: str
    d: int
    partial: Callable[[Index, np.ndarray], np.ndarray]

    def __call__(self, x: np.ndarray) -> np.ndarray:
        return self.partial((0,) * self.d, x)


def of_sum(name: str, d: int, derivative: Callable[[int, np.ndarray], np.ndarray]) -> Smooth:
    """g(x_1 + … + x_d), whose partial derivatives of the order |k| are all g^(|k|); "{}" in the name becomes the sum."""
    inner = " + ".join(f"x{i + 1}" for i in range(d)) if d > 1 else "x"
    return Smooth(name.format(inner), d, lambda k, x: derivative(sum(k), x.sum(axis=-1)))


def sine(d: int, frequency: float = 1.0, phase: float = 0.0) -> Smooth:
    """sin(frequency (x_1 + … + x_d) + phase): derivatives of the order j are at most frequency^j."""
    name = "sin({})" if frequency == 1 else f"sin {frequency:g}({{}})"
    return of_sum(name, d, lambda j, s: frequency**j * np.sin(frequency * s + phase + j * math.pi / 2))


def kink(corner: float = 0.5**0.5) -> Smooth:
    """|x - corner|, which has one derivative; as if it had no jump."""
    return of_sum("|x - 1/√2|", 1, lambda j, s: np.abs(s - corner) if j == 0 else np.sign(s - corner) * (j == 1))


def unit_ball(d: int) -> list[Smooth]:
    """Sine, cosine and exponential, whose derivatives of every order are at most 1; for d = 1 each |f''| is monotone on [0, 1]."""
    return [sine(d), sine(d, phase=math.pi / 2), of_sum(f"exp({{}} - {d})", d, lambda j, s: np.exp(s - d))]


def partition(x: np.ndarray, N: int, bump: ReluNet = BUMP) -> np.ndarray:
    """All φ_m(x): from (p, d) to (p, (N + 1)^d)."""
    made = np.ones((len(x), 1))
    for column in x.T:
        psi = bump.at(3 * (N * column[:, None] - np.arange(N + 1)))
        made = (made[:, :, None] * psi[:, None]).reshape(len(x), -1)
    return made


def active(x: np.ndarray, N: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """The 2^d parts that can be different from 0 at x, one after the other: centres m/N (p, d), and ψ of each coordinate (p, d)."""
    left = np.clip(np.floor(N * x), 0, N - 1)
    for corner in product((0, 1), repeat=x.shape[1]):
        m = left + corner
        yield m / N, BUMP.at(3 * (N * x - m))


def local_taylor(f: Smooth, x: np.ndarray, N: int, n: int) -> np.ndarray:
    """f_1(x), P_m the Taylor polynomial of degree n - 1 at m/N; only the active parts are computed."""
    orders, total = below(f.d, n), np.zeros(len(x))
    for centre, psi in active(x, N):
        coefficients = np.stack([f.partial(k, centre) / factorial(k) for k in orders], axis=1)
        total += np.prod(psi, axis=1) * np.sum(coefficients * monomials(x - centre, orders), axis=1)
    return total


def taylor_bound(d: int, n: int, N: float | np.ndarray) -> np.ndarray:
    """2^d d^n / n! N^{-n}."""
    return 2**d * d**n / math.factorial(n) * np.asarray(N, dtype=float) ** -n


def error_slope(d: int, n: int, N: int) -> float:
    """A Lipschitz constant of f - f_1 for the largest-coordinate norm, where all derivatives of f up to the order n are at most 1.

    With the reach r = 2/(3N) of a bump: ∂_j(f - f_1) = Σ φ ∂_j(f - P) - Σ (∂_j φ)(P - f), |f - P| <= (dr)^n / n!, |∂_j(f - P)| <=
    (dr)^{n-1} / (n-1)! and Σ |∂_j φ| <= 6N; there are d such terms.
    """
    r = 2 * d / (3 * N)
    return d * (r ** (n - 1) / math.factorial(n - 1) + 6 * N * r**n / math.factorial(n))


def taylor_error(f: Smooth, N: int, n: int, rtol: float = 0.5, most: int = 20_000) -> Sup:
    """sup |f - f_1| over the cube, between an attained value and a true upper bound."""
    slope = error_slope(f.d, n, N)
    return certified_sup(lambda x: f(x) - local_taylor(f, x, N, n), slope, np.zeros(f.d), np.ones(f.d), rtol, most)


def sine_error(d: int, N: int, n: int) -> Sup:
    """The same for f = sin(x_1 + … + x_d), from one cell.

    The partition repeats in every cell, so at y in the cell [0, 1/N]^d with the corner l/N the error is that of sin(y_1 + … + y_d + s)
    at y, s = (l_1 + … + l_d)/N: a mixture of the errors of cosine and sine, and the d(N - 1) + 1 phases s are enough.
    """
    s = np.arange(d * (N - 1) + 1) / N
    waves, mix = (sine(d, phase=math.pi / 2), sine(d)), np.stack([np.sin(s), np.cos(s)])

    def worst(y: np.ndarray) -> np.ndarray:
        return np.max(np.abs(np.stack([f(y) - local_taylor(f, y, N, n) for f in waves], axis=1) @ mix), axis=1)

    rtol, most = (1e-3, 100_000) if d == 1 else (0.05, 20_000)
    return certified_sup(worst, error_slope(d, n, N), np.zeros(d), np.full(d, 1 / N), rtol, most)
