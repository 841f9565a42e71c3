"""Least squares in a space of features, fixed or chosen: how much of a target is left."""

import math

import numpy as np

from headway.lab.tools.curves import Function


def cosines(x: np.ndarray, count: int, spread: float, rng: np.random.Generator) -> np.ndarray:
    """cos(<w_j, x> + b_j), w_j ~ N(0, spread² I), b_j uniform; single precision, for errors not below 1e-6."""
    w, b = rng.normal(0, spread, (count, x.shape[1])), rng.uniform(0, 2 * math.pi, count)
    return np.cos((x @ w.T + b).astype(np.float32))


def unit_columns(phi: Function, x: np.ndarray, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """φ(<a_j, x> + b_j) at the rows of x, every column of length 1."""
    columns = phi(x @ a.T + b)
    return columns / np.maximum(np.linalg.norm(columns, axis=0), 1e-12)


def rank(columns: np.ndarray) -> int:
    """Singular values above 1e-9 of the largest."""
    return int(np.linalg.matrix_rank(columns, tol=1e-9 * np.linalg.norm(columns, 2)))


def residual(columns: np.ndarray, y: np.ndarray, rcond: float | None = None) -> float:
    """Mean square of what least squares leaves of y."""
    return float(np.mean((y - columns @ np.linalg.lstsq(columns, y, rcond=rcond)[0]) ** 2))


def residuals(columns: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The same after projection on the first 1, 2, ... columns."""
    q, _ = np.linalg.qr(columns.astype(float))
    return np.maximum(y @ y - np.cumsum((q.T @ y) ** 2), 0) / y.size


def matching_pursuit(columns: np.ndarray, y: np.ndarray, steps: int) -> np.ndarray:
    """The same for columns chosen one by one: that which correlates most with the residual, then a new projection (orthogonal)."""
    size = np.linalg.norm(columns, axis=0)
    basis, rest, errors = np.zeros((steps, y.size)), y.astype(float), []
    for i in range(steps):
        v = columns[:, int(np.argmax(np.abs(rest.astype(columns.dtype) @ columns) / size))].astype(float)
        for _ in range(2):  # twice, so that rounding does not matter
            v = v - (basis[:i] @ v) @ basis[:i]
        basis[i] = v / max(float(np.linalg.norm(v)), 1e-12)
        rest = rest - (basis[i] @ rest) * basis[i]
        errors.append(rest @ rest / y.size)
    return np.array(errors)


def learnt_cosine(target: np.ndarray, x: np.ndarray, rng: np.random.Generator, starts: int = 20) -> float:
    """Mean square of cos<target, x> that one unit a cos(<w, x> + b) leaves, learnt by least squares from random starts.

    On the whole cube the error has many minima. It is learnt near 0 first, where the target has few waves, then on larger cubes.
    """
    from scipy.optimize import least_squares

    near, best = x[: 40 * x.shape[1]], math.inf
    for _ in range(starts):
        p = np.concatenate([rng.normal(size=x.shape[1]), [0.0, 1.0]])
        for side in (0.1, 0.3, 1.0):
            z, y = side * near, np.cos(side * near @ target)
            p = least_squares(lambda p, z=z, y=y: p[-1] * np.cos(z @ p[:-2] + p[-2]) - y, p, method="lm").x
        best = min(best, float(np.mean((p[-1] * np.cos(x @ p[:-2] + p[-2]) - np.cos(x @ target)) ** 2)))
        if best < 1e-20:
            break
    return best


def no_space_is_better(d: int, m: int) -> float:
    """A lower bound of the worst error of any space of dimension m for functions on [0, 1]^d with Barron constant 1.

        max_N a_N (1 - m/N)^½         of N cosines that are orthogonal on the cube, the k-th of size a_k = 1/‖πk‖

    The squared lengths of the projections of N orthonormal functions add to at most m, so one of them keeps 1 - m/N of its square.
    """
    side = math.ceil((8 * m) ** (1 / d) * 1.7) + 1
    length = np.sort(np.sqrt(sum(np.meshgrid(*[np.arange(side) ** 2] * d, indexing="ij"))).ravel())
    length = length[(length > 0) & (length < side)]  # complete up to this radius
    N = np.arange(1, length.size + 1)
    return float(np.max(np.sqrt(np.maximum(1 - m / N, 0)) / (math.pi * length)))


def worst_cosine(m: int, spread: float, rng: np.random.Generator) -> float:
    """The same worst error for d = 2, of the span of m random cosines and the targets cos πk_1x cos πk_2y / ‖πk‖ with k_1, k_2 < 12.

    On a grid of 24² points, where these targets are orthogonal (the discrete cosine transform).
    """
    t, k = (np.arange(24) + 0.5) / 24, np.arange(12)
    waves = np.cos(math.pi * np.outer(k, t))
    family = np.kron(waves, waves)[1:]
    e = family / np.linalg.norm(family, axis=1, keepdims=True)
    x = np.stack(np.meshgrid(t, t, indexing="ij"), axis=-1).reshape(-1, 2)
    q, _ = np.linalg.qr(cosines(x, m, spread, rng).astype(float))
    left = np.sqrt(np.maximum(1 - np.sum((e @ q) ** 2, axis=1), 0))
    return float(np.max(left / (math.pi * np.hypot(*np.meshgrid(k, k)).ravel()[1:])))


def tanh_power(k: int, h: float, x: np.ndarray, b: float = 0.6) -> np.ndarray:
    """x^k, k <= 3, from k + 1 tanh units: the k-th central difference of tanh(b + ax) in a at 0, over h^k tanh^{(k)}(b)."""
    y = math.tanh(b)
    derivative = (1 - y**2) * (1.0, -2 * y, 6 * y**2 - 2)[k - 1]
    units = sum((-1) ** j * math.comb(k, j) * np.tanh(b + (k / 2 - j) * h * x) for j in range(k + 1))
    return units / (h**k * derivative)


def tanh_power_bound(h: np.ndarray, b: float = 0.6) -> np.ndarray:
    """How far that is from x² on [-1, 1]: max |tanh''''| h² / (12 |tanh''(b)|), where 8y(1 - y²)(2 - 3y²) is at most 4.0859."""
    y = math.tanh(b)
    return 4.0859 * h**2 / (24 * y * (1 - y**2))


def gaussian_draws(x: np.ndarray, units: np.ndarray, draws: int, rng: np.random.Generator) -> tuple[np.ndarray, float]:
    """Squared errors, averaged over points x, of means of so many cosines for e^{-‖x‖²/2}, (units, draws); and what `units` times them are.

    cos<w, x> with w ~ N(0, I) has the mean e^{-‖x‖²/2} and the variance (1 + e^{-2‖x‖²})/2 - e^{-‖x‖²}.
    """
    square, d = np.sum(x**2, axis=1), x.shape[1]
    means = [np.cos(rng.normal(size=(draws, m, d)) @ x.T).mean(axis=1) for m in units]
    errors = [np.mean((mean - np.exp(-square / 2)) ** 2, axis=1) for mean in means]
    return np.array(errors), float(np.mean((1 + np.exp(-2 * square)) / 2 - np.exp(-square)))


def wave(d: int, norm: float, points: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Points x of the cube, a random w* of that norm, and cos<w*, x>."""
    x, w = rng.uniform(-1, 1, (points, d)), rng.normal(size=d)
    w *= norm / np.linalg.norm(w)
    return x, w, np.cos(x @ w)
