"""Staircases: one hidden layer of threshold units, or of sigmoids in their place."""

import math
from dataclasses import dataclass

import numpy as np

from headway.lab.certified import certified_sup
from headway.lab.tools.curves import Function, Turning
from headway.lab.tools.nets import RidgeNet, sigmoid


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


@dataclass(frozen=True)
class SoftStaircase:
    """A staircase with units φ(κ(x - b_i)) for its steps; the first, a constant on [0, 1], is the output's bias."""

    stairs: Staircase
    kappa: float
    phi: Function = sigmoid

    @property
    def net(self) -> RidgeNet:
        b = self.stairs.b[1:]
        return RidgeNet(self.phi, np.full((b.size, 1), self.kappa), -self.kappa * b, self.stairs.a[1:])

    def __call__(self, x: np.ndarray) -> np.ndarray:
        return self.stairs.a[0] + self.net(x[:, None])

    def sup_error(self, g: Turning, rho: float) -> float:
        """Certified. κσ' is a bump of height κ/4 and area 1, Δ apart: the slope is at most max |a_i| (κ/4 + 1/Δ)."""
        lip = rho + float(np.max(np.abs(self.stairs.a[1:]))) * (self.kappa / 4 + self.stairs.b.size)
        return certified_sup(lambda x: g(x) - self(x), lip, 0.0, 1.0, 0.01).high

    def bound(self, g: Turning) -> float:
        """ε_step + max |a_i| + Σ |a_i| σ(-κΔ/2): the staircase, the nearest step, and the tails of all others."""
        jumps, tail = np.abs(self.stairs.a[1:]), 1 / (1 + math.exp(self.kappa / self.stairs.b.size / 2))
        return self.stairs.sup_error(g) + float(jumps.max() + jumps.sum() * tail)
