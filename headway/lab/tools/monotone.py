"""Functions that are monotone in every variable, and their best approximation by constants on cells: errors are exact suprema."""

from collections.abc import Callable

import numpy as np

Function = Callable[[np.ndarray], np.ndarray]  # from (..., d) to (...), monotone in every variable
KINDS: tuple[Function, ...] = (
    lambda x: x[..., 0] * x[..., 1],
    lambda x: (x[..., 0] ** 2 + x[..., 1]) / 2,
    lambda x: np.sin(x[..., 0] / 2 + x[..., 1]),
    lambda x: x.max(axis=-1),
)
SIDES = {1: (8, 16, 32, 64, 128, 256), 2: (8, 16, 32, 64, 128), 3: (6, 12, 24, 48), 4: (6, 9, 13, 18), 5: (6, 8, 10, 12)}  # cells, by d


def random_monotone(d: int, rng: np.random.Generator) -> Function:
    """A sum of eight rising sigmoids of random positive directions."""
    w, b = rng.exponential(size=(d, 8)), rng.uniform(-3, 0, 8)
    return lambda x: np.tanh(x @ w + b).mean(axis=-1)


def constants(g: Function, d: int, side: int) -> float:
    """sup |g - s| for the best s that is constant on side^d cells: half of what g rises from a cell's lowest to its highest corner."""
    low = np.stack(np.meshgrid(*[np.arange(side) / side] * d, indexing="ij"), axis=-1)
    return float(np.max(g(low + 1 / side) - g(low)) / 2)


def tree_of_constants(n: int, K: int, kinds: tuple[Function, ...] = KINDS) -> float:
    """sup |f - f̃| for a binary tree of n leaves whose constituents are constant on K² cells, exactly.

    f̃ of a node depends only on the cells that the values f̃ of its children lie in. Given those, f of the children lies anywhere
    between a lowest and a highest value, independently, because they share no variable; a monotone h takes its extremes there.
    """
    level = [(np.arange(K) / K, (np.arange(K) + 1.0) / K)] * n  # of each node, by the cell of f̃: lowest and highest f
    middles, depth = np.stack(np.meshgrid(*[(np.arange(K) + 0.5) / K] * 2, indexing="ij"), axis=-1), 0
    while True:
        made = []
        for place, (left, right) in enumerate(zip(level[0::2], level[1::2], strict=True)):
            h = kinds[(depth + place) % len(kinds)]
            value = h(middles)
            low, high = (h(np.stack(np.meshgrid(a, b, indexing="ij"), axis=-1)) for a, b in zip(left, right, strict=True))
            if n == 2 ** (depth + 1):
                return float(np.nanmax(np.maximum(value - low, high - value)))
            cell, ends = np.clip(K * value, 0, K - 1).astype(int), (np.full(K, np.inf), np.full(K, -np.inf))
            seen = np.isfinite(low)
            np.minimum.at(ends[0], cell[seen], low[seen])
            np.maximum.at(ends[1], cell[seen], high[seen])
            ends[0][np.isinf(ends[0])] = ends[1][np.isinf(ends[1])] = np.nan  # a cell that is never met
            made.append(ends)
        level, depth = made, depth + 1


def step(x: np.ndarray) -> np.ndarray:
    return (x[..., 0] > 0.5**0.5).astype(float)


def square_root(x: np.ndarray) -> np.ndarray:
    return np.sqrt((x[..., 0] + x[..., 1]) / 2)
