"""The perceptron with a record of its path, and the widest margin that it is measured against."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class PerceptronRun:
    """What the theorem speaks of, at t = 1, 2, …: w*ᵀw_t, ‖w_t‖ and the last weights."""

    along: np.ndarray
    norm: np.ndarray
    w: np.ndarray

    @property
    def t(self) -> np.ndarray:
        return np.arange(1, self.norm.size + 1)


def perceptron(z: np.ndarray, best: np.ndarray, most: int = 10**6) -> PerceptronRun:
    """Cyclic passes over the rows z_i = y_i x_i from w = 0: w <- w + z_i where wᵀz_i <= 0, at most `most` times."""
    w, i, n, path = np.zeros(z.shape[1]), 0, len(z), []
    while len(path) < most:
        wrong = np.flatnonzero(z @ w <= 0)
        if not wrong.size:
            break
        after = np.searchsorted(wrong, i)
        i = int(wrong[after % wrong.size])  # the next mistake in the order, past the end of the set if need be
        w = w + z[i]
        path.append(w)
        i = (i + 1) % n
    made = np.array(path)
    return PerceptronRun(made @ best, np.linalg.norm(made, axis=1), w)


def widest(z: np.ndarray) -> tuple[np.ndarray, float, float]:
    """The unit vector with the largest margin min_i wᵀz_i, that margin, and an upper bound on every margin: ‖Σ λ_i z_i‖, λ >= 0, Σ λ = 1.

    min ½‖w‖² subject to wᵀz_i >= 1 through its dual, which is least squares with λ >= 0 (Lawson and Hanson 1974, ch. 23).
    """
    from scipy.optimize import nnls

    weights, _ = nnls(np.vstack([z.T, np.ones(len(z))]), np.append(np.zeros(z.shape[1]), 1.0))
    nearest = weights @ z / weights.sum()
    best = nearest / np.linalg.norm(nearest)
    return best, float(np.min(z @ best)), float(np.linalg.norm(nearest))


def widest_by_slsqp(z: np.ndarray) -> float:
    """The same margin from scipy's sequential quadratic programming on the primal problem."""
    from scipy.optimize import minimize

    limits = {"type": "ineq", "fun": lambda w: z @ w - 1, "jac": lambda w: z}
    start = z.mean(axis=0) / np.min(np.abs(z @ z.mean(axis=0)))
    w = minimize(lambda w: w @ w / 2, start, jac=lambda w: w, constraints=limits, method="SLSQP", options={"ftol": 1e-14}).x
    return 1 / float(np.linalg.norm(w))


def labelled(d: int, m: float, points: int, rng: np.random.Generator, bias: float = 0.0) -> np.ndarray:
    """Rows y_i x_i of Gaussian points with y = sgn(w_0ᵀx + bias), |w_0ᵀx + bias| >= m, ‖w_0‖ = 1; with a bias rows y_i (x_i, 1)."""
    w0, kept = rng.normal(size=d), np.empty((0, d))
    w0 /= np.linalg.norm(w0)
    while len(kept) < points:
        x = rng.normal(size=(4 * points, d))
        kept = np.vstack([kept, x[np.abs(x @ w0 + bias) >= m]])
    x = kept[:points]
    return np.sign(x @ w0 + bias)[:, None] * (np.column_stack([x, np.ones(points)]) if bias else x)


def collinear(a: float) -> np.ndarray:
    """(a, ½), (a, -1), (a, 1): the second weight goes to and fro between ½ and -½ until t a² > ½, which makes 1/(2a²) + 1 updates."""
    return np.array([[a, 0.5], [a, -1.0], [a, 1.0]])
