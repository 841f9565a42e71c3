"""Nets with one hidden layer: interpolants of ReLUs, and nets of any other unit with their products where the units allow it."""

from dataclasses import dataclass

import numpy as np

from headway.lab.pwl1d import Pwl, constant, sup_distance
from headway.lab.relu_net import ReluNet, hinges
from headway.lab.tools.curves import Function


def as_hinges(f: Pwl) -> ReluNet:
    """a x + b + Σ c_i (x - x_i)_+ with a the first slope and c_i the jump of the slope at the knot x_i; equal to f on the line."""
    return hinges(f.knots, np.diff(f.slopes), f.left, float(f.values[0] - f.left * f.knots[0]))


def interpolant(g: Function, knots: np.ndarray) -> ReluNet:
    """The piecewise-linear function through (t_i, g(t_i)) from the first knot to the last: m pieces are m ReLUs and a bias."""
    values = g(knots)
    return as_hinges(Pwl(knots[:-1], values[:-1], 0.0, float((values[-1] - values[-2]) / (knots[-1] - knots[-2]))))


def sigmoid(z: np.ndarray) -> np.ndarray:
    """1/(1 + e^{-z}), without overflow; z may be complex."""
    return 0.5 + 0.5 * np.tanh(z / 2)


@dataclass(frozen=True)
class RidgeNet:
    """Σ_i c_i σ(⟨w_i, x⟩ + b_i): one hidden layer, w of shape (units, inputs)."""

    sigma: Function
    w: np.ndarray
    b: np.ndarray
    c: np.ndarray

    def __call__(self, x: np.ndarray) -> np.ndarray:
        return self.sigma(x @ self.w.T + self.b) @ self.c

    @property
    def parameters(self) -> int:
        return self.w.size + self.b.size + self.c.size


def random_units(sigma: Function, m: int, d: int, rng: np.random.Generator) -> RidgeNet:
    return RidgeNet(sigma, rng.normal(size=(m, d)), rng.uniform(-1, 1, m), rng.normal(size=m) / m)


def multiply(f: RidgeNet, g: RidgeNet) -> RidgeNet:
    """The product as a net: cos a cos b = (cos(a + b) + cos(a - b)) / 2 needs 2 m₁m₂ units, e^a e^b = e^{a+b} needs m₁m₂."""
    signs = (1, -1) if f.sigma is np.cos else (1,)
    w = np.concatenate([(f.w[:, None] + s * g.w).reshape(-1, f.w.shape[1]) for s in signs])
    b = np.concatenate([np.add.outer(f.b, s * g.b).ravel() for s in signs])
    return RidgeNet(f.sigma, w, b, np.tile(np.outer(f.c, g.c).ravel() / len(signs), len(signs)))


def random_pwl(m: int, rng: np.random.Generator) -> Pwl:
    """m pieces on the line with knots in (-3, 3); neighbouring slopes differ."""
    knots, slopes = np.sort(rng.uniform(-3, 3, m - 1)), np.cumsum(rng.uniform(0.5, 2, m) * rng.choice([-1, 1], m))
    values = rng.normal() + np.cumsum(np.append(0, slopes[1:-1] * np.diff(knots)))
    return Pwl(knots, values, float(slopes[0]), float(slopes[-1]))


def relative_distance(f: Pwl, g: Pwl) -> float:
    """sup |f - g| over sup |f| (or 1) on [-10, 10], exactly."""
    return sup_distance(f, g, -10, 10) / max(1.0, sup_distance(f, constant(0), -10, 10))


def through(g: Function, m: int, lower: float = 0.0) -> Pwl:
    """The interpolant at k/m as a function, lowered a little."""
    t = np.arange(m + 1) / m
    return Pwl(t, g(t) - lower, 0.0, 0.0)
