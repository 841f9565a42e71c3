"""Samples of manifolds whose dimension is known: n independent points as rows."""

import math
from collections.abc import Callable

import numpy as np
from numpy.random import Generator

Sampler = Callable[[int, Generator], np.ndarray]


def sphere(dimension: int) -> Sampler:
    """Uniform on S^d in d + 1 dimensions."""

    def draw(n: int, rng: Generator) -> np.ndarray:
        x = rng.standard_normal((n, dimension + 1))
        return x / np.linalg.norm(x, axis=1, keepdims=True)

    return draw


def swiss_roll(n: int, rng: Generator) -> np.ndarray:
    """A rectangle, rolled up: 2 dimensions in 3."""
    t = 1.5 * math.pi * (1 + 2 * rng.random(n))
    return np.column_stack([t * np.cos(t), 21 * rng.random(n), t * np.sin(t)])


def moebius(n: int, rng: Generator) -> np.ndarray:
    """A strip with ten half twists: 2 dimensions in 3."""
    u, v = 2 * math.pi * rng.random(n), rng.uniform(-0.5, 0.5, n)
    radius = 1 + v * np.cos(5 * u)
    return np.column_stack([radius * np.cos(u), radius * np.sin(u), v * np.sin(5 * u)])


def sinusoid(waves: int, height: float) -> Sampler:
    """A circle that moves up and down so often: 1 dimension in 3."""

    def draw(n: int, rng: Generator) -> np.ndarray:
        t = 2 * math.pi * rng.random(n)
        return np.column_stack([np.cos(t), np.sin(t), height * np.sin(waves * t)])

    return draw


def cube(dimension: int) -> Sampler:
    """Uniform in [0, 1]^d."""
    return lambda n, rng: rng.random((n, dimension))


def into(x: np.ndarray, dimensions: int, rng: Generator) -> np.ndarray:
    """The same points in a larger space, turned at random: all distances stay."""
    frame, _ = np.linalg.qr(rng.standard_normal((dimensions, x.shape[1])))
    return x @ frame.T


def hidden(latent: np.ndarray, features: np.ndarray, f: Callable[[np.ndarray], np.ndarray] = np.tanh) -> np.ndarray:
    """X = f(C F/√d), rows of C (p, d) are latent points. Goldt et al. 2020, https://arxiv.org/abs/1909.11500."""
    return f(latent @ features / math.sqrt(latent.shape[1]))


def features(dimension: int, n: int, rng: Generator) -> np.ndarray:
    """F (d, n) with columns of length √d: the entries of CF/√d have variance 1 for standard normal C."""
    drawn = rng.standard_normal((dimension, n))
    return drawn * math.sqrt(dimension) / np.linalg.norm(drawn, axis=0)


def tanh_moments(rho: np.ndarray) -> tuple[float, float, np.ndarray]:
    """E u tanh u, E tanh² u, and E tanh u tanh v for standard normal u, v with correlation ρ, by quadrature."""
    u, weights = np.polynomial.hermite_e.hermegauss(60)
    weights, f = weights / weights.sum(), np.tanh(u)
    v = rho[..., None, None] * u[:, None] + np.sqrt(1 - rho[..., None, None] ** 2) * u
    return float(weights @ (u * f)), float(weights @ f**2), np.tanh(v) @ weights @ (weights * f)


def stroke(parameters: np.ndarray) -> np.ndarray:
    """Pictures of 28 x 28 pixels of an ellipse drawn with a soft pen; rows are (height, slant, width, centre)."""
    height, slant, width, centre = parameters.T[..., None, None]
    y, x = np.mgrid[-1:1:28j, -1:1:28j]
    x = x - 0.5 * (centre - 0.5) - 0.7 * (slant - 0.5) * y
    away = np.hypot(x / (0.35 + 0.3 * width), y / (0.5 + 0.3 * height)) - 1
    return np.exp(-((away / 0.3) ** 2)).reshape(len(parameters), -1)
