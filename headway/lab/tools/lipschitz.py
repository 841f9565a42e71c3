"""Lipschitz functions of several variables in the max norm, and how well values at the centres of cells approximate them."""

import math
from itertools import product

import numpy as np

# Cells for each side, by dimension: five grids of at most about 50 000 cells.
SIDES = {
    1: (8, 32, 128, 512, 2048), 2: (4, 9, 20, 45, 100), 3: (3, 5, 9, 15, 26), 4: (3, 4, 6, 8, 11), 5: (2, 3, 4, 5, 7), 6: (2, 3, 4, 5, 6),
}  # fmt: skip


def ring(d: int, rng: np.random.Generator) -> tuple[np.ndarray, float, float]:
    """A random one of the functions of `cell_error`: its centre c, its frequency ω, and where its sine starts."""
    return rng.random(d), rng.uniform(2, 5), rng.uniform(0.1, 0.4)


def cell_error(c: np.ndarray, omega: float, start: float, n: int, steep: float = 1.0) -> float:
    """sup |g - g(centre)| over all n^d cells, for g(x) = (steep/ω) sin(ω(r - start)), r = |x - c|_∞: 1-Lipschitz for `steep` 1.

    Exact: on a cell r fills an interval, and the sine is extreme at its ends or where it turns.
    """
    edges, middle = np.arange(n + 1) / n, (np.arange(n) + 0.5) / n
    near = np.maximum(np.maximum(edges[:-1] - c[:, None], c[:, None] - edges[1:]), 0)  # along each axis, to each interval
    far = np.maximum(np.abs(edges[:-1] - c[:, None]), np.abs(edges[1:] - c[:, None]))
    lo, at, hi = (_largest(part) for part in (near, np.abs(middle - c[:, None]), far))

    def g(r: np.ndarray) -> np.ndarray:
        return np.sin(omega * (r - start)) * steep / omega

    worst = np.maximum(np.abs(g(lo) - g(at)), np.abs(g(hi) - g(at)))
    for turn in start + (np.arange(-3, 4) + 0.5) * math.pi / omega:
        worst = np.maximum(worst, np.where((lo < turn) & (turn < hi), np.abs(g(turn) - g(at)), 0))
    return float(worst.max())


def _largest(parts: np.ndarray) -> np.ndarray:
    """max_j parts[j, i_j] for every cell (i_1 … i_d)."""
    found = parts[0]
    for row in parts[1:]:
        found = np.maximum.outer(found, row)
    return found.ravel()


def tents(signs: np.ndarray, centres: np.ndarray, h: float, x: np.ndarray) -> np.ndarray:
    """Σ_i s_i (h/2 - |x - c_i|_∞)_+ for each row of signs: 1-Lipschitz, ±h/2 at the centres of the cells."""
    return np.maximum(h / 2 - np.max(np.abs(x[:, None] - centres), axis=2), 0) @ np.atleast_2d(signs).T


def centres(n: int, d: int) -> np.ndarray:
    """The middles of n^d equal cells of [0, 1]^d."""
    return np.array(list(product((np.arange(n) + 0.5) / n, repeat=d)))
