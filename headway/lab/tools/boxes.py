"""Partitions of the cube into boxes, and functions whose extremes on a box are exact because they are sums over the axes."""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np


class Term(NamedTuple):
    """One summand of g(x) = Σ_j g_j(x_j), the places where it turns, and its Lipschitz constant."""

    g: Callable[[np.ndarray], np.ndarray]
    turns: tuple[float, ...]
    rho: float


TERMS = (
    Term(lambda x: np.sin(3 * x), (np.pi / 6,), 3.0),
    Term(lambda x: np.cos(4 * x), (np.pi / 4,), 4.0),
    Term(lambda x: 2 * np.abs(x - 0.3), (0.3,), 2.0),
)
LINEAR = tuple(Term(partial(np.multiply, t.rho), (), t.rho) for t in TERMS)


class Boxes(NamedTuple):
    """h = Σ_i α_i 1{lo_i <= x < hi_i}: a partition of [0, 1]^d with a value for each box."""

    lo: np.ndarray
    hi: np.ndarray
    alpha: np.ndarray = np.empty(0)

    def member(self, x: np.ndarray) -> np.ndarray:
        """Which point is in which box, as a matrix of booleans; times α it is h."""
        return np.all((x[:, None] >= self.lo) & (x[:, None] < self.hi), axis=2)


def value(terms: tuple[Term, ...], x: np.ndarray) -> np.ndarray:
    return sum((t.g(x[..., j]) for j, t in enumerate(terms)), np.zeros(x.shape[:-1]))


def extremes(terms: tuple[Term, ...], boxes: Boxes) -> tuple[np.ndarray, np.ndarray]:
    """min and max of g on each box, exactly: g is a sum over the axes and each summand is extreme at an end or a turn."""
    low, high = np.zeros(len(boxes.lo)), np.zeros(len(boxes.lo))
    for j, t in enumerate(terms):
        at = np.stack([boxes.lo[:, j], boxes.hi[:, j], *(np.clip(u, boxes.lo[:, j], boxes.hi[:, j]) for u in t.turns)])
        low, high = low + t.g(at).min(axis=0), high + t.g(at).max(axis=0)
    return low, high


def sup_error(terms: tuple[Term, ...], boxes: Boxes) -> float:
    low, high = extremes(terms, boxes)
    return float(np.max(np.maximum(high - boxes.alpha, boxes.alpha - low)))


def worst_and_best(terms: tuple[Term, ...], boxes: Boxes) -> tuple[float, float]:
    """sup |g - h| where each α_i is g at the worst point of its box, and where it is the mid-range."""
    low, high = extremes(terms, boxes)
    return sup_error(terms, boxes._replace(alpha=high)), sup_error(terms, boxes._replace(alpha=(low + high) / 2))


def uniform(d: int, delta: float) -> Boxes:
    n = int(np.ceil(1 / delta - 1e-9))
    corner = np.stack([a.ravel() for a in np.meshgrid(*[np.arange(n)] * d, indexing="ij")], axis=1)
    return Boxes(corner / n, (corner + 1) / n)


def random_tree(d: int, delta: float, rng: np.random.Generator) -> Boxes:
    """A k-d tree: boxes are cut across their longest side, at a random place, until every side is at most δ."""
    done, todo = [], [(np.zeros(d), np.ones(d))]
    while todo:
        lo, hi = todo.pop()
        j = int(np.argmax(hi - lo))
        if hi[j] - lo[j] <= delta:
            done.append((lo, hi))
            continue
        left, right = hi.copy(), lo.copy()
        left[j] = right[j] = lo[j] + (hi[j] - lo[j]) * rng.uniform(0.3, 0.7)
        todo += [(lo, left), (right, hi)]
    return Boxes(*(np.array(side) for side in zip(*done, strict=True)))


def middles(n: int, d: int) -> np.ndarray:
    """g at the middles of n^d equal boxes."""
    lo, hi, _ = uniform(d, 1 / n)
    return value(TERMS[:d], (lo + hi) / 2)
