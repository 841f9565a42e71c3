"""Nets that are constant on boxes, up to ramps: f(x) = Σ_i α_i relu(Σ_j q_j(x_j) - (d-1)) with trapezoids q_j of four ReLUs.

Written out (`separate`), with a first layer that boxes share (`shared`), and evaluated from the few boxes near a point (`evaluate`).
"""

from itertools import product

import numpy as np

from headway.lab.approximation.boxes import uniform
from headway.lab.relu_net import ReluNet

SIGNS = np.array([1.0, -1.0, -1.0, 1.0])  # of the four ReLUs of q, which bend at a - γ, a, b and b + γ


def separate(alpha: np.ndarray, n: int, d: int, gamma: float) -> ReluNet:
    """The net as written: each box has its own 4d + 1 units."""
    lo, hi, _ = uniform(d, 1 / n)
    bend = np.stack([lo - gamma, lo, hi, hi + gamma], axis=-1)  # box, axis, four ReLUs
    first, second = np.tile(np.repeat(np.eye(d), 4, axis=0), (len(lo), 1)) / gamma, np.kron(np.eye(len(lo)), np.tile(SIGNS, d))
    return ReluNet(((first, -bend.ravel() / gamma), (second, np.full(len(lo), 1.0 - d)), (alpha[None], [0.0])))


def shared(alpha: np.ndarray, n: int, d: int, gamma: float) -> ReluNet:
    """The same function with N + 4dn units: boxes that share an interval of an axis share its four ReLUs."""
    lo, t = uniform(d, 1 / n).lo, np.arange(n) / n
    bend = np.stack([t - gamma, t, t + 1 / n, t + 1 / n + gamma], axis=-1)
    second = np.zeros((len(lo), d, n, 4))
    second[np.arange(len(lo))[:, None], np.arange(d), np.rint(lo * n).astype(int)] = SIGNS
    first = (np.repeat(np.eye(d), 4 * n, axis=0) / gamma, -np.tile(bend.ravel(), d) / gamma)
    return ReluNet((first, (second.reshape(len(lo), -1), np.full(len(lo), 1.0 - d)), (alpha[None], [0.0])))


def evaluate(alpha: np.ndarray, n: int, gamma: float, x: np.ndarray) -> np.ndarray:
    """The same function from the at most 2^d boxes that are not zero at a point: its own and those behind near faces (γ <= h/2)."""
    d, padded = x.shape[1], np.pad(alpha.reshape((n,) * x.shape[1]), 1)
    own = np.minimum((x * n).astype(int), n - 1)
    below, above = x - own / n, (own + 1) / n - x
    step, q = np.where(below < above, -1, 1), np.maximum(0, 1 - np.minimum(below, above) / gamma)
    total = np.zeros(len(x))
    for chosen in product((0, 1), repeat=d):
        c = np.array(chosen)
        unit = np.maximum(0, 1 - np.sum(c * (1 - q), axis=1))
        total += padded[tuple((own + 1 + c * step).T)] * unit
    return total
