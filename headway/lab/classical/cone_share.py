"""The weights that classify some points correctly: a cone, met by random directions or measured exactly."""

import math

import numpy as np


def sphere(count: int, n: int, rng: np.random.Generator) -> np.ndarray:
    w = rng.normal(size=(count, n))
    return w / np.linalg.norm(w, axis=1, keepdims=True)


def consistent(w: np.ndarray, z: np.ndarray) -> np.ndarray:
    """Which of the directions have wᵀz > 0 for every row z = y x: those in V(S)."""
    return np.all(z @ w.T > 0, axis=0)


def program(z: np.ndarray) -> np.ndarray | None:
    """A direction with zᵀw >= 1 for all rows from a linear program (HiGHS), or nothing where it is infeasible."""
    from scipy.optimize import linprog

    solved = linprog(np.zeros(z.shape[1]), -z, -np.ones(len(z)), bounds=(None, None))
    return solved.x / np.linalg.norm(solved.x) if solved.status == 0 else None


def cone_share(z: np.ndarray, inside: np.ndarray) -> float:
    """The exact share of the circle (n = 2) or sphere (n = 3) that V(S) takes, from one direction inside it.

    n = 2: (π - the largest angle between two rows) / 2π. n = 3: V(S) is a spherical polygon, its angles are π minus those between
    neighbouring rows of the convex cone, so by Girard its area is 2π - (the perimeter of the cone of the rows): a share (2π - p) / 4π.
    """
    from scipy.spatial import ConvexHull

    u = z / np.linalg.norm(z, axis=1, keepdims=True)
    if z.shape[1] == 2:
        return (math.pi - float(np.max(np.arccos(np.clip(u @ u.T, -1, 1))))) / (2 * math.pi)
    around = np.arange(len(u))
    if len(u) >= 3:
        flat = (u / (u @ inside)[:, None]) @ np.linalg.svd(inside[None])[2][1:].T  # the cone cut by a plane
        around = ConvexHull(flat).vertices  # in order around it
    corners = u[around]
    perimeter = float(np.sum(np.arccos(np.clip(np.sum(corners * np.roll(corners, 1, axis=0), axis=1), -1, 1))))
    return (2 * math.pi - perimeter) / (4 * math.pi)
