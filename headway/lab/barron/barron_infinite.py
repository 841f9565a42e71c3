"""A function with an integrable transform as an infinitely wide net of cosines."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from headway.core.config import require
from headway.lab import style
from headway.lab.checks import Check, at_most, close, mean_is, printed
from headway.lab.old import Experiment

SPHERE = 8 * math.pi**2 / 3  # area of the unit sphere in five dimensions


@dataclass(frozen=True)
class Config:
    widths: tuple[float, ...] = (0.5, 1.0, 2.0)  # the standard deviations σ of the Gaussians on the line
    d: int = 5  # dimension of the Gaussian that is integrated by chance
    sigma: float = 1.0  # its standard deviation σ
    draws: int = 100000  # of w ~ N(0, σ^{-2} I), for each seed
    radius: float = 400.0  # how far the transform of the tent in five dimensions is integrated

    def __post_init__(self) -> None:
        require((all(0.1 <= s <= 10 for s in self.widths), "every σ is between 0.1 and 10"), (self.sigma > 0, "σ > 0"))
        require((self.d >= 1 and self.draws >= 1000, "d >= 1 and draws >= 1000"), (self.radius >= 50, "radius >= 50"))


def infinite_net(x: np.ndarray, w: np.ndarray, mass: np.ndarray, b: np.ndarray) -> np.ndarray:
    """∫ |f̂(w)| (cos(b_w + wx) - cos b_w) dw on a grid of frequencies; `mass` is |f̂(w)| dw."""
    return (np.cos(b + x[:, None] * w) - np.cos(b)) @ mass


def wave(z: np.ndarray) -> np.ndarray:
    """The mean of cos<w,x> over the sphere ‖w‖ ‖x‖ = z in five dimensions: 3 (sin z - z cos z) / z³."""
    safe = np.maximum(z, 0.03)  # below, the series 1 - z²/10 + z⁴/280 is exact to 1e-13
    return np.where(z < 0.03, 1 - z * z / 10 + z**4 / 280, 3 * (np.sin(safe) - safe * np.cos(safe)) / safe**3)


def tent_transform(rho: np.ndarray) -> np.ndarray:
    """f̂ of (1 - ‖x‖²)_+ in five dimensions: (2π)^{-5} π^{-1} (ρ/2π)^{-7/2} J_{7/2}(ρ) (Bochner and Riesz), which is not integrable."""
    from scipy.special import jv

    return (2 * math.pi) ** -5.0 / math.pi * (rho / (2 * math.pi)) ** -3.5 * jv(3.5, rho)


class BarronInfinite(Experiment):
    """A function with an integrable transform is an infinitely wide net of cosines.

    For real f with f, f̂ ∈ L¹ and f̂ = |f̂| e^{i b_w},

        f(x) - f(0) = ∫ |f̂(w)| (cos(b_w + <w,x>) - cos b_w) dw.

    The Gaussian around c has |f̂| = density of N(0, σ^{-2} I) and b_w = -<w,c>; x e^{-x²/2} has |f̂| = |w| e^{-w²/2} / √(2π) and
    b_w = -sign(w) π/2. Continuity alone is not enough: (1 - ‖x‖²)_+ is even Lipschitz, but in five dimensions |f̂| ~ ‖w‖^{-4} has no
    integral, and its integral over ‖w‖ < R swings around f(x) - f(0) for ever.
    """

    lecture = "A"
    kinds = ("EXACT", "STAT")
    cost = "S"
    source = "Barron 1993, https://doi.org/10.1109/18.256500; Pinsky 1994, Comm. Pure Appl. Math. 47 (why the integral swings)"
    assumptions = ("f is real", "f and f̂ are integrable")
    errata = ("A7",)
    aliases = ("Barron's theorem, step 1", "infinite cosine network")
    panels = 2
    small = {"draws": 5000, "radius": 100.0}

    def measure(self, c: Config, rng: np.random.Generator) -> Iterator[Check]:
        x = np.linspace(-3, 3, 61)
        w = np.arange(-4000, 4001) / 4000 * 10 / min(1.0, *c.widths)
        for s in c.widths:
            gap, worst = w[1] - w[0], 0.0
            for centre in rng.uniform(-2, 2, 3):
                mass = s / math.sqrt(2 * math.pi) * np.exp(-((s * w) ** 2) / 2) * gap
                f = np.exp(-((np.append(x, 0) - centre) ** 2) / (2 * s * s))
                worst = max(worst, float(np.max(np.abs(infinite_net(x, w, mass, -w * centre) - (f[:-1] - f[-1])))))
            yield close(f"Gaussians around three c, σ = {s:g}: largest error on [-3, 3]", worst, 0.0, 1e-8)
        mass = np.abs(w) * np.exp(-(w**2) / 2) / math.sqrt(2 * math.pi) * (w[1] - w[0])
        odd = infinite_net(x, w, mass, -np.sign(w) * math.pi / 2)
        yield close("x exp(-x²/2), f̂ imaginary: error on [-3, 3]", odd, x * np.exp(-(x**2) / 2), 1e-8)
        self.line = (x, np.exp(-((x - 1) ** 2) / 2) - math.exp(-0.5))
        few = {units: rng.normal(size=units) for units in (10, 100, 1000)}
        self.nets = {units: infinite_net(x, v, np.full(units, 1 / units), -v) for units, v in few.items()}
        r, rho = np.linspace(0, 1, 20001), np.array([0.5, 3.0, 12.0])
        by_rule = [np.trapezoid(r**4 * (1 - r * r) * wave(p * r), r) * SPHERE / (2 * math.pi) ** 5 for p in rho]
        yield close("f̂ of (1 - ‖x‖²)_+, d = 5: closed form", np.array(by_rule) * 1e5, tent_transform(rho) * 1e5, 1e-6)
        grid = np.arange(1, round(c.radius * 20) + 1) / 20  # 0.05 apart; the Gaussian below is done long before the end
        self.grid, self.x = grid, 0.5
        kernel = SPHERE * grid**4 * (wave(grid * self.x) - 1) / 20
        self.tent = np.cumsum(kernel * tent_transform(grid))
        self.smooth = np.cumsum(kernel * (2 * math.pi) ** -2.5 * np.exp(-(grid**2) / 2))
        yield close("Gaussian, d = 5, by radius: f(x) - f(0), ‖x‖ = ½", self.smooth[-1], math.exp(-(self.x**2) / 2) - 1, 1e-8)

    def sample(self, c: Config, rng: np.random.Generator) -> Iterator[Check]:
        w = rng.normal(size=(c.draws, c.d)) / c.sigma
        centre = np.full(c.d, 0.6 / math.sqrt(c.d))
        f = lambda x: math.exp(-float(np.sum((x - centre) ** 2)) / (2 * c.sigma**2))  # noqa: E731
        for length in (0.25, 0.5, 1.0, 2.0):
            x = rng.normal(size=c.d)
            x *= length / np.linalg.norm(x)
            units = np.cos(w @ (x - centre)) - np.cos(w @ centre)
            yield mean_is(f"mean of {c.draws} units, d = {c.d}, ‖x‖ = {length:g}", units, f(x) - f(np.zeros(c.d)))

    def control(self, c: Config, rng: np.random.Generator) -> Iterator[Check]:
        late = self.grid > c.radius - 10  # two or three swings at the end
        swing = float(np.max(np.abs(self.tent[late] + self.x**2)))
        name = f"any continuous f: error of (1 - ‖x‖²)_+, d = 5, R near {c.radius:g}"
        yield printed(at_most(name, swing, 0.05), "A7")
        x, w, centre = np.linspace(-3, 3, 61), np.linspace(-12, 12, 8001), 1.0
        f = np.exp(-((x - centre) ** 2) / 2) - math.exp(-(centre**2) / 2)
        mass = np.exp(-(w**2) / 2) / math.sqrt(2 * math.pi) * (w[1] - w[0])
        yield close("the phase b_w left out, c = 1", infinite_net(x, w, mass, 0 * w), f, 1e-8)

    def plot(self, c: Config, axes: "style.Panels") -> None:
        x, f = self.line
        axes[0].plot(x, f, **style.TARGET, label="f(x) - f(0), Gaussian around 1")
        for i, (units, net) in enumerate(self.nets.items()):
            axes[0].plot(x, net, **style.CURVE | {"color": style.SERIES[i], "linewidth": 1.2}, label=f"mean of {units} units")
        axes[0].set(title="Cosines with random frequencies", xlabel="x", ylabel="value", ylim=(-1, 1.3))
        look = style.CONTROL | {"marker": "", "linestyle": "-", "linewidth": 1.2}
        axes[1].plot(self.grid, self.tent + self.x**2, **look, label="(1 - ‖x‖²)₊: swings for ever")
        axes[1].plot(self.grid, self.smooth + 1 - math.exp(-(self.x**2) / 2), **style.CURVE, label="Gaussian")
        axes[1].set(title="Five dimensions, ‖x‖ = ½", xlabel="frequencies ‖w‖ < R", ylabel="error of f(x) - f(0)")
        axes[1].set(xlim=(0, 100), ylim=(-0.6, 0.9))
        for panel in axes:
            panel.legend()
