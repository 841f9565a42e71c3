"""The Gaussian exp(-‖x - c‖²/2σ²) as the target of Barron's theorem, and two kinds of random units for it.

    C = E‖W‖ = √2 Γ((d+1)/2) / (Γ(d/2) σ),  W ~ N(0, σ^{-2} I)            b_w = -<w,c>
    cosines   (C / ‖w‖) (cos(b_w + <w,x>) - cos b_w)                        w ~ p(w) = ‖w‖ |f̂(w)| / C
    steps     2r h'(t) s(x),   h'(t) = -C sin(b_w + ‖w‖t)                   and t uniform on [-r, r]

Barron 1993, https://doi.org/10.1109/18.256500. The mean of a unit is f(x) - f(0); every net here is f(0) plus the mean
of its units.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

Draw = Callable[[np.ndarray, int, np.random.Generator], np.ndarray]  # points (n, d), units -> values (n, units)


def gauss(x: float | np.ndarray, sigma: float = 1.0) -> np.ndarray:
    """exp(-x²/2σ²)."""
    return np.exp(-np.square(x / sigma) / 2)


def barron_constant(d: int, sigma: float = 1.0) -> float:
    """C = ∫ ‖w‖ |f̂(w)| dw of exp(-‖x‖²/2σ²)."""
    return math.sqrt(2) * math.exp(math.lgamma((d + 1) / 2) - math.lgamma(d / 2)) / sigma


def ball(points: int, d: int, rng: np.random.Generator) -> np.ndarray:
    """Uniform in the unit ball: a uniform direction times U^{1/d}."""
    x = rng.normal(size=(points, d))
    return x * (rng.random((points, 1)) ** (1 / d) / np.linalg.norm(x, axis=1, keepdims=True))


@dataclass(frozen=True)
class Gaussian:
    """exp(-‖x - c‖²/2σ²) in d dimensions; every coordinate of c is shift/√d, so that ‖c‖ = shift."""

    d: int
    sigma: float = 1.0
    shift: float = 0.0

    @property
    def C(self) -> float:
        return barron_constant(self.d, self.sigma)

    @property
    def centre(self) -> np.ndarray:
        return np.full(self.d, self.shift / math.sqrt(self.d))

    def __call__(self, x: np.ndarray) -> np.ndarray:
        return np.exp(-np.sum((x - self.centre) ** 2, axis=-1) / (2 * self.sigma**2))

    def rise(self, x: np.ndarray) -> np.ndarray:
        """f(x) - f(0)."""
        return self(x) - self(np.zeros(self.d))

    def frequencies(self, units: int, rng: np.random.Generator, degrees: int = 1) -> np.ndarray:
        """w ~ ‖w‖ |f̂(w)| / C: a uniform direction, and σ‖w‖ is chi of d + 1 degrees of freedom (d + 0: w ~ |f̂|)."""
        w = rng.normal(size=(units, self.d))
        length = np.sqrt(rng.chisquare(self.d + degrees, (units, 1))) / self.sigma
        return w * (length / np.linalg.norm(w, axis=1, keepdims=True))

    def cosines(self, x: np.ndarray, w: np.ndarray) -> np.ndarray:
        """Cosine units, of shape (points, units) and of the type of x: in single precision they cost a tenth."""
        w, b = w.astype(x.dtype), -(w @ self.centre)
        return (np.cos(x @ w.T + b.astype(x.dtype)) - np.cos(b).astype(x.dtype)) * (self.C / np.linalg.norm(w, axis=1))


@dataclass(frozen=True)
class Steps:
    """Threshold units v 1{<a,x> >= t}, and -v 1{<a,x> < t} for t <= 0, so that every unit is 0 at x = 0."""

    a: np.ndarray  # directions w/‖w‖
    t: np.ndarray
    v: np.ndarray  # 2r h'(t)

    def __call__(self, x: np.ndarray, kappa: float = math.inf) -> np.ndarray:
        """Values of shape (points, units) and of the type of x, with steps or with sigmoids σ(κ(<a,x> - t))."""
        z = x @ self.a.T.astype(x.dtype) - self.t.astype(x.dtype)
        fired = (z >= 0).astype(x.dtype) if kappa == math.inf else (np.tanh(z * (kappa / 2)) + 1) / 2
        return (fired - (self.t <= 0)) * self.v.astype(x.dtype)


def steps(f: Gaussian, n: int, rng: np.random.Generator, radius: float = 1.0, phase: float = 1.0) -> Steps:
    """n threshold units for f - f(0) on the ball of that radius; `phase` 0 leaves b_w out: wrong unless c = 0."""
    w, t = f.frequencies(n, rng), radius * rng.uniform(-1, 1, n)
    norm = np.linalg.norm(w, axis=1)
    return Steps(w / norm[:, None], t, -2 * radius * f.C * np.sin(norm * t - phase * (w @ f.centre)))


def cosine_errors(
    f: Gaussian, x: np.ndarray, sizes: tuple[int, ...], draws: int, rng: np.random.Generator
) -> np.ndarray:
    """(f - f_n)² of nets of cosines, of shape (draws, points, sizes)."""
    return net_errors(lambda x, n, rng: f.cosines(x, f.frequencies(n, rng)), f, x, sizes, draws, rng)


def affordable(dimensions: tuple[int, ...], sizes: tuple[int, ...], draws: int, points: int) -> list[tuple[bool, str]]:
    """Conditions on parameters of an experiment with `net_errors`: a minute of work, and sizes that show a rate."""
    work = len(dimensions) * max(sizes) * draws * points
    return [
        (work <= 2 * 10**9, "dimensions, largest size, draws and points multiply to more than 2·10⁹"),
        (max(sizes) >= 16 * min(sizes), "the largest size must be 16 times the smallest"),
    ]


def greedy(units: np.ndarray, target: np.ndarray, most: int) -> np.ndarray:
    """f_n = (1 - 1/n) f_{n-1} + g_n/n with the best g_n among the columns, n <= most: which columns (Jones 1992)."""
    total, chosen, power = np.zeros(len(target)), [], np.sum(units**2, axis=0)
    for n in range(1, most + 1):
        chosen.append(int(np.argmin(power / n**2 - 2 / n * ((target - total / n) @ units))))
        total += units[:, chosen[-1]]
    return np.array(chosen)


def net_errors(
    draw: Draw, f: Gaussian, x: np.ndarray, sizes: tuple[int, ...], draws: int, rng: np.random.Generator
) -> np.ndarray:
    """(f - f_n)² at x, of shape (draws, points, sizes), in single precision; f_n: the mean of the first n units."""
    first = np.arange(max(sizes))[:, None] < np.array(sizes)
    average, points = (first / np.array(sizes)).astype(np.float32), x.astype(np.float32)
    return np.stack([(draw(points, max(sizes), rng) @ average - f.rise(x)[:, None]) ** 2 for _ in range(draws)])
