"""Fits that are linear in the labels, f̂ = S y at the places x of the labels: matrices "level n n", from smooth to rough."""

from collections.abc import Sequence

import numpy as np


def neighbours(x: np.ndarray, counts: Sequence[int]) -> np.ndarray:
    """The mean of the k nearest labels, for each k."""
    ranks = np.argsort(np.argsort(np.abs(x[:, None] - x), axis=1, kind="stable"), axis=1)  # 0 for the nearest
    return np.array([(ranks < k) / k for k in counts])


def kernels(x: np.ndarray, widths: Sequence[float]) -> np.ndarray:
    """Means weighted by a Gaussian of each width (Nadaraya and Watson)."""
    S = np.exp(-0.5 * ((x[:, None] - x) / np.array(widths)[:, None, None]) ** 2)
    return S / S.sum(axis=2, keepdims=True)


def random_features(x: np.ndarray, sizes: Sequence[int], rng: np.random.Generator) -> np.ndarray:
    """Least squares on a constant and the first m of random tanh units on [0, 1], with a slight ridge penalty."""
    turn, centre = rng.uniform(5, 20, sizes[-1]), rng.permutation(np.linspace(0, 1, sizes[-1]))
    every = np.column_stack([np.ones(len(x)), np.tanh(turn * (x[:, None] - centre))])
    return np.array([A @ np.linalg.solve(A.T @ A + 1e-3 * np.eye(m + 1), A.T) for m in sizes for A in [every[:, : m + 1]]])


def ridge_on_features(x: np.ndarray, y: np.ndarray, place: float, members: int, rng: np.random.Generator) -> np.ndarray:
    """Fits at one place, "set member", each on 20 random tanh features of its own, for data sets x, y of shape "set 1 n 1"."""
    shape = (len(x), members, 1, 20)
    w, b = 3 * rng.normal(size=shape), rng.uniform(-3, 3, shape)
    H = np.tanh(x * w + b)
    c = np.linalg.solve(H.mT @ H + 0.1 * np.eye(20), H.mT @ y)
    return (np.tanh(place * w + b) @ c)[..., 0, 0]
