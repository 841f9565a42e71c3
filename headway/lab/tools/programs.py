"""Linear and quadratic programs: a separating direction, the widest margin, the best uniform fit.

Points are rows z_i = y_i x_i, so that a hyperplane through 0 with normal w is right about z_i if w·z_i > 0.
"""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import linprog, nnls


def augmented(x: np.ndarray, f: np.ndarray) -> np.ndarray:
    """z_i = y_i (x_i, 1) with y = 2f - 1 for f of 0 and 1: what a hyperplane with a bias has to be right about."""
    return (2.0 * f - 1)[:, None] * np.column_stack([x, np.ones(len(x))])


def feasible(A: np.ndarray, b: np.ndarray) -> np.ndarray | None:
    """Some v with A v >= b, or nothing where HiGHS proves that there is none."""
    found = linprog(np.zeros(A.shape[1]), -A, -b, bounds=(None, None))
    if found.status not in (0, 2):
        raise ArithmeticError(f"the linear program was not decided: {found.message}")
    return found.x if found.status == 0 else None


def hull_point(z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The point Σ λ_i z_i of the convex hull next to 0, and λ: least squares with λ >= 0 (Lawson and Hanson 1974, ch. 23)."""
    weights, _ = nnls(np.vstack([z.T, np.ones(len(z))]), np.append(np.zeros(z.shape[1]), 1.0))
    share = weights / weights.sum()
    return share @ z, share


def separable(z: np.ndarray) -> bool:
    """Whether w·z_i > 0 for all i and some w, with a certificate either way (Gordan): w, or λ >= 0 with Σ λ_i z_i = 0."""
    if not len(z):
        return True
    nearest, _ = hull_point(z)
    if np.min(z @ nearest) > 1e-12:
        return True
    if np.max(np.abs(nearest)) < 1e-12:
        return False
    return feasible(z, np.ones(len(z))) is not None


@dataclass(frozen=True)
class Margin:
    """The widest margin of separable points: max over unit vectors w of min_i w·z_i."""

    direction: np.ndarray  # the unit vector that has it
    size: float  # min_i direction·z_i
    limit: float  # ‖Σ λ_i z_i‖ with λ >= 0, Σ λ_i = 1: no margin is larger
    share: np.ndarray  # λ, which is not 0 at the support vectors only


def max_margin(z: np.ndarray) -> Margin:
    """It points to the point of the hull next to 0, which is the dual of min ½‖w‖² subject to w·z_i >= 1."""
    nearest, share = hull_point(z)
    limit = float(np.linalg.norm(nearest))
    direction = nearest / limit
    return Margin(direction, float(np.min(z @ direction)), limit, share)


def minimax(A: np.ndarray, y: np.ndarray) -> tuple[float, np.ndarray]:
    """min_v max_i |y_i - (A v)_i|, and a v that has it: min e subject to -e <= y - A v <= e."""
    one, count = np.ones((len(y), 1)), A.shape[1]
    limits = [(None, None)] * count + [(0, None)]
    found = linprog(
        np.append(np.zeros(count), 1.0), np.block([[A, -one], [-A, -one]]), np.append(y, -y), bounds=limits
    )
    if found.status:
        raise ArithmeticError(f"the linear program was not solved: {found.message}")
    return float(found.fun), found.x[:-1]
