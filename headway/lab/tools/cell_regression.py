"""Least squares by constants or lines on the k^d equal cells of the unit cube, and its exact distance to the target.

On a cell with the coordinate t ∈ [-1, 1]^d the basis 1, √3 t_1 … √3 t_d is orthonormal; order m = 1 takes the constant, m = 2 all of it.
Integrals are those of Gauss and Legendre with four nodes on each axis of a cell: exact for polynomials up to degree 7.
"""

import numpy as np
from scipy.optimize import least_squares

from headway.lab.tools.curves import Function

STIFFNESS = 1e-3  # of the ridge penalty that decides cells without samples


def basis(t: np.ndarray, m: int) -> np.ndarray:
    """The basis at points "... d" of a cell: "... c" with c = 1 or 1 + d."""
    return np.concatenate([np.ones((*t.shape[:-1], 1)), np.sqrt(3) * t][:m], axis=-1)


def size(k: int, d: int, m: int) -> int:
    """P, the number of coefficients."""
    return k**d * (1 if m == 1 else 1 + d)


def nodes(k: int, d: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Places "cell node d" in the cube, the same "node d" in a cell, and their weights."""
    t, w = np.polynomial.legendre.leggauss(4)
    inner = np.stack(np.meshgrid(*[t] * d, indexing="ij"), axis=-1).reshape(-1, d)
    weights = np.prod(np.stack(np.meshgrid(*[w / 2] * d, indexing="ij"), axis=-1).reshape(-1, d), axis=-1)
    corners = np.stack(np.meshgrid(*[np.arange(k)] * d, indexing="ij"), axis=-1).reshape(-1, 1, d)
    return (corners + (inner + 1) / 2) / k, inner, weights


def approximation_error(f: Function, k: int, d: int, m: int) -> float:
    """The least mean square of f - g over the cube."""
    x, t, w = nodes(k, d)
    values, B = f(x), basis(t, m)
    return float(np.mean((values - (values * w) @ B @ B.T) ** 2 @ w))


def regression_error(f: Function, k: int, m: int, x: np.ndarray, y: np.ndarray) -> float:
    """The mean square of f - g over the cube, for g fitted to the samples y at the rows of x."""
    d = x.shape[1]
    cell = np.minimum((x * k).astype(int), k - 1)
    row, B = np.ravel_multi_index(tuple(cell.T), (k,) * d), basis(2 * (x * k - cell) - 1, m)
    gram, right = np.zeros((k**d, B.shape[1], B.shape[1])), np.zeros((k**d, B.shape[1]))
    np.add.at(gram, row, B[:, :, None] * B[:, None, :])
    np.add.at(right, row, B * y[:, None])
    found = np.linalg.solve(gram + STIFFNESS * np.eye(B.shape[1]), right[..., None])[..., 0]
    places, t, w = nodes(k, d)
    return float(np.mean((f(places) - found @ basis(t, m).T) ** 2 @ w))


def two_powers(P: np.ndarray, N: np.ndarray, loss: np.ndarray, known: np.ndarray, floor: float) -> tuple[np.ndarray, float]:
    """a P^{-α} + b N^{-β} + e fitted to the logarithms of the known entries of a loss "P N", from e = floor: all its values, and e."""

    def value(q: np.ndarray) -> np.ndarray:
        return np.exp(q[0]) * P[:, None] ** -np.exp(q[1]) + np.exp(q[2]) * N ** -np.exp(q[3]) + np.exp(q[4])

    misfit = lambda q: np.log(value(q) / loss)[known]  # noqa: E731
    found = least_squares(misfit, [0, 0, 0, -0.5, np.log(floor)], method="lm").x
    return value(found), float(np.exp(found[4]))
