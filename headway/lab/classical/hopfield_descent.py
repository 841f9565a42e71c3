"""Asynchronous updates of a Hopfield network, with a record of the energy at every step."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class HopfieldDescent:
    """What happened in asynchronous updates: H before every step and in the end, 2 x_i H_i of the flips, the flips, the last states."""

    energies: np.ndarray  # (steps + 1, runs)
    predicted: np.ndarray  # (steps, runs); 0 where nothing was flipped
    flips: np.ndarray  # (runs,)
    x: np.ndarray  # (runs, n)
    settled: np.ndarray  # (runs,)


def sgn(field: np.ndarray) -> np.ndarray:
    """+1 for field >= 0: a tie goes to +1."""
    return np.where(field >= 0, 1.0, -1.0)


def energy(x: np.ndarray, W: np.ndarray, b: np.ndarray) -> np.ndarray:
    """H = -½ xᵀWx + bᵀx for each row of x."""
    return -0.5 * np.sum((x @ W) * x, axis=1) + x @ b


def descend(x: np.ndarray, W: np.ndarray, b: np.ndarray, sweeps: int, rng: np.random.Generator) -> HopfieldDescent:
    """x_i <- sgn(H_i), H_i = Σ_j w_ij x_j - b_i, one unit at a time in a new random order in each sweep, until no run changes any more."""
    x, runs = x.copy(), np.arange(len(x))
    energies, predicted, flips, changed = [energy(x, W, b)], [], np.zeros(len(x), dtype=int), np.ones(len(x), dtype=bool)
    for _ in range(sweeps):
        before = x.copy()
        for i in rng.permuted(np.tile(np.arange(len(W)), (len(x), 1)), axis=1).T:  # each run has an order of its own
            field = np.sum(W[i] * x, axis=1) - b[i]
            old, new = x[runs, i], sgn(field)
            predicted.append(np.where(new != old, 2 * old * field, 0.0))
            flips += new != old
            x[runs, i] = new
            energies.append(energy(x, W, b))
        changed = np.any(x != before, axis=1)
        if not changed.any():
            break
    return HopfieldDescent(np.array(energies), np.array(predicted), flips, x, ~changed)


def symmetric(n: int, rng: np.random.Generator) -> np.ndarray:
    """Gaussian weights of variance 1/n with w_ij = w_ji and w_ii = 0."""
    upper = np.triu(rng.normal(0, n**-0.5, (n, n)), 1)
    return upper + upper.T
