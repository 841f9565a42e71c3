"""Nets with one hidden layer of any unit, and their products where the units allow it."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class RidgeNet:
    """Σ_i c_i σ(⟨w_i, x⟩ + b_i): one hidden layer, w of shape (units, inputs)."""

    sigma: Callable[[np.ndarray], np.ndarray]
    w: np.ndarray
    b: np.ndarray
    c: np.ndarray

    def __call__(self, x: np.ndarray) -> np.ndarray:
        return self.sigma(x @ self.w.T + self.b) @ self.c


def random_units(sigma: Callable[[np.ndarray], np.ndarray], m: int, d: int, rng: np.random.Generator) -> RidgeNet:
    return RidgeNet(sigma, rng.normal(size=(m, d)), rng.uniform(-1, 1, m), rng.normal(size=m) / m)


def multiply(f: RidgeNet, g: RidgeNet) -> RidgeNet:
    """The product as a net: cos a cos b = (cos(a + b) + cos(a - b)) / 2 needs 2 m₁m₂ units, e^a e^b = e^{a+b} needs m₁m₂."""
    signs = (1, -1) if f.sigma is np.cos else (1,)
    w = np.concatenate([(f.w[:, None] + s * g.w).reshape(-1, f.w.shape[1]) for s in signs])
    b = np.concatenate([np.add.outer(f.b, s * g.b).ravel() for s in signs])
    return RidgeNet(f.sigma, w, b, np.tile(np.outer(f.c, g.c).ravel() / len(signs), len(signs)))
