"""The maximum of planes as a deep and narrow ReLU net."""

import numpy as np

from headway.lab.relu_net import ReluNet


def maximum(a: np.ndarray, b: np.ndarray) -> ReluNet:
    """max_k (a_k·x + b_k) on [0, 1]^d: d channels hold x, one holds u_k = relu(M_{k-1} - ℓ_k), and M_k = ℓ_k + u_k."""
    N, d = a.shape
    keep = np.hstack([np.eye(d), np.zeros((d, 1))])
    layers = [(np.vstack([np.eye(d), a[0] - a[1]]), np.append(np.zeros(d), b[0] - b[1]))]
    for k in range(2, N):
        layers.append((np.vstack([keep, np.append(a[k - 1] - a[k], 1.0)]), np.append(np.zeros(d), b[k - 1] - b[k])))
    return ReluNet((*layers, (np.append(a[-1], 1.0)[None], b[-1:])))


def lattice(d: int, points: np.ndarray) -> np.ndarray:
    """All points of the cube with these coordinates, one in each row."""
    return np.stack(np.meshgrid(*[points] * d, indexing="ij"), axis=-1).reshape(-1, d)


def tangents(d: int, m: int) -> ReluNet:
    """The maximum of the tangent planes 2c·x - ‖c‖² of ‖x‖² at the m^d middles c of a grid."""
    c = lattice(d, (np.arange(m) + 0.5) / m)
    return maximum(2 * c, -np.sum(c**2, axis=1))


def tangent_error(net: ReluNet, x: np.ndarray) -> float:
    """The largest ‖x‖² - net at points x, which is nowhere negative."""
    return float(np.max(np.sum(x**2, axis=1) - net(x)[:, 0]))
