"""The Barron constant of a Gaussian."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from headway.core.config import require
from headway.lab import style
from headway.lab.checks import Check, at_least, at_most, close, mean_is, printed, published
from headway.lab.old import Experiment

PUBLISHED = {1: 0.79788, 2: 1.25331, 5: 2.12769, 10: 3.08433, 50: 7.03580}  # C at σ = 1


@dataclass(frozen=True)
class Config:
    dimensions: tuple[int, ...] = (1, 2, 5, 10, 50)  # the dimensions d
    widths: tuple[float, ...] = (0.3, 0.5, 1.0, 2.0)  # the standard deviations σ
    draws: int = 10000  # of W ~ N(0, σ^{-2} I), for each seed
    largest: int = 400  # C/√d is followed up to this dimension

    def __post_init__(self) -> None:
        require((all(d >= 1 for d in self.dimensions), "every d is at least 1"), (all(s > 0 for s in self.widths), "every σ is positive"))
        require((self.draws >= 100, "draws >= 100"), (2 <= self.largest <= 2000, "largest is 2 to 2000"))


def barron_constant(d: int, sigma: float = 1.0) -> float:
    """C = √2 Γ((d+1)/2) / (Γ(d/2) σ) of exp(-‖x‖²/2σ²)."""
    return math.sqrt(2) * math.exp(math.lgamma((d + 1) / 2) - math.lgamma(d / 2)) / sigma


def radial(d: int, sigma: float, power: int) -> float:
    """∫ ‖w‖^power |f̂(w)| dw by quadrature in ρ = ‖w‖: |f̂| is a normal density, and the unit sphere has the area 2π^{d/2}/Γ(d/2)."""
    from scipy.integrate import quad

    top = math.sqrt(d - 1 + power)  # where the integrand in u = σρ is largest; it falls like a Gaussian around it
    log_area = math.log(2) + d / 2 * math.log(math.pi) - math.lgamma(d / 2) - d / 2 * math.log(2 * math.pi)
    value, _ = quad(
        lambda u: math.exp(log_area + (d - 1 + power) * math.log(u) - u * u / 2) if u > 0 else float(d + power == 1) * math.exp(log_area),
        max(0.0, top - 12), top + 12, epsabs=0, epsrel=1e-13, limit=200, points=[top] if top > 0 else None,
    )  # fmt: skip
    return value / sigma**power


def transform(d: int, sigma: float, rho: np.ndarray) -> np.ndarray:
    """f̂ at radius ρ from its definition: (2π)^{-1} ∫ f(r) cos(ρr) dr on the line, (2π)^{-3} ∫ f(r) 4πr² sin(ρr)/(ρr) dr in space."""
    r = np.linspace(0, 12 * sigma, 4001)
    kernel = 2 * np.cos(rho[:, None] * r) if d == 1 else 4 * math.pi * r**2 * np.sinc(rho[:, None] * r / math.pi)
    return np.trapezoid(kernel * np.exp(-(r**2) / (2 * sigma**2)), r, axis=1) / (2 * math.pi) ** d


class BarronGaussian(Experiment):
    """The Gaussian of height 1 has a Barron constant that grows only like √d / σ.

    f(x) = exp(-‖x‖²/2σ²) has as f̂ the density of N(0, σ^{-2} I). Hence ∫ |f̂| = 1 and

        C = E‖W‖ = √2 Γ((d+1)/2) / (Γ(d/2) σ),       √(d - 1/2) / σ <= C <= √d / σ.

    The Gaussian density is f times (2πσ²)^{-d/2}, and so is its C: exponentially small in d for σ > 1/√(2π), exponentially large below.
    """

    lecture = "A"
    kinds = ("EXACT", "STAT")
    cost = "S"
    source = "Barron 1993, section IX, https://doi.org/10.1109/18.256500; Watson 1959 (the lower bound)"
    assumptions = ("height 1, not integral 1",)
    errata = ("A6",)
    aliases = ("Barron constant of a Gaussian", "Barron norm of a Gaussian")
    panels = 2
    small = {"draws": 2000, "largest": 50}
    full = {"draws": 500000}

    def measure(self, c: Config, rng: np.random.Generator) -> Iterator[Check]:
        self.sampled: list[tuple[int, float]] = []
        for d in c.dimensions:
            exact = np.array([barron_constant(d, s) for s in c.widths])
            yield close(f"C by quadrature, d = {d}", [radial(d, s, 1) for s in c.widths], exact, 1e-10)
            if d in PUBLISHED:
                yield published(f"C at σ = 1, d = {d}: reference value", barron_constant(d), PUBLISHED[d], 6e-6)
        yield close("∫ |f̂| is 1, every d", [radial(d, 1.0, 0) for d in c.dimensions], np.ones(len(c.dimensions)), 1e-10)
        for d in (1, 3):
            s, rho = c.widths[0], np.linspace(0.01, 3, 40) / c.widths[0]
            density = (s * s / (2 * math.pi)) ** (d / 2) * np.exp(-((s * rho) ** 2) / 2)
            yield close(f"f̂ is the density of N(0, σ^-2 I), d = {d}", transform(d, s, rho) / density[0], density / density[0], 1e-10)
        d = np.arange(1, c.largest + 1)
        self.ratio = np.array([barron_constant(int(k)) for k in d]) / np.sqrt(d)
        yield at_least(f"C/√d increases, d <= {c.largest}", np.diff(self.ratio), 0.0)
        yield at_most(f"C <= √d, d <= {c.largest}", self.ratio, 1.0)
        yield at_least(f"C >= √(d - 1/2), d <= {c.largest}", self.ratio, np.sqrt(1 - 0.5 / d))
        self.density = {s: np.array([barron_constant(int(k), s) * (2 * math.pi * s * s) ** (-k / 2) for k in d]) for s in c.widths}
        for s, values in self.density.items():
            name = f"density, σ = {s:g}: C at d = {c.largest} against d = 1"
            yield (at_most if s > 1 / math.sqrt(2 * math.pi) else at_least)(name, values[-1], values[0])

    def sample(self, c: Config, rng: np.random.Generator) -> Iterator[Check]:
        for d in c.dimensions:
            norms = np.linalg.norm(rng.normal(size=(c.draws, d)), axis=1)
            self.sampled.append((d, float(norms.mean())))
            yield mean_is(f"E‖W‖ at σ = 1, {c.draws} draws, d = {d}", norms, barron_constant(d))

    def control(self, c: Config, rng: np.random.Generator) -> Iterator[Check]:
        from scipy.integrate import quad

        mass = quad(lambda x: math.sqrt(2 * math.pi) * math.exp(-x * x / 2), -12, 12)[0]
        yield printed(close("(2πσ²)^{+d/2} exp(-‖x‖²/2σ²) as a density: its integral, d = 5, σ = 1", mass**5, 1.0), "A6")
        yield close("C is √d/σ, not only at most, d = 2", barron_constant(2), math.sqrt(2))
        narrow = (2 * math.pi * 0.3**2) ** -2.5 * barron_constant(5, 0.3)
        yield at_most("C <= √d/σ for the density, d = 5, σ = 0.3", narrow, math.sqrt(5) / 0.3)

    def plot(self, c: Config, axes: "style.Panels") -> None:
        d = np.arange(1, c.largest + 1)
        axes[0].loglog(d, self.ratio * np.sqrt(d), **style.CURVE, label="C, closed form")
        axes[0].loglog(*zip(*self.sampled, strict=True), **style.series(1) | {"linestyle": "none"}, label=f"mean of {c.draws} draws")
        axes[0].loglog(d, np.sqrt(d), **style.BOUND, label="√d")
        axes[0].set(title="Height 1, σ = 1", xlabel="dimension d", ylabel="Barron constant C")
        shown = d[:60]
        for i, s in enumerate(c.widths):
            axes[1].semilogy(shown, self.density[s][:60], **style.CURVE | {"color": style.SERIES[i % 5]}, label=f"σ = {s:g}")
        axes[1].set(title="Integral 1 (the density)", xlabel="dimension d", ylabel="Barron constant C")
        for panel in axes:
            panel.legend()
