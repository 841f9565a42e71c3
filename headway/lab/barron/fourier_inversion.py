"""The constant of the Fourier transform, and a continuous function without a Barron constant."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from headway.core.config import require
from headway.lab import style
from headway.lab.checks import Check, close, printed
from headway.lab.old import Experiment

RADII = np.array([1e1, 1e2, 1e3, 1e4])  # where the truncated Barron constant C(R) is measured


@dataclass(frozen=True)
class Config:
    bits: int = 20  # sinc² is sampled at 2^bits points; what is cut off weighs 2/(π 2^bits)
    dimensions: tuple[int, ...] = (1, 2, 3)  # of the Gaussian for the factor (2π)^d

    def __post_init__(self) -> None:
        require(
            (12 <= self.bits <= 24, "bits is between 12 and 24"), (all(1 <= d <= 3 for d in self.dimensions), "dimensions are 1, 2 or 3")
        )


@dataclass(frozen=True)
class Pair:
    """An even function with its transform f̂(w) = (2π)^{-1} ∫ f(x) cos(wx) dx in closed form, and the grid for the trapezoid rule."""

    name: str
    f: Callable[[np.ndarray], np.ndarray]
    hat: Callable[[np.ndarray], np.ndarray]
    step: float
    points: int
    tolerance: float  # of the transform: what the grid leaves out

    def spectrum(self) -> tuple[np.ndarray, np.ndarray]:
        """Frequencies w >= 0 and ∫ f e^{-iwx} dx there, by the trapezoid rule on x = -Nh/2 … Nh/2: no factor of 2π yet."""
        h, N = self.step, self.points
        x = (np.arange(N) - N // 2) * h
        return 2 * math.pi * np.fft.rfftfreq(N, h), h * np.fft.rfft(np.fft.ifftshift(self.f(x))).real


def rebuilt(w: np.ndarray, hat: np.ndarray, x: np.ndarray) -> np.ndarray:
    """∫ f̂(w) e^{iwx} dw for an even f̂ by the trapezoid rule on the symmetric grid."""
    weight = np.full(w.size, 2 * (w[1] - w[0]))
    weight[[0, -1]] /= 2
    return np.array([np.cos(w * t) @ (weight * hat) for t in x])


def gaussian_twice(d: int) -> float:
    """exp(-‖x‖²/2) in d dimensions, transformed and transformed back at 0 without any factor of 2π."""
    h, N = 0.5, 32
    x = (np.arange(N) - N // 2) * h
    f = math.prod(np.exp(-(x.reshape([N if i == k else 1 for i in range(d)]) ** 2) / 2) for k in range(d))
    hat = h**d * np.fft.fftn(np.fft.ifftshift(f))
    return float(np.sum(hat).real * (2 * math.pi / (N * h)) ** d)


def truncated(hat: Callable[[np.ndarray], np.ndarray], radius: float) -> float:
    """C(R) = ∫_{|w|<R} |w| f̂(w) dw, with w = e^u - 1 so that a trapezoid rule serves every scale."""
    u = np.linspace(0, math.log1p(radius), 20001)
    w = np.expm1(u)
    return float(2 * np.trapezoid(w * hat(w) * (w + 1), u))


class FourierInversion(Experiment):
    """The Fourier transform and its inverse need one factor (2π)^{-d} between them; without it f comes back (2π)^d times too large.

        f̂(w) = (2π)^{-d} ∫ f(x) e^{-i<w,x>} dx,      f(x) = ∫ f̂(w) e^{i<w,x>} dw,      C = ∫ ‖w‖ |f̂(w)| dw

    The Barron constant C can be infinite for a continuous f: e^{-|x|} has f̂ = 1 / (π (1 + w²)) and

        C(R) = ∫_{|w|<R} |w| f̂ dw = log(1 + R²) / π ~ (2/π) log R.
    """

    lecture = "A"
    kinds = ("EXACT",)
    cost = "S"
    source = "Barron 1993, https://doi.org/10.1109/18.256500"
    assumptions = ("f and f̂ are integrable",)
    errata = ("A3",)
    aliases = ("Fourier inversion", "inverse Fourier transform")
    panels = 3
    small = {"bits": 15}

    def measure(self, c: Config, rng: np.random.Generator) -> Iterator[Check]:
        from scipy.integrate import quad

        cut = 1e-6 + 2 / (math.pi * 2**c.bits)
        self.pairs = [
            Pair("Gaussian", lambda x: np.exp(-(x**2) / 2), lambda w: np.exp(-(w**2) / 2) / math.sqrt(2 * math.pi), 0.05, 2**10, 1e-12),
            Pair("Laplace", lambda x: np.exp(-np.abs(x)), lambda w: 1 / (math.pi * (1 + w**2)), 1e-3, 2**16, 1e-6),
            Pair("sinc²", lambda x: np.sinc(x / (2 * math.pi)) ** 2, lambda w: np.maximum(1 - w, 0), 2.0, 2**c.bits, cut),
        ]
        self.x = np.array([0.0, 0.3003, 0.7777, 1.2345, 2.5])  # on the grids and between their points
        self.ratios = []
        for pair in self.pairs:
            w, integral = pair.spectrum()
            yield close(f"{pair.name}: f̂, trapezoid rule and closed form", integral / (2 * math.pi), pair.hat(w), pair.tolerance)
            if pair.name != "sinc²":
                by_quad = [quad(pair.f, 0, np.inf, weight="cos", wvar=v)[0] / math.pi for v in (0.5, 1.0, 3.0)]
                yield close(f"{pair.name}: f̂, scipy's Fourier integral", by_quad, pair.hat(np.array([0.5, 1.0, 3.0])), 1e-8)
            back = rebuilt(w, integral, self.x)
            yield close(f"{pair.name}: rebuilt with the factor", back / (2 * math.pi), pair.f(self.x), 1e-6)
            self.ratios.append(back / pair.f(self.x))
            yield close(f"{pair.name}: printed pair / f is 2π", self.ratios[-1], np.full(self.x.size, 2 * math.pi), 1e-6)
        self.factors = [gaussian_twice(d) for d in c.dimensions]
        for d, factor in zip(c.dimensions, self.factors, strict=True):
            yield close(f"Gaussian, d = {d}: printed pair / f is (2π)^{d}", factor, (2 * math.pi) ** d, 1e-6)
        self.growth = {pair.name: [truncated(pair.hat, R) for R in RADII] for pair in self.pairs[:2]}
        yield close("Laplace: C(R) is log(1 + R²)/π, R = 10 … 10⁴", self.growth["Laplace"], np.log1p(RADII**2) / math.pi, 1e-6)
        per_decade = np.diff(self.growth["Laplace"])[1:]  # from R = 100 on: log(1 + R²) is 2 log R up to R^{-2} = 1e-4
        yield close("Laplace: C(10R) - C(R) is (2/π) log 10", per_decade, np.full(per_decade.size, 2 / math.pi * math.log(10)), 1e-4)
        yield close("Gaussian: C(R) settles at √(2/π)", self.growth["Gaussian"], np.full(RADII.size, math.sqrt(2 / math.pi)), 1e-6)

    def control(self, c: Config, rng: np.random.Generator) -> Iterator[Check]:
        ones = np.ones(self.x.size)
        yield printed(close("Gaussian: rebuilt by the printed pair / f", self.ratios[0], ones, 1e-6), "A3")
        yield close("Gaussian: rebuilt with the factor on both sides / f", self.ratios[0] / (2 * math.pi) ** 2, ones, 1e-6)
        yield close("Laplace: C(10R) is C(R)", self.growth["Laplace"][-1], self.growth["Laplace"][-2], 0.01)

    def plot(self, c: Config, axes: "style.Panels") -> None:
        x = np.linspace(0, 6, 200)
        for i, pair in enumerate(self.pairs):
            axes[0].plot(x, pair.f(x), **style.TARGET | {"color": style.SERIES[i]}, label=f"f: {pair.name}")
            axes[0].plot(self.x, self.ratios[i] * pair.f(self.x) / (2 * math.pi), **style.series(i) | {"linestyle": "none"})
            axes[0].plot(self.x, self.ratios[i] * pair.f(self.x), **style.CONTROL, label=None if i else "as printed")
        axes[0].set(title="Rebuilt at five points", xlabel="x", ylabel="value")
        axes[1].semilogy(c.dimensions, self.factors, **style.MEASURED, label="printed pair / f")
        axes[1].semilogy(c.dimensions, [(2 * math.pi) ** d for d in c.dimensions], **style.BOUND, label="(2π)^d")
        axes[1].set(title="The missing factor", xlabel="dimension d", ylabel="factor", xticks=c.dimensions)
        for i, (name, values) in enumerate(self.growth.items()):
            axes[2].semilogx(RADII, values, **style.series(i), label=name)
        axes[2].semilogx(RADII, 2 / math.pi * np.log(RADII), **style.BOUND, label="(2/π) log R")
        axes[2].set(title="C may be infinite", xlabel="cut-off R", ylabel="C(R)")
        for panel in axes:
            panel.legend()
