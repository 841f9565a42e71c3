"""Trigonometric approximation by Fejér's means."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from headway.core.config import require
from headway.lab import style
from headway.lab.certified import certified_sup
from headway.lab.checks import Check, at_most, close, equal, published, slope
from headway.lab.old import Experiment
from headway.lab.tools.nets import RidgeNet

CENTRE = 0.3
GIBBS = 0.0894898722  # (1/π) ∫_0^π sin(t)/t dt - 1/2, of the jump


@dataclass(frozen=True)
class Config:
    orders: tuple[int, ...] = (4, 8, 16, 32, 64, 128, 256)  # n
    jump: int = 255  # odd order n of the sums for the step

    def __post_init__(self) -> None:
        require((len(self.orders) >= 4 and all(2 <= n <= 512 for n in self.orders), "at least four orders between 2 and 512"))
        require((31 <= self.jump <= 511 and self.jump % 2 == 1, "jump is odd, 31 to 511"))


def bend_coefficients(n: int) -> np.ndarray:
    """a_k of |x - c| = Σ a_k cos kπx on [0, 1]: a_0 = ∫ |x - c|, a_k = 2 (1 + cos kπ - 2 cos kπc) / (kπ)²."""
    w = np.arange(1, n + 1) * np.pi
    return np.append((CENTRE**2 + (1 - CENTRE) ** 2) / 2, 2 * (1 + np.cos(w) - 2 * np.cos(w * CENTRE)) / w**2)


def root_coefficients(n: int) -> np.ndarray:
    """a_k of √x: a_0 = 2/3, a_k = -(2/kπ) S(√(2k)) / √(2k) with Fresnel's integral S."""
    from scipy.special import fresnel

    k = np.arange(1, n + 1)
    return np.append(2 / 3, -2 / (k * np.pi) * fresnel(np.sqrt(2 * k))[0] / np.sqrt(2 * k))


TARGETS = {"|x - 0.3|": (lambda x: np.abs(x - CENTRE), bend_coefficients), "√x": (np.sqrt, root_coefficients)}


def fejer(a: np.ndarray) -> np.ndarray:
    """The coefficients times 1 - k/(n+1): the mean of the first n + 1 partial sums."""
    return a * (1 - np.arange(a.size) / a.size)


def cosine_net(a: np.ndarray) -> RidgeNet:
    """Σ_k a_k cos(kπx), n + 1 units."""
    return RidgeNet(np.cos, np.arange(a.size)[:, None] * np.pi, np.zeros(a.size), a)


def circle_net(n: int) -> RidgeNet:
    """Fejér's mean of the distance to 0.3 on the circle of length 2π, with cosines and sines: 2n + 1 units."""
    k = np.arange(1, n + 1)
    a = fejer(np.append(np.pi / 2, -4 / np.pi / k**2 * (k % 2)))
    w, phase = np.concatenate([[0.0], k, k])[:, None], np.repeat([0.0, -np.pi / 2], [n + 1, n])  # cos(kx - π/2) = sin kx
    return RidgeNet(np.cos, w, phase, np.concatenate([a[:1], a[1:] * np.cos(CENTRE * k), a[1:] * np.sin(CENTRE * k)]))


def worst(n: int) -> float:
    """σ_n|t| at 0, the sharp constant for Lipschitz functions of period 2π: π/2 - (4/π) Σ_{odd k <= n} (1 - k/(n+1)) / k²."""
    k = np.arange(1, n + 1, 2)
    return float(np.pi / 2 - 4 / np.pi * np.sum((1 - k / (n + 1)) / k**2))


def square_wave(n: int) -> np.ndarray:
    """b_k of sign(sin x) = Σ b_k sin kx."""
    return np.append(0.0, np.arange(1, n + 1) % 2 * 4 / np.pi / np.arange(1, n + 1))


