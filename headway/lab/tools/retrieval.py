"""Retrieval from a modern Hopfield network: by its formula, the project's layer and torch's, its energy; rows are states and patterns."""

import math

import numpy as np
import torch
import torch.nn.functional as F
from numpy.random import Generator
from scipy.special import logsumexp, softmax

from headway.lab.tools.hopfield import hebb, patterns, settle
from headway.layers.attention.hopfield import Retrieval


def on_sphere(N: int, d: int, queries: int, noise: float, rng: Generator) -> tuple[np.ndarray, np.ndarray]:
    """N patterns on the sphere of radius √d, and the first of them with noise."""
    X = rng.normal(size=(N, d))
    X *= math.sqrt(d) / np.linalg.norm(X, axis=1, keepdims=True)
    return X, X[:queries] + noise * rng.normal(size=(queries, d))


def update(X: np.ndarray, xi: np.ndarray, beta: float) -> np.ndarray:
    """X softmax(β Xᵀξ)."""
    return softmax(beta * (xi @ X.T), axis=1) @ X


def one_step(X: np.ndarray, xi: np.ndarray, beta: float) -> tuple[np.ndarray, np.ndarray]:
    """|ξ⁺ - x_i| of query i, as |Σ_{j≠i} p_j (x_j - x_i)| so that nothing cancels, and 2M (N-1) exp(-β min_{j≠i} (x_i - x_j)·ξ)."""
    p, near = softmax(beta * (xi @ X.T), axis=1), X[: len(xi)]
    gap = (near * xi).sum(axis=1, keepdims=True) - xi @ X.T
    np.fill_diagonal(gap, np.inf)
    np.fill_diagonal(p, 0)
    bound = 2 * np.linalg.norm(X, axis=1).max() * (len(X) - 1) * np.exp(-beta * gap.min(axis=1))
    return np.linalg.norm(p @ X - p.sum(axis=1, keepdims=True) * near, axis=1), bound


def recalled(N: int, d: int, noise: float, rng: Generator) -> tuple[float, float]:
    """The shares of 20 noisy patterns of ±1 that a net with N of them retrieves: by signs until it rests, and by one softmax, β = 1."""
    x = patterns(N, d, rng)
    target = x[np.arange(20) % N]
    start = (target + noise * rng.normal(size=target.shape)).astype(np.float32)
    end = settle(hebb(x)[None], np.zeros(20, dtype=int), np.sign(start), rng)
    near = np.linalg.norm(retrieve(x, start, 1.0) - target, axis=1) < 1e-3
    return float(np.mean((end == target).all(axis=1))), float(near.mean())


def retrieve(
    X: np.ndarray, xi: np.ndarray, beta: float | None, updates: int = 1, V: np.ndarray | None = None
) -> np.ndarray:
    """The project's own attention `hopfield`: queries ξ, keys X and values V (X)."""
    q, k, v = (torch.from_numpy(z)[None, None] for z in (xi, X, X if V is None else V))
    return Retrieval(X.shape[1], updates, beta)(q, k, v)[0, 0].numpy()


def kernel(X: np.ndarray, xi: np.ndarray, scale: float | None = None) -> np.ndarray:
    """torch's scaled dot-product attention; without a scale it is 1/√d."""
    q, k = torch.from_numpy(xi)[None], torch.from_numpy(X)[None]
    return F.scaled_dot_product_attention(q, k, k, scale=scale)[0].numpy()


def energy(X: np.ndarray, xi: np.ndarray, beta: float) -> np.ndarray:
    """-(1/β) log Σ exp(β x_j·ξ) + |ξ|²/2 + (1/β) log N + M²/2, which is never negative."""
    constant = math.log(len(X)) / beta + (X**2).sum(axis=1).max() / 2
    return -logsumexp(beta * (xi @ X.T), axis=1) / beta + (xi**2).sum(axis=1) / 2 + constant
