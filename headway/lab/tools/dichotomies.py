"""Hyperplanes through 0: how many ways of splitting points they have, and which weights split them as wanted."""

import math
from math import comb

import numpy as np
from scipy.spatial import ConvexHull

from headway.lab.tools.bits import cube
from headway.lab.tools.programs import separable


def cover(s: int, n: int) -> int:
    """C(s, n) = 2 Σ_{i<n} binomial(s - 1, i): the splits of s points in general position in n dimensions (Cover 1965)."""
    return 2 * sum(comb(s - 1, i) for i in range(n))


def recursion(s: int, n: int) -> np.ndarray:
    """C(1 … s, 1 … n) from C(1, n) = C(s, 1) = 2 and C(s+1, n) = C(s, n) + C(s, n-1), in whole numbers."""
    table = np.full((s, n), 2, dtype=object)
    for k in range(1, s):
        table[k, 1:] = table[k - 1, 1:] + table[k - 1, :-1]
    return table


def dichotomies(x: np.ndarray) -> int:
    """The labellings of the rows of x that a hyperplane through 0 realises, counted one by one (y and -y together)."""
    rest = 1 - 2 * cube(len(x) - 1)
    return 2 * sum(separable(np.append(1, y)[:, None] * x) for y in rest)


def sphere(count: int, n: int, rng: np.random.Generator) -> np.ndarray:
    """Random directions, uniform on the unit sphere."""
    w = rng.normal(size=(count, n))
    return w / np.linalg.norm(w, axis=1, keepdims=True)


def consistent(w: np.ndarray, z: np.ndarray) -> np.ndarray:
    """Which of the directions have w·z_i > 0 for every row z_i = y_i x_i: those in V(S)."""
    return np.all(z @ w.T > 0, axis=0)


def cone_share(z: np.ndarray, inside: np.ndarray) -> float:
    """The exact share of the circle (n = 2) or sphere (n = 3) that V(S) takes, from one direction inside it.

    n = 2: (π - the largest angle between two rows) / 2π. n = 3: V(S) is a spherical polygon whose angles are π minus those between
    neighbouring rows of the convex cone, so by Girard its area is 2π - p with the perimeter p of the cone of the rows.
    """
    u = z / np.linalg.norm(z, axis=1, keepdims=True)
    if z.shape[1] == 2:
        return (math.pi - float(np.max(np.arccos(np.clip(u @ u.T, -1, 1))))) / (2 * math.pi)
    if len(u) >= 3:
        flat = (u / (u @ inside)[:, None]) @ np.linalg.svd(inside[None])[2][1:].T  # the cone cut by a plane
        u = u[ConvexHull(flat).vertices]  # in order around it
    perimeter = float(np.sum(np.arccos(np.clip(np.sum(u * np.roll(u, 1, axis=0), axis=1), -1, 1))))
    return (2 * math.pi - perimeter) / (4 * math.pi)
