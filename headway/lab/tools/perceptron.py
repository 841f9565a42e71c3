"""The perceptron with a record of its path: w <- w + z where w·z <= 0, from w = 0, over rows z_i = y_i x_i."""

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from headway.lab.tools.programs import separable

XOR = np.array([[0, 0, 1], [1, 1, 1], [0, -1, -1], [-1, 0, -1]])  # rows y (x₁, x₂, 1), labels of notes C
State = tuple[float, ...]


def labelled(d: int, m: float, points: int, rng: Generator, bias: float = 0.0) -> np.ndarray:
    """Rows y_i x_i of Gaussian points with y = sgn(w_0ᵀx + bias), |w_0ᵀx + bias| >= m, ‖w_0‖ = 1; with a bias rows y_i (x_i, 1)."""
    w0, kept = rng.normal(size=d), np.empty((0, d))
    w0 /= np.linalg.norm(w0)
    while len(kept) < points:
        x = rng.normal(size=(4 * points, d))
        kept = np.vstack([kept, x[np.abs(x @ w0 + bias) >= m]])
    x = kept[:points]
    return np.sign(x @ w0 + bias)[:, None] * (np.column_stack([x, np.ones(points)]) if bias else x)


def inseparable(rng: Generator) -> np.ndarray:
    """Six points with coordinates -2 … 2 and random labels that no line separates, as rows y (x, 1)."""
    while True:
        x, y = rng.integers(-2, 3, (6, 2)), rng.choice([-1, 1], 6)
        z = y[:, None] * np.column_stack([x, np.ones(6, dtype=int)])
        if not separable(z.astype(float)):
            return z


def path(z: np.ndarray, most: int = 10**6) -> np.ndarray:
    """The weights after each update of cyclic passes, until no mistake is left or `most` updates were made."""
    made: list[np.ndarray] = []
    w, i = np.zeros(z.shape[1]), 0
    while len(made) < most:
        wrong = np.flatnonzero(z @ w <= 0)
        if not wrong.size:
            break
        i = int(wrong[np.searchsorted(wrong, i) % wrong.size])  # the next mistake, past the end of the set if need be
        w = w + z[i]
        made.append(w)
        i = (i + 1) % len(z)
    return np.array(made)


@dataclass(frozen=True)
class Walk:
    """Epochs over a set that may not be separable."""

    states: list[State]  # at first and after each update
    ends: list[State]  # after each epoch
    updates: np.ndarray  # in each epoch
    pocket: np.ndarray  # the fewest mistakes of any weights so far, after each epoch

    @property
    def norms(self) -> np.ndarray:
        return np.linalg.norm(np.array(self.states, dtype=float), axis=1)

    def cycle(self) -> tuple[int, int]:
        """The first epoch whose end comes back, and the period in epochs; period 0 if none does."""
        seen: dict[State, int] = {}
        for i, w in enumerate(self.ends):
            if w in seen:
                return seen[w], i - seen[w]
            seen[w] = i
        return len(self.ends), 0


def mistakes(w: State, z: np.ndarray) -> int:
    """How many rows have w·z <= 0."""
    return int(np.sum(z @ w <= 0))


def walk(z: np.ndarray, orders: np.ndarray) -> Walk:
    """One epoch for each row of `orders`, which names rows of z; the pocket keeps the best weights (Gallant 1990)."""
    rows = [tuple(row) for row in z.tolist()]
    w: State = tuple([0] * z.shape[1])
    known = {w: mistakes(w, z)}
    states, ends, updates, pocket, best = [w], [], [], [], known[w]
    for order in orders.tolist():
        before = len(states)
        for i in order:
            if sum(a * b for a, b in zip(w, rows[i], strict=True)) <= 0:
                w = tuple([a + b for a, b in zip(w, rows[i], strict=True)])
                states.append(w)
                if w not in known:
                    known[w] = mistakes(w, z)
                best = min(best, known[w])
        ends.append(w)
        updates.append(len(states) - before)
        pocket.append(best)
    return Walk(states, ends, np.array(updates), np.array(pocket))


def reachable(z: np.ndarray, most: int) -> dict[State, int]:
    """Every state that some order of updates leads to, with its number of mistakes; the search ends beyond `most` states."""
    start: State = tuple([0] * z.shape[1])
    found, queue = {start: mistakes(start, z)}, [start]
    while queue and len(found) <= most:
        w = np.array(queue.pop())
        for row in z[z @ w <= 0]:
            there = tuple((w + row).tolist())
            if there not in found:
                found[there] = mistakes(there, z)
                queue.append(there)
    return found
