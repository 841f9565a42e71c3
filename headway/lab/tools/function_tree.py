"""A binary tree of functions of two variables, exact and with interpolants in their place.

Furniture of `poggio-tree` and `effective-dimension`.
"""

from dataclasses import dataclass

import numpy as np

from headway.lab.tools.freudenthal import Function, interpolant_net, interpolate, tabulate
from headway.lab.relu_net import ReluNet, affine, compose, side_by_side


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
KINK = Constituent(lambda x: np.abs(x[:, 0] + 2 * x[:, 1] - 1.3) / 1.7, 3 / 1.7, np.inf)


def kind(level: int, place: int) -> Constituent:
    """The constituents alternate along and across the levels, so that the tree is not similar to itself."""
    return KINDS[(level + place) % 3]


def tree(x: np.ndarray) -> list[np.ndarray]:
    """The exact values (p, nodes) of the levels, the leaves first."""
    values = [x]
    while values[-1].shape[1] > 1:
        v, level = values[-1], len(values) - 1
        values.append(np.stack([kind(level, i).h(v[:, 2 * i : 2 * i + 2]) for i in range(v.shape[1] // 2)], axis=1))
    return values


def root(x: np.ndarray) -> np.ndarray:
    return tree(x)[-1][:, 0]


def tree_tables(n: int, K: int) -> list[list[np.ndarray]]:
    """What the approximation stores: for each level, a table of each node."""
    return [[tabulate(kind(level, i).h, K) for i in range(n >> (level + 1))] for level in range(n.bit_length() - 1)]


def approximate(tables: list[list[np.ndarray]], x: np.ndarray) -> list[np.ndarray]:
    """The levels with interpolants in place of the constituents; they are means of values in [0, 1], so clipping changes nothing."""
    values = [x]
    for level in tables:
        v = values[-1]
        pairs = [np.clip(interpolate(table, v[:, 2 * i : 2 * i + 2]), 0, 1) for i, table in enumerate(level)]
        values.append(np.stack(pairs, axis=1))
    return values


def tree_net(tables: list[list[np.ndarray]], n: int) -> ReluNet:
    """The same as one ReLU net."""
    net = affine(np.eye(n), np.zeros(n))
    for level in tables:
        eye = np.eye(2 * len(level))
        parts = [compose(interpolant_net(t), affine(eye[2 * i : 2 * i + 2], np.zeros(2))) for i, t in enumerate(level)]
        net = compose(side_by_side(*parts), net)
    return net
