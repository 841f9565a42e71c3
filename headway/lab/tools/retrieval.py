"""Retrieval from a modern Hopfield network by the project's layer and by torch's, and its energy; rows are states and patterns."""

import math

import numpy as np
import torch
import torch.nn.functional as F
from scipy.special import logsumexp

from headway.layers.attention.hopfield import Retrieval


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
