"""Staircases: one hidden layer of threshold units."""

from dataclasses import dataclass

import numpy as np

from headway.lab.tools.curves import Function, Turning


@dataclass(frozen=True)
class Staircase:
    """f(x) = Σ a_i 1{x >= b_i} on [0, 1], b_0 = 0."""

    a: np.ndarray
    b: np.ndarray

    def __call__(self, x: np.ndarray) -> np.ndarray:
        return (x[:, None] >= self.b) @ self.a

    def sup_error(self, curve: Turning) -> float:
        """sup |f - g|, exact: every step is compared at both of its ends and at the turns of g inside."""
        edges, levels = np.append(self.b, 1.0), np.cumsum(self.a)
        turns = curve.turns[(curve.turns > 0) & (curve.turns < 1)]
        x = np.concatenate([edges[:-1], edges[1:], turns])
        level = np.concatenate([levels, levels, levels[np.searchsorted(self.b, turns, side="right") - 1]])
        return float(np.max(np.abs(curve(x) - level)))


def staircase(curve: Function, m: int, where: float = 0.0) -> Staircase:
    """m equal steps with the value of g at the left end (`where` 0) or in the middle (0.5) of each."""
    levels = curve((np.arange(m) + where) / m)
    return Staircase(np.diff(levels, prepend=0.0), np.arange(m) / m)


def random_staircase(curve: Function, m: int, rng: np.random.Generator) -> Staircase:
    """m steps of random lengths, each with the value in its middle, moved a little."""
    edges = np.concatenate([[0.0], np.sort(rng.random(m - 1)), [1.0]])
    levels = curve((edges[:-1] + edges[1:]) / 2) + rng.normal(0, 0.01, m)
    return Staircase(np.diff(levels, prepend=0.0), edges[:-1])


def units_for(slope: float, errors: np.ndarray) -> np.ndarray:
    """⌈slope / error⌉ units for each error; what is whole up to rounding is not rounded up."""
    return np.ceil(slope / errors - 1e-9).astype(int)
