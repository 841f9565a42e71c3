"""Nets that are constant on boxes, up to ramps: f(x) = Σ_i α_i relu(Σ_j q_j(x_j) - (d-1)) with trapezoids q_j of four ReLUs.

Written out (`separate`), with a first layer that boxes share (`shared`), and evaluated from the few boxes near a point (`evaluate`).
`Integral` is the average error of such a net for the target of `boxes.py`.
"""

from itertools import product

import numpy as np

from headway.lab.pwl1d import Pwl, l1_distance, pwl1d
from headway.lab.relu_net import ReluNet
from headway.lab.tools.boxes import TERMS, middles, uniform, value
from headway.lab.tools.curves import Function

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


def quadrature(net: ReluNet, g: Function) -> float:
    """∫_0^1 |net - g|: Gauss-Legendre on 8 parts of every piece of the net."""
    knots = pwl1d(net).knots
    ends = np.unique(np.concatenate([[0.0, 1.0], knots[(knots > 0) & (knots < 1)]]))
    ends = np.append((ends[:-1, None] + np.diff(ends)[:, None] * np.arange(8) / 8).ravel(), 1.0)
    t, w = np.polynomial.legendre.leggauss(8)
    x = ends[:-1, None] + np.diff(ends)[:, None] * (t + 1) / 2
    return float(np.sum(np.abs(net.at(x) - g(x)) @ w * np.diff(ends) / 2))


def spikes(n: int) -> float:
    """L1 error over ε = 1 for g = 10 at the middle of each interval, 9 outside a spike of width h/10, α = 10: exact."""
    t = (np.arange(n) + 0.5) / n
    g = Pwl((t[:, None] + np.array([-0.05, 0, 0.05]) / n).ravel(), np.tile([9.0, 10.0, 9.0], n), 0.0, 0.0)
    return l1_distance(pwl1d(shared(np.full(n, 10.0), n, 1, 0.05 / n)), g)


def vertex_error(n: int, d: int, gamma: float) -> float:
    """The largest |f - g| at inner corners of boxes, where 2^d boxes add up: a lower bound of the supremum."""
    x = uniform(d, 1 / n).lo
    x = x[np.all(x > 0, axis=1)]
    return float(np.max(np.abs(evaluate(middles(n, d), n, gamma, x) - value(TERMS[:d], x))))


class Integral:
    """Means of |f - g| over [0, 1]^d and their standard errors: quadrature for d = 1, else 8 independent scrambles of Sobol points."""

    def __init__(self, d: int, log_points: int, rng: np.random.Generator) -> None:
        from scipy.stats import qmc

        self.d = d
        self.points = [qmc.Sobol(d, seed=rng).random_base2(log_points) for _ in range(8)] if d > 1 else []
        self.exact = [value(TERMS[:d], x) for x in self.points]

    def __call__(self, n: int, gamma: float) -> tuple[float, float]:
        alpha = middles(n, self.d)
        if self.d == 1:
            return quadrature(shared(alpha, n, 1, gamma), TERMS[0].g), 0.0
        means = [np.mean(np.abs(evaluate(alpha, n, gamma, x) - g)) for x, g in zip(self.points, self.exact, strict=True)]
        return float(np.mean(means)), float(np.std(means, ddof=1)) / np.sqrt(len(means))
