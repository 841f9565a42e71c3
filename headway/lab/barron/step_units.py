"""Hidden threshold units drawn for the Gaussian exp(-‖x - c‖²/2), every coordinate of c being shift/√d."""

import math
from dataclasses import dataclass

import numpy as np

from headway.lab.barron.barron_gaussian import barron_constant
from headway.lab.barron.frequencies import frequencies


@dataclass(frozen=True)
class Units:
    """Hidden units 1{<a,x> >= t} with output weights v = 2r h'(t), h'(t) = -C sin(b + ‖w‖t); those with t <= 0 count as -1{<a,x> < t}."""

    a: np.ndarray  # directions w/‖w‖
    t: np.ndarray
    v: np.ndarray

    def __call__(self, x: np.ndarray, kappa: float | None = None) -> np.ndarray:
        """v_i s_i(x) of shape (points, units), with steps or with sigmoids of steepness κ, in single precision."""
        z = x.astype(np.float32) @ self.a.T.astype(np.float32) - self.t.astype(np.float32)
        fired = (z > 0).astype(np.float32) if kappa is None else (np.tanh(np.float32(kappa / 2) * z) + 1) / 2
        return (fired - (self.t <= 0).astype(np.float32)) * self.v.astype(np.float32)


def centre(d: int, shift: float) -> np.ndarray:
    return np.full(d, shift / math.sqrt(d))


def draw(n: int, d: int, shift: float, rng: np.random.Generator, radius: float = 1.0) -> Units:
    """w ~ ‖w‖|f̂(w)|/C and t uniform on [-r, r]."""
    w, t = frequencies(n, d, 1.0, rng), radius * rng.uniform(-1, 1, n)
    norm = np.linalg.norm(w, axis=1)
    slope_at_t = -barron_constant(d) * np.sin(norm * t - w @ centre(d, shift))
    return Units(w / norm[:, None], t, 2 * radius * slope_at_t)


def rise(x: np.ndarray, shift: float) -> np.ndarray:
    """f(x) - f(0)."""
    return np.exp(-np.sum((x - centre(x.shape[1], shift)) ** 2, axis=1) / 2) - math.exp(-(shift**2) / 2)
