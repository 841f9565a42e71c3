"""Random staircases: m threshold units at places drawn from |g'|/V, with weights ±V/m.

    g(x) = g(0) + ∫_0^1 1{x >= b} g'(b) db,          ĝ(x) = g(0) + (V/m) Σ_i sign g'(b_i) 1{x >= b_i},      V = ∫ |g'|
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from headway.lab.tools.curves import Curve, Function, power, sine

Draw = tuple[np.ndarray, np.ndarray]
X = (np.arange(400) + 0.5) / 400  # where squared errors are averaged


@dataclass(frozen=True)
class Smooth:
    """g with g(0) = 0, its derivatives, and how to draw b ~ |g'|/V from a uniform u (with the sign of g' there)."""

    curve: Curve
    slope: Function
    second: Function
    V: float
    inverse: Callable[[np.ndarray], Draw]

    @property
    def turns(self) -> np.ndarray:
        return self.curve.turns[(self.curve.turns > 0) & (self.curve.turns < 1)]

    def draw(self, m: int, repetitions: int, rng: np.random.Generator) -> Draw:
        """Places and jumps of m random thresholds, sorted, one row for each repetition."""
        b, sign = self.inverse(np.sort(rng.random((repetitions, m)), axis=1))
        return b, sign * self.V / m

    def sup_errors(self, b: np.ndarray, jumps: np.ndarray) -> np.ndarray:
        """sup |g - ĝ| of each repetition, exact: next to every jump, at the turns of g, and at 1."""
        after, g = np.cumsum(jumps, axis=1), self.curve(b)
        worst = np.max(np.maximum(np.abs(g - after), np.abs(g - after + jumps)), axis=1)
        for t in (*self.turns, 1.0):
            worst = np.maximum(worst, np.abs(self.curve(np.array(t)) - np.sum(jumps * (b <= t), axis=1)))
        return worst

    def variance(self) -> float:
        """m times the expected squared error, averaged over X: V F - g² with F(x) = ∫_0^x |g'|."""
        ends = np.sort(np.concatenate([[0.0], self.turns, X]))
        F = np.append(0.0, np.cumsum(np.abs(np.diff(self.curve(ends)))))[np.searchsorted(ends, X)]
        return float(np.mean(self.V * F - self.curve(X) ** 2))


def at_points(b: np.ndarray, jumps: np.ndarray) -> np.ndarray:
    """ĝ at the points X, one row for each repetition."""
    cell = np.minimum(np.ceil(b * X.size - 0.5), X.size).astype(int) + (X.size + 1) * np.arange(len(b))[:, None]
    return np.cumsum(np.bincount(cell.ravel(), jumps.ravel(), len(b) * (X.size + 1)).reshape(len(b), -1), axis=1)[:, :-1]


def _of_sine(u: np.ndarray) -> Draw:
    """∫_0^θ |cos| = 2k + sin(θ - kπ) for θ within π/2 of kπ; θ = 6b runs over [0, 6]."""
    s = u * V6
    k = np.floor((s + 1) / 2)
    return (k * math.pi + np.arcsin(np.clip(s - 2 * k, -1, 1))) / 6, 1 - 2 * (k % 2)


V6 = 4 + math.sin(6 - 2 * math.pi)
SINE = Smooth(sine(6), lambda x: 6 * np.cos(6 * x), lambda x: -36 * np.sin(6 * x), V6, _of_sine)
SQUARE = Smooth(power(2), lambda x: 2 * x, lambda x: np.full_like(x, 2.0), 1.0, lambda u: (np.sqrt(u), np.ones_like(u)))
