"""Many linear units (w, b), one in each row, each with one point x: scores, margins and nearest points of their hyperplanes."""

import numpy as np


def score(w: np.ndarray, b: np.ndarray, x: np.ndarray) -> np.ndarray:
    """wᵀx + b."""
    return np.sum(w * x, axis=1) + b


def margin(w: np.ndarray, b: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """γ = y (wᵀx + b) / ‖w‖."""
    return y * score(w, b, x) / np.linalg.norm(w, axis=1)


def projected(w: np.ndarray, b: np.ndarray, x: np.ndarray) -> np.ndarray:
    """The points nearest to x with wᵀp + b = 0, without the formula: least squares over x_0 + N t, N a basis orthogonal to w."""
    _, _, rows = np.linalg.svd(w[:, None, :])  # the rows after the first are orthogonal to w
    start = -b[:, None] * np.linalg.pinv(w[:, None, :])[:, :, 0]  # one solution of wᵀx = -b
    t = rows[:, 1:] @ (x - start)[:, :, None]
    return start + (rows[:, 1:].transpose(0, 2, 1) @ t)[:, :, 0]
