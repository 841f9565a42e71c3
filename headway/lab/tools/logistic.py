"""The loss of a logistic model with its derivatives, gradient descent on it, and separable sets with a known margin."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.random import Generator
from scipy.special import expit, log_expit

from headway.lab.tools.programs import Margin


def loss(X: np.ndarray, y: np.ndarray, w: np.ndarray) -> float:
    """(1/s) Σ -log σ((2y_i - 1) w·x_i); the columns of X are the samples."""
    return float(-np.mean(log_expit((2 * y - 1) * (w @ X))))


def gradient(X: np.ndarray, y: np.ndarray, w: np.ndarray) -> np.ndarray:
    """(1/s) Σ (σ(w·x_i) - y_i) x_i."""
    return X @ (expit(w @ X) - y) / y.size


def hessian(X: np.ndarray, w: np.ndarray) -> np.ndarray:
    """(1/s) Σ σ(1-σ) x_i x_iᵀ."""
    p = expit(w @ X)
    return X * (p * (1 - p)) @ X.T / X.shape[1]


def descend(z: np.ndarray, marks: np.ndarray) -> np.ndarray:
    """Gradient descent from 0 with step 1/L on several sets "set, point, 2" of rows (2y - 1) x at once; w after the steps in `marks`."""
    rate = 4 / np.linalg.norm(z, 2, axis=(1, 2)) ** 2  # 1/(Ls), with L = λ_max(ZᵀZ) / 4s
    push, w, kept, wanted = z.swapaxes(1, 2) * rate[:, None, None], np.zeros((len(z), 2, 1)), [], set(marks.tolist())
    for t in range(1, int(marks[-1]) + 1):
        w += push @ expit(-z @ w)
        if t in wanted:
            kept.append(w[:, :, 0].copy())
    return np.array(kept)


def offsets(z: np.ndarray, best: Sequence[Margin]) -> np.ndarray:
    """w̃ of w_t = ŵ log t + w̃ + o(1) for sets of `plane`: (η/s) exp(-w̃·z_i) = α_i at the two support vectors, their first rows."""
    alpha = np.array([b.share[:2] / b.size**2 for b in best])
    rate = 4 / np.linalg.norm(z, 2, axis=(1, 2)) ** 2  # η/s
    return np.linalg.solve(z[:, :2], -np.log(alpha / rate[:, None])[:, :, None])[:, :, 0]


def plane(points: int, gamma: float, rng: Generator) -> np.ndarray:
    """Rows (2y - 1) x with margin γ along a random direction: two support vectors, one on each side, all others at 2 γ or more."""
    turn = rng.uniform(0, 2 * math.pi)
    across = np.append(rng.uniform([2, -1.2], [4, -0.6]), rng.normal(0, 3, points - 2))
    along = np.append([1, 1], rng.uniform(2, 5, points - 2))
    frame = [[math.cos(turn), math.sin(turn)], [-math.sin(turn), math.cos(turn)]]
    return gamma * np.stack([along, across], axis=1) @ frame
