"""Interpolation on grids: linear on the triangles of the square, as a ReLU net and lazily, and multilinear on cubes.

    φ(x) = σ(min(1 + x_1 - x_2, 1 + x_2 - x_1, 1 + x_1, 1 + x_2, 1 - x_1, 1 - x_2)),     I_K h(x) = Σ_{i,j <= K} h(i/K, j/K) φ(Kx - (i, j))

The triangles are those of Freudenthal, with the diagonal from (i, j) to (i + 1, j + 1).
"""

from collections.abc import Callable
from itertools import product

import numpy as np

from headway.lab.relu_net import ReluNet, affine, compose, side_by_side

Function = Callable[[np.ndarray], np.ndarray]  # from (p, n) to (p,)


def least(k: int) -> ReluNet:
    """x -> min(x_1, …, x_k): halves the number with min(a, b) = a - σ(a - b), and a = σ(a) - σ(-a)."""
    net = affine(np.eye(k), np.zeros(k))
    while net.outputs > 1:
        rows = np.eye(net.outputs)
        first, second, rest = rows[0::2][: len(rows) // 2], rows[1::2], rows[len(rows) - len(rows) % 2 :]
        pairs, pass_on = len(second), np.vstack([rest, -rest])
        out = np.zeros((pairs + len(rest), 3 * pairs + 2 * len(rest)))
        for i in range(pairs):
            out[i, [i, pairs + i, 2 * pairs + i]] = 1, -1, -1
        for i in range(len(rest)):
            out[pairs + i, [3 * pairs + i, 3 * pairs + len(rest) + i]] = 1, -1
        units = np.vstack([first, -first, first - second, pass_on])
        net = compose(ReluNet(((units, np.zeros(len(units))), (out, np.zeros(len(out))))), net)
    return net


def nodal() -> ReluNet:
    """φ, of depth 5: the tent over the six triangles around a node."""
    sides = affine([[1, -1], [-1, 1], [1, 0], [0, 1], [-1, 0], [0, -1]], np.ones(6))
    return compose(ReluNet((([[1.0]], [0.0]), ([[1.0]], [0.0]))), compose(least(6), sides))


def interpolant_net(table: np.ndarray) -> ReluNet:
    """I_K h as a net: one φ for each node, and the (K + 1)² values of h as output weights."""
    K, phi = len(table) - 1, nodal()
    nodes = list(product(range(K + 1), repeat=2))
    hats = side_by_side(*[compose(phi, affine(K * np.eye(2), [-float(i), -float(j)])) for i, j in nodes])
    return compose(affine([[table[node] for node in nodes]], [0.0]), hats)


def tabulate(h: Function, K: int) -> np.ndarray:
    """The (K + 1)² values that an interpolant stores."""
    nodes = np.stack(np.meshgrid(*[np.arange(K + 1) / K] * 2, indexing="ij"), axis=-1)
    return h(nodes.reshape(-1, 2)).reshape(K + 1, K + 1)


def interpolate(table: np.ndarray, x: np.ndarray) -> np.ndarray:
    """The same at points (p, 2) of the square, from the three corners of the triangle that x lies in."""
    K = len(table) - 1
    cell = np.clip(np.floor(K * x), 0, K - 1).astype(int)
    s, t = (K * x - cell).T
    i, j = cell.T
    low, high, right = table[i, j], table[i + 1, j + 1], s >= t
    side = table[i + right, j + ~right]
    return low + np.maximum(s, t) * (side - low) + np.minimum(s, t) * (high - side)


def multilinear(f: Function, k: int, x: np.ndarray) -> np.ndarray:
    """Interpolation of f on the cubes of a grid with (k + 1)^n nodes; only the 2^n corners around x are looked up."""
    cell = np.clip(np.floor(k * x), 0, k - 1)
    t, total = k * x - cell, np.zeros(len(x))
    for corner in product((0, 1), repeat=x.shape[1]):
        total += np.prod(np.where(np.array(corner) == 1, t, 1 - t), axis=1) * f((cell + corner) / k)
    return total