class CosNetApprox(Experiment):
    """Fejér's means, which are nets of cosines, converge uniformly to every continuous periodic function.

        σ_n f = Σ_{|k|<=n} (1 - |k|/(n+1)) f̂_k e^{ikx},      2n + 1 units

        sup |σ_n f - f| <= ρ σ_n|t|(0) <= π ρ (½ + ln(n+1)) / (n+1)      f ρ-Lipschitz of period 2π; the first bound is attained by |t|

    A function on [0, 1] is reflected at 0 to an even one of period 2, which is continuous: n + 1 cosines cos kπx suffice, ρ becomes ρ/π,
    and for √x the same argument gives (8/3) / √(n+1). Partial sums without the factor overshoot a step by 8.95 % of the jump (Gibbs),
    Fejér's means never do, since their kernel is positive. The specified slope <= -0.8 for |x - 0.3| on n = 4 … 256 fails even for the
    sharp bound (-0.785; measured -0.776), because of the logarithm, so the slope is taken after dividing by it.
    """

    lecture = "A"
    kinds = ("BOUND",)
    cost = "S"
    source = "Fejér 1903, https://doi.org/10.1007/BF01447779; Zygmund, Trigonometric Series, ch. III"
    assumptions = ("f is continuous and periodic, or reflected to be so", "Lipschitz for the rate")
    aliases = ("Fejér means", "trigonometric approximation", "Gibbs phenomenon")
    panels = 2
    small = {"orders": (4, 8, 16, 32), "jump": 63}

    def measure(self, c: Config, rng: np.random.Generator) -> Iterator[Check]:
        n = np.array(c.orders)
        nets = {name: [cosine_net(fejer(a(k))) for k in c.orders] for name, (_, a) in TARGETS.items()}
        self.errors = {name: [sup_error(name, net) for net in made] for name, made in nets.items()}
        self.bounds = {"|x - 0.3|": (0.5 + np.log(n + 1)) / (n + 1), "√x": 8 / 3 / np.sqrt(n + 1)}
        sharp = np.array([worst(k) for k in c.orders])
        for name, (f, a) in TARGETS.items():
            errors = self.errors[name]
            yield at_most(f"{name}: sup error against the bound, n = {n[0]} … {n[-1]}", errors, self.bounds[name])
            yield at_most(f"{name}: the error falls with n", errors[1:], errors[:-1])
            yield close(f"{name}: coefficients against scipy's quadrature", a(8), _quadrature(f, 8), 1e-8)
        yield at_most("|x - 0.3|: sup error against the sharp bound σ_n|t|(0) / π", self.errors["|x - 0.3|"], sharp / np.pi)
        yield at_most("sharp bound against π(½ + ln(n+1)) / (n+1)", sharp, np.pi * self.bounds["|x - 0.3|"])
        yield slope("|x - 0.3|: error over ½ + ln(n+1), in n", n, self.errors["|x - 0.3|"] / (0.5 + np.log(n + 1)), -1, 0.1)
        wave = [circle_net(k) for k in c.orders]
        sizes = np.array([[f.c.size, g.c.size] for f, g in zip(nets["√x"], wave, strict=True)])
        yield equal("units: n + 1 cosines, 2n + 1 on the circle", sizes, np.stack([n + 1, 2 * n + 1], axis=1))
        yield close("distance on the circle: error at its kink is the sharp bound", [net(np.array([CENTRE])) for net in wave], sharp)
        x = rng.uniform(-np.pi, np.pi, (500, 1))
        gaps = [np.max(np.abs(net(x) - np.abs((x[:, 0] - CENTRE + np.pi) % (2 * np.pi) - np.pi))) for net in wave]
        yield at_most("the same: error at 500 points against the sharp bound", gaps, sharp, rounding=1e-9)
        top = np.pi / (c.jump + 1)  # the first maximum of the partial sum: its derivative is sin((n+1)x) / sin x up to a factor
        self.over = (float(np.sin(np.arange(c.jump + 1) * top) @ square_wave(c.jump)) - 1) / 2
        yield published(f"step, partial sum of order {c.jump}: overshoot over the jump (Gibbs)", self.over, GIBBS, 1e-3)
        mean, m = fejer(square_wave(63)), np.arange(64)
        high = certified_sup(lambda s: np.sin(s[:, None] * m) @ mean, 64 / np.pi, 0, np.pi, rtol=2e-3).high
        yield at_most("step, Fejér's mean of order 63: certified maximum", high, 1.0)

    def control(self, c: Config, rng: np.random.Generator) -> Iterator[Check]:
        yield at_most("step: maximum of the partial sum against 1", 1 + 2 * self.over, 1.0)
        n, k, x = c.orders[-1], np.arange(1, c.orders[-1] + 1), 1e-9
        sawtooth = 0.5 - fejer(np.append(0.0, 1 / (np.pi * k)))[1:] @ np.sin(2 * np.pi * k * x)  # Fejér's mean of x, period 1
        yield at_most(f"x repeated without reflection, n = {n}: error next to 0", sawtooth - x, self.bounds["|x - 0.3|"][-1])
        step = fejer(square_wave(n))[1:] @ np.sin(k * x)
        yield at_most(f"a step is not continuous, n = {n}: error next to the jump", 1 - step, 0.5)

    def plot(self, c: Config, axes: "style.Panels") -> None:
        x, b, k = np.linspace(-1, 2, 1200), square_wave(31), np.arange(32)
        axes[0].plot(x, np.sign(np.sin(x)), **style.TARGET, label="step")
        axes[0].plot(x, np.sin(x[:, None] * k) @ b, **style.CONTROL | {"marker": None}, label="partial sum, n = 31")
        axes[0].plot(x, np.sin(x[:, None] * k) @ fejer(b), **style.CURVE, label="Fejér's mean, n = 31")
        axes[0].set(title="Fejér does not overshoot", xlabel="x", ylabel="value")
        for i, (name, errors) in enumerate(self.errors.items()):
            axes[1].loglog(c.orders, errors, **style.series(i), label=name)
            axes[1].loglog(c.orders, self.bounds[name], **style.BOUND | {"color": style.SERIES[i]}, label="its bound")
        axes[1].set(title="Uniform convergence", xlabel="order n", ylabel="sup |σ_n f - f|")
        axes[0].legend(loc="lower right")
        axes[1].legend(loc="lower left")


def sup_error(name: str, net: RidgeNet) -> float:
    """Certified. σ_n f is as Lipschitz as f; for √x in the variable s = √x, where σ_n f(s²) has slope at most 2 Σ |a_k| kπ."""
    f = TARGETS[name][0]
    if name != "√x":
        return certified_sup(lambda x: net(x[:, None]) - f(x), 2.0, 0, 1, rtol=0.02).high
    steepest = 2 * float(np.sum(np.abs(net.c) * net.w[:, 0])) + 1
    return certified_sup(lambda s: net((s * s)[:, None]) - s, steepest, 0, 1, rtol=0.2).high


def _quadrature(f: Callable[[np.ndarray], np.ndarray], n: int) -> np.ndarray:
    from scipy.integrate import quad

    parts = [quad(f, 0, 1, weight="cos", wvar=k * np.pi, epsabs=1e-11, limit=500)[0] for k in range(n + 1)]
    return np.array(parts) * np.append(1, np.full(n, 2))
