"""Fourier transforms of even functions of the line: closed forms beside the trapezoid rule."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Even:
    """An even function with its transform in closed form, and the grid of the trapezoid rule."""

    f: Callable[[np.ndarray], np.ndarray]
    hat: Callable[[np.ndarray], np.ndarray]  # (2π)^{-1} ∫ f(x) cos(wx) dx
    step: float
    points: int
    tolerance: float  # of the transform: what the grid leaves out

    def integral(self) -> tuple[np.ndarray, np.ndarray]:
        """Frequencies w >= 0 and ∫ f e^{-iwx} dx there: no factor of 2π."""
        h, N = self.step, self.points
        x = (np.arange(N) - N // 2) * h
        return 2 * math.pi * np.fft.rfftfreq(N, h), h * np.fft.rfft(np.fft.ifftshift(self.f(x))).real

    def gap(self) -> float:
        w, integral = self.integral()
        return float(np.max(np.abs(integral / (2 * math.pi) - self.hat(w))))

    def there_and_back(self, x: np.ndarray) -> np.ndarray:
        """The transform and its inverse at x, both without a factor of 2π."""
        w, integral = self.integral()
        return np.array([2 * np.trapezoid(np.cos(w * t) * integral, w) for t in x])

    def barron_constant(self, radius: float) -> float:
        """C(R) = ∫_{|w|<R} |w| f̂(w) dw, with w = e^u - 1 so that a trapezoid rule serves every scale."""
        u = np.linspace(0, math.log1p(radius), 20001)
        w = np.expm1(u)
        return float(2 * np.trapezoid(w * self.hat(w) * (w + 1), u))


def by_halves(x: np.ndarray) -> tuple[np.ndarray, int]:
    """The discrete transform of 2^k values (Cooley and Tukey 1965), and how many complex multiplications it took."""
    if len(x) == 1:
        return x, 0
    (even, a), (odd, b) = by_halves(x[::2]), by_halves(x[1::2])
    odd = odd * np.exp(-2j * np.pi * np.arange(len(odd)) / len(x))
    return np.concatenate([even + odd, even - odd]), a + b + len(odd)
