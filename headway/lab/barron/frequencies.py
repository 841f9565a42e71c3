"""Random points of a ball and random frequencies for the Gaussian."""

import numpy as np


def ball(points: int, d: int, rng: np.random.Generator) -> np.ndarray:
    """Uniform in the unit ball: a uniform direction times U^{1/d}."""
    x = rng.normal(size=(points, d))
    return x * (rng.random((points, 1)) ** (1 / d) / np.linalg.norm(x, axis=1, keepdims=True))


def frequencies(units: int, d: int, sigma: float, rng: np.random.Generator, degrees: int = 1) -> np.ndarray:
    """w ~ ‖w‖ |f̂(w)| / C for the Gaussian of width σ: a uniform direction, and σ‖w‖ is chi with d + 1 degrees of freedom."""
    w = rng.normal(size=(units, d))
    return w * (np.sqrt(rng.chisquare(d + degrees, (units, 1))) / (sigma * np.linalg.norm(w, axis=1, keepdims=True)))
