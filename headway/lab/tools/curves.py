"""Functions of one variable to approximate, with what makes exact suprema possible: where they turn and where they have a given slope."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from headway.lab.pwl1d import Pwl

Function = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True, eq=False)
class Turning:
    """A function that is monotone between its turns: a supremum over an interval is at an end or at a turn inside."""

    name: str
    g: Function
    turns: np.ndarray

    def __call__(self, x: np.ndarray) -> np.ndarray:
        return self.g(x)


@dataclass(frozen=True, eq=False)
class Curve(Turning):
    """One whose modulus of continuity and slopes are known, too.

    modulus   ω(h), the largest |g(x) - g(y)| for |x - y| <= h in [0, 1]
    touches   the points where g' is a given slope, and those where it does not exist
    """

    modulus: Function
    touches: Function

    def sup_error(self, f: Pwl, lo: float = 0.0, hi: float = 1.0) -> float:
        """sup |g - f|, exact: g - f is extreme at an end, at a knot of f, or where g' is the slope of a piece."""
        x = np.concatenate([[lo, hi], f.knots, np.ravel(self.touches(f.slopes))])
        x = x[(x >= lo) & (x <= hi)]
        return float(np.max(np.abs(self.g(x) - f(x))))


def line(rho: float) -> Curve:
    return Curve("ρx", lambda x: rho * x, np.array([]), lambda h: rho * h, lambda s: np.array([]))


def bend(rho: float, at: float) -> Curve:
    name = f"{'' if rho == 1 else 'ρ'}|x - {'½' if at == 0.5 else f'{at:.3g}'}|"
    kink = np.array([at])
    return Curve(name, lambda x: rho * np.abs(x - at), kink, lambda h: rho * h, lambda s: kink)


def sine(rho: float) -> Curve:
    """sin ρx, whose steepest slope is ρ."""
    turns = (np.arange(int(rho) + 1) + 0.5) * math.pi / rho
    full = 2 * math.pi * np.arange(int(rho) + 1)[:, None]  # whole periods

    def touches(s: np.ndarray) -> np.ndarray:
        angle = np.arccos(np.clip(s / rho, -1, 1))
        return np.concatenate([full + angle, full - angle]) / rho

    name = "sin 2πx" if rho == 2 * math.pi else f"sin {rho:g}x"
    return Curve(name, lambda x: np.sin(rho * x), turns, lambda h: 2 * np.sin(np.minimum(rho * h / 2, math.pi / 2)), touches)


def zigzag(rho: float, knots: int, rng: np.random.Generator) -> Curve:
    """Random slopes ρ and -ρ between equally spaced knots of [0, 1]."""
    ends = np.linspace(0, 1, knots)
    heights = np.cumsum(np.append(0, rho * rng.choice([-1, 1], knots - 1) * np.diff(ends)))
    return Curve("random, slopes ±ρ", lambda x: np.interp(x, ends, heights), ends, lambda h: rho * h, lambda s: ends)


def root() -> Curve:
    """√x: continuous, but not Lipschitz at 0."""

    def touches(s: np.ndarray) -> np.ndarray:
        return np.append(0.0, 1 / (4 * s[s > 0] ** 2))

    return Curve("√x", lambda x: np.sqrt(np.maximum(x, 0)), np.array([]), np.sqrt, touches)


def power(k: int) -> Curve:
    """x^k for k >= 2; the modulus is that on [0, 1]."""

    def touches(s: np.ndarray) -> np.ndarray:
        x = (np.abs(s) / k) ** (1 / (k - 1))
        return np.concatenate([x, -x])

    def modulus(h: np.ndarray) -> np.ndarray:
        return 1 - (1 - np.minimum(h, 1.0)) ** k

    return Curve("x²" if k == 2 else f"x^{k}", lambda x: x**k, np.zeros(1), modulus, touches)


def cantor() -> Curve:
    """Cantor's function from 40 ternary digits: a digit 1 ends the number, a digit 2 counts as the binary digit 1.

    It rises from 0 to 1 with slope 0 almost everywhere; where the slope does not exist is uncountable, so `sup_error` is not for it.
    """

    def g(x: np.ndarray) -> np.ndarray:
        x, value, weight = np.clip(x, 0, 1), np.zeros(np.shape(x)), np.full(np.shape(x), 0.5)
        for _ in range(40):
            digit = np.minimum(np.floor(3 * x), 2)
            value, x = value + weight * (digit > 0), 3 * x - digit
            weight = np.where(digit == 1, 0.0, weight / 2)
        return value

    def touches(s: np.ndarray) -> np.ndarray:
        raise ValueError("Cantor's function has no exact supremum here")

    return Curve("Cantor's function", g, np.array([]), lambda h: h ** (math.log(2) / math.log(3)), touches)


def step(at: float) -> Curve:
    """1{x >= at}: what no continuous function comes closer to than ½. As a turn it has both sides of its jump."""
    both = np.array([np.nextafter(at, -1), at])
    return Curve("a step", lambda x: (x >= at).astype(float), both, np.ones_like, lambda s: both)
