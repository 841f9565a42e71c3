"""Functions of one variable to approximate, with what makes exact suprema possible: the places where they turn."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

Function = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Curve:
    """A function that is monotone between its turns: a supremum over an interval is at an end or at a turn inside."""

    name: str
    g: Function
    turns: np.ndarray

    def __call__(self, x: np.ndarray) -> np.ndarray:
        return self.g(x)


def line(rho: float) -> Curve:
    return Curve("ρx", lambda x: rho * x, np.array([]))


def bend(rho: float, at: float) -> Curve:
    return Curve("ρ|x - ½|" if at == 0.5 else f"ρ|x - {at:g}|", lambda x: rho * np.abs(x - at), np.array([at]))


def sine(rho: float) -> Curve:
    """sin ρx, whose steepest slope is ρ."""
    return Curve(f"sin {rho:g}x", lambda x: np.sin(rho * x), (np.arange(int(rho) + 1) + 0.5) * math.pi / rho)


def zigzag(rho: float, knots: int, rng: np.random.Generator) -> Curve:
    """Random slopes ρ and -ρ between equally spaced knots of [0, 1]."""
    ends = np.linspace(0, 1, knots)
    heights = np.cumsum(np.append(0, rho * rng.choice([-1, 1], knots - 1) * np.diff(ends)))
    return Curve("random, slopes ±ρ", lambda x: np.interp(x, ends, heights), ends)
