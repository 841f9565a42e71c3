"""Functions on [0, 1] with their derivatives, and how to draw points from the density |g'|/V."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Curve:
    """g with g(0) = 0, its derivatives, where it turns, and how to draw b ~ |g'|/V from a uniform u (with the sign of g' there)."""

    name: str
    g: Callable[[np.ndarray], np.ndarray]
    slope: Callable[[np.ndarray], np.ndarray]
    bend: Callable[[np.ndarray], np.ndarray]
    steepest_bend: float  # max |g''|
    V: float  # ∫ |g'|
    turns: np.ndarray
    draw: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]


def sine_draw(u: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """∫_0^θ |cos| = 2k + sin(θ - kπ) for θ within π/2 of kπ; θ = 6b runs over [0, 6]."""
    s = u * SINE_V
    k = np.floor((s + 1) / 2)
    return (k * math.pi + np.arcsin(np.clip(s - 2 * k, -1, 1))) / 6, 1 - 2 * (k % 2)


SINE_V = 4 + math.sin(6 - 2 * math.pi)
CURVES = (
    Curve(
        "sin 6x", lambda x: np.sin(6 * x), lambda x: 6 * np.cos(6 * x), lambda x: -36 * np.sin(6 * x), 36.0, SINE_V,
        (np.arange(2) + 0.5) * math.pi / 6, sine_draw,
    ),
    Curve(
        "x²", lambda x: x**2, lambda x: 2 * x, lambda x: np.full_like(x, 2.0), 2.0, 1.0,
        np.array([]), lambda u: (np.sqrt(u), np.ones_like(u)),
    ),
)  # fmt: skip
