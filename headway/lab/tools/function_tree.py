"""A binary tree of functions of two variables, exact and with interpolants in their place."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from headway.lab.tools.freudenthal import Function, interpolate, multilinear, tabulate


@dataclass(frozen=True)
class Constituent:
    """h: [0, 1]² -> [0, 1] with its Lipschitz constant λ (max norm) and H >= |h_aa| + 2|h_ab| + |h_bb|: interpolation errs by H/(8K²)."""

    h: Function
    lipschitz: float
    second: float


KINDS = (
    Constituent(lambda x: 0.5 + 0.5 * np.sin(x[:, 0] + 2 * x[:, 1]), 1.5, 4.5),
    Constituent(lambda x: x[:, 0] * x[:, 1], 2.0, 2.0),
    Constituent(lambda x: (x[:, 0] ** 2 + x[:, 1]) / 2, 1.5, 1.0),
)
FOLDED = Constituent(lambda x: np.abs(x[:, 0] + 2 * x[:, 1] - 1.3) / 1.7, 3 / 1.7, np.inf)  # has one derivative
Node = Callable[[int, int, np.ndarray], np.ndarray]  # level, place and values (p, 2) of the two nodes below -> (p,)


def kind(level: int, place: int) -> Constituent:
    """The constituents alternate along and across the levels, so that the tree is not similar to itself."""
    return KINDS[(level + place) % 3]


def climb(x: np.ndarray, node: Node) -> list[np.ndarray]:
    """The values (p, nodes) of the levels, the leaves first."""
    values = [x]
    while (v := values[-1]).shape[1] > 1:
        pairs = range(v.shape[1] // 2)
        values.append(np.stack([node(len(values) - 1, i, v[:, 2 * i : 2 * i + 2]) for i in pairs], axis=1))
    return values


def tree(x: np.ndarray) -> list[np.ndarray]:
    """The exact values of the levels."""
    return climb(x, lambda level, i, v: kind(level, i).h(v))


def root(x: np.ndarray) -> np.ndarray:
    return tree(x)[-1][:, 0]


def tree_errors(n: int, K: int, x: np.ndarray) -> tuple[int, np.ndarray, float]:
    """Parameters, the errors at the root at points x (p, n), and the largest share that a node takes of ε' + λ max(errors below)."""
    tables = [[tabulate(kind(j, i).h, K) for i in range(n >> (j + 1))] for j in range(n.bit_length() - 1)]
    found = climb(x, lambda level, i, v: np.clip(interpolate(tables[level][i], v), 0, 1))  # clipped for rounding
    gaps, shares = [np.abs(a - b) for a, b in zip(found, tree(x), strict=True)], []
    for level, (below, here) in enumerate(pairwise(gaps)):
        for i in range(here.shape[1]):
            h, worst = kind(level, i), below[:, 2 * i : 2 * i + 2].max(axis=1)
            shares.append(float(np.max(here[:, i] / (h.second / (8 * K * K) + h.lipschitz * worst))))
    return sum(table.size for level in tables for table in level), gaps[-1][:, 0], max(shares)


def ternary(x: np.ndarray, K: int = 0) -> np.ndarray:
    """h(h(x_1, x_2, x_3), h(x_4, x_5, x_6), h(x_7, x_8, x_9)), exact or with h interpolated on a grid of (K + 1)³ nodes."""

    def h(v: np.ndarray) -> np.ndarray:
        return 0.5 + 0.5 * np.sin(v @ [1, 2, -1])

    def node(v: np.ndarray) -> np.ndarray:
        return multilinear(h, K, v) if K else h(v)

    return node(np.stack([node(x[:, 3 * i : 3 * i + 3]) for i in range(3)], axis=1))
