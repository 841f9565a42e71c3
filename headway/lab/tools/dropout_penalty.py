"""What dropout adds to the loss of logistic regression: exactly, over all masks, and to second order (Wager, Wang and Liang 2013).

a_ij is x_ij w_j, the part of input j in the score of row i; p is the probability that an input is kept, b the bias.
"""

import numpy as np
from scipy.special import expit

from headway.lab.tools.bits import cube


def exact(a: np.ndarray, p: float, b: float = 0.0) -> float:
    """Σ_i E A(b + Σ_j m_j a_ij / p) - A(b + Σ_j a_ij) over all masks m, with A(z) = log(1 + e^z)."""
    masks = cube(a.shape[1]).T
    chance = np.prod(np.where(masks == 1, p, 1 - p), axis=0)
    return float((np.logaddexp(0, b + a @ (masks / p)) @ chance - np.logaddexp(0, b + a.sum(1))).sum())


def second(a: np.ndarray, p: float, b: float = 0.0) -> float:
    """½ (1-p)/p Σ_i σ(1 - σ) Σ_j a_ij²"""
    z = b + a.sum(1)
    return float((1 - p) / p * (expit(z) * expit(-z)) @ (a**2).sum(1) / 2)


def off(a: np.ndarray, p: float) -> float:
    """The relative error of the second order."""
    return abs(second(a, p) / exact(a, p) - 1)
