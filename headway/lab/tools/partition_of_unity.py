"""The partition of unity of Yarotsky's theorem, and smooth functions as Taylor polynomials on its parts."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np

from headway.lab.relu_net import ReluNet, hinges

BUMP = hinges([-2, -1, 1, 2], [1, -1, -1, 1])  # ψ(z) = σ(z + 2) - σ(z + 1) - σ(z - 1) + σ(z - 2)


@dataclass(frozen=True)
class Smooth:
    """A function of d variables with its partial derivatives: partial(k, x) is D^k f at points x of shape (..., d)."""

    name: str
    d: int
    partial: Callable[[tuple[int, ...], np.ndarray], np.ndarray]

    def __call__(self, x: np.ndarray) -> np.ndarray:
        return self.partial((0,) * self.d, x)


def sine_of_sum(d: int, frequency: float = 1.0, phase: float = 0.0) -> Smooth:
    """sin(x_1 + … + x_d + phase): every derivative is a shifted sine, at most 1 in modulus (frequency^|k| in general)."""
    name = " + ".join(f"x{i + 1}" for i in range(d)) if d > 1 else "x"
    return Smooth(
        f"sin({name})" if frequency == 1 else f"sin({frequency:g}({name}))",
        d,
        lambda k, x: frequency ** sum(k) * np.sin(frequency * x.sum(axis=-1) + phase + sum(k) * math.pi / 2),
    )


def indices(d: int, n: int) -> list[tuple[int, ...]]:
    """The multi-indices k of d variables with |k| < n: the terms of a Taylor polynomial of degree n - 1."""
    return [k for k in product(range(n), repeat=d) if sum(k) < n]


def partition(x: np.ndarray, N: int, bump: ReluNet = BUMP) -> np.ndarray:
    """φ_m(x) = ∏ ψ(3N(x_k - m_k/N)) for all m in {0 … N}^d: from (p, d) to (p, N + 1, …, N + 1)."""
    along = [bump.at(3 * (N * x[:, k, None] - np.arange(N + 1))) for k in range(x.shape[1])]
    made = along[0]
    for psi in along[1:]:
        made = made[..., None] * psi.reshape(len(x), *[1] * (made.ndim - 1), N + 1)
    return made


def active(x: np.ndarray, N: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """The 2^d parts that can be different from 0 at x, one after the other: centres m/N of shape (p, d), and φ_m(x) of shape (p,)."""
    left = np.clip(np.floor(N * x), 0, N - 1)
    for corner in product((0, 1), repeat=x.shape[1]):
        m = left + corner
        yield m / N, np.prod(BUMP.at(3 * (N * x - m)), axis=1)


def local_taylor(f: Smooth, x: np.ndarray, N: int, n: int) -> np.ndarray:
    """f_1(x) = Σ_m φ_m(x) P_m(x), P_m the Taylor polynomial of degree n - 1 at m/N; only the active parts are computed."""
    total = np.zeros(len(x))
    for centre, phi in active(x, N):
        h, polynomial = (x - centre).T, np.zeros(len(x))
        for k in indices(f.d, n):
            term = f.partial(k, centre) / math.prod(math.factorial(i) for i in k)
            for axis, i in enumerate(k):
                for _ in range(i):
                    term = term * h[axis]
            polynomial += term
        total += phi * polynomial
    return total


def taylor_bound(d: int, n: int, N: int) -> float:
    """2^d d^n / n! N^{-n}."""
    return 2**d * d**n / math.factorial(n) * float(N) ** -n
