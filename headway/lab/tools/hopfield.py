"""Networks of units ±1 with symmetric weights: Hebb's rule, energy, and updates of one unit at a time; sgn 0 = +1.

H(x) = -½ xᵀWx + bᵀx,     H_i = Σ_j w_ij x_j - b_i,     x_i <- sgn(H_i)
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from scipy.special import erf

STARTS = 20  # patterns of each net that `overlaps` starts from


def patterns(s: int, n: int, rng: Generator) -> np.ndarray:
    """Random signs. Everything made of them is a whole number below 2^24, which 32-bit floats hold exactly at half the cost."""
    return (2 * rng.integers(0, 2, (s, n), dtype=np.int8) - 1).astype(np.float32)


def biased(s: int, n: int, rng: Generator) -> np.ndarray:
    """Patterns with +1 at 70 % of the bits."""
    return np.where(rng.random((s, n)) < 0.7, 1, -1).astype(np.float32)


def pictures(side: int = 12) -> np.ndarray:
    """A ring, a cross and stripes of pixels ±1, one picture in each row."""
    row, column = np.indices((side, side)) - (side - 1) / 2
    radius = np.hypot(row, column)
    ring, cross = (radius > 2.5) & (radius < 5), (np.abs(np.abs(row) - np.abs(column)) < 1.5) & (radius < 7.5)
    return np.where(np.stack([ring, cross, (column + row) % 6 < 3]).reshape(3, -1), 1.0, -1.0)


def limit() -> tuple[np.ndarray, np.ndarray]:
    """α and m of y (√(2α) + (2/√π) exp(-y²)) = erf y = m, n -> ∞, from the largest α down (Amit et al. 1985)."""
    y = np.linspace(0.5, 6, 10_001)
    alpha = 0.5 * (erf(y) / y - 2 / np.sqrt(np.pi) * np.exp(-y * y)) ** 2
    return alpha[np.argmax(alpha) :], erf(y[np.argmax(alpha) :])


def hebb(x: np.ndarray) -> np.ndarray:
    """n W = Σ_t x_t x_tᵀ with a zero diagonal; the rows of x are the patterns."""
    w = x.T @ x
    np.fill_diagonal(w, 0)
    return w


def symmetric(n: int, rng: Generator) -> np.ndarray:
    """Gaussian weights of variance 1/n with w_ij = w_ji and w_ii = 0."""
    upper = np.triu(rng.normal(0, n**-0.5, (n, n)), 1)
    return upper + upper.T


def sgn(field: np.ndarray) -> np.ndarray:
    return np.where(field >= 0, 1.0, -1.0)


def energy(x: np.ndarray, W: np.ndarray, b: np.ndarray) -> np.ndarray:
    """H of each row of x."""
    return -0.5 * np.sum((x @ W) * x, axis=1) + x @ b


@dataclass(frozen=True)
class Descent:
    """What happened in asynchronous updates of several runs."""

    energies: np.ndarray  # (steps + 1, runs): recomputed before every step and in the end
    predicted: np.ndarray  # (steps, runs): 2 x_i H_i of a flip, 0 where nothing was flipped
    x: np.ndarray  # (runs, n): the last states
    settled: np.ndarray  # (runs,): whether the last sweep changed nothing

    @property
    def flips(self) -> np.ndarray:
        return np.sum(self.predicted != 0, axis=0)


def descend(x: np.ndarray, W: np.ndarray, b: np.ndarray, sweeps: int, rng: Generator) -> Descent:
    """One unit at a time, in a new random order in each sweep and run, until no run changes any more."""
    x, runs, changed = x.copy(), np.arange(len(x)), np.ones(len(x), dtype=bool)
    energies, predicted = [energy(x, W, b)], []
    for _ in range(sweeps):
        before = x.copy()
        for i in rng.permuted(np.tile(np.arange(len(W)), (len(x), 1)), axis=1).T:  # each run has an order of its own
            field = np.sum(W[i] * x, axis=1) - b[i]
            old, new = x[runs, i], sgn(field)
            predicted.append(np.where(new != old, 2 * old * field, 0.0))
            x[runs, i] = new
            energies.append(energy(x, W, b))
        changed = np.any(x != before, axis=1)
        if not changed.any():
            break
    return Descent(np.array(energies), np.array(predicted), x, ~changed)


def settle(w: np.ndarray, owner: np.ndarray, x: np.ndarray, rng: Generator) -> np.ndarray:
    """The states in which many runs of many nets end, without a record; net w[owner[r]] belongs to row r of x, b = 0.

    A turned unit changes the fields by a row of W; a run that a whole sweep leaves alone is at a fixed point and is set aside.
    """
    x, field = x.copy(), np.empty_like(x)
    for k in range(len(w)):
        field[owner == k] = x[owner == k] @ w[k]
    active = np.arange(len(x))
    while active.size:
        state, h, mine, moved = x[active], field[active], owner[active], np.zeros(active.size, dtype=bool)
        for i in rng.permutation(x.shape[1]):
            flip = np.flatnonzero((h[:, i] < 0) != (state[:, i] < 0))
            if flip.size:
                state[flip, i] *= -1
                h[flip] += 2 * state[flip, i, None] * w[mine[flip], i]
                moved[flip] = True
        x[active], field[active] = state, h
        active = active[moved]
    return x


def overlaps(n: int, ratios: Sequence[float] | np.ndarray, nets: int, rng: Generator) -> np.ndarray:
    """m = (1/n) x·x_final of runs that start at a pattern, averaged over the starts: "net, ratio s/n"."""
    found, group = [], max(1, 1600 // n)  # so many nets at once
    for first in range(0, nets, group):
        sets = [patterns(round(a * n), n, rng) for _ in range(min(group, nets - first)) for a in ratios]
        start = np.concatenate([x[np.arange(STARTS) % len(x)] for x in sets])
        end = settle(np.stack([hebb(x) for x in sets]), np.repeat(np.arange(len(sets)), STARTS), start, rng)
        found.append((start * end).mean(axis=1, dtype=float).reshape(-1, len(ratios), STARTS).mean(axis=2))
    return np.concatenate(found)


def stable_shares(s: int, n: int, nets: int, rng: Generator) -> np.ndarray:
    """The shares of bits with x = sgn(field), of 40 stored and 40 random states of each net: with w_ii = s/n, then with w_ii = 0."""
    found = []
    for _ in range(nets):
        x, other = patterns(s, n, rng), patterns(40, n, rng)
        w, x = hebb(x), x[:40]
        found.append([np.mean((z @ w + d * z < 0) == (z < 0)) for d in (s, 0) for z in (x, other)])
    return np.mean(found, axis=0)


def recall(n: int, nets: int, noise: Sequence[float], rng: Generator) -> np.ndarray:
    """Final overlap with the pattern in nets with s = n/10: "w_ii = 0 or s/n, share of flipped bits, pattern"."""
    s = n // 10
    x = [patterns(s, n, rng) for _ in range(nets)]
    starts = [np.where(rng.random(z.shape) < p, -z, z) for z in x for p in noise]
    w = [hebb(z) for z in x]
    w += [m + s * np.eye(n, dtype=np.float32) for m in w]  # the same patterns and starts for both
    owner = np.repeat(np.arange(2 * nets), len(noise) * s)
    end = settle(np.stack(w), owner, np.concatenate(starts + starts), rng).reshape(2, nets, len(noise), s, n)
    return (end * np.stack(x)[:, None]).mean(axis=-1).swapaxes(1, 2).reshape(2, len(noise), nets * s)
