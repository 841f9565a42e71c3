"""Staircases of sigmoids."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from headway.core.config import require
from headway.lab import style
from headway.lab.certified import certified_sup
from headway.lab.checks import Check, at_most, close, equal, printed
from headway.lab.old import Experiment
from headway.lab.tools.curves import Curve as Target
from headway.lab.tools.curves import sine
from headway.lab.tools.staircase import Staircase, staircase


@dataclass(frozen=True)
class Config:
    units: tuple[int, ...] = (14, 70, 234)  # the numbers M of steps
    steepness: tuple[float, ...] = (2.0, 5.0, 10.0, 20.0)  # κΔ: steepness times the length Δ of a step
    rho: float = 7.0  # the Lipschitz constant ρ of every target
    inputs: int = 10  # d, for counting parameters

    def __post_init__(self) -> None:
        require((min(self.units) >= 5, "at least 5 units"), (all(s >= 0.5 for s in self.steepness), "every κΔ is at least ½"))
        require((self.rho >= 1 and self.inputs >= 1, "ρ >= 1 and inputs >= 1"))


@dataclass(frozen=True)
class Sigmoids:
    """a_0 + Σ_{i>=1} a_i σ(κ(x - b_i)): the staircase's first step is a constant on [0, 1], so it becomes the output's bias."""

    stairs: Staircase
    kappa: float

    def __call__(self, x: np.ndarray) -> np.ndarray:
        from scipy.special import expit

        return self.stairs.a[0] + expit(self.kappa * (x[:, None] - self.stairs.b[1:])) @ self.stairs.a[1:]

    def as_tanh(self, x: np.ndarray) -> np.ndarray:
        """The same function with tanh units: σ(z) = (1 + tanh(z/2))/2."""
        return self.stairs.a[0] + (1 + np.tanh(self.kappa / 2 * (x[:, None] - self.stairs.b[1:]))) @ self.stairs.a[1:] / 2

    def sup_error(self, target: Target, rho: float) -> float:
        """Certified. κσ' is a bump of height κ/4 and area 1, seen at spacing Δ: the slope is at most max |a_i| (κ/4 + 1/Δ)."""
        lip = rho + float(np.max(np.abs(self.stairs.a[1:]))) * (self.kappa / 4 + self.stairs.b.size)
        return certified_sup(lambda x: target.g(x) - self(x), lip, 0.0, 1.0, 0.01).high

    def bound(self, step_error: float) -> float:
        """ε_step + max |a_i| + Σ |a_i| σ(-κΔ/2): the staircase, the nearest step, and the tails of all others."""
        jumps = np.abs(self.stairs.a[1:])
        return step_error + float(jumps.max() + jumps.sum() / (1 + math.exp(self.kappa / self.stairs.b.size / 2)))


class SigmoidUat1D(Experiment):
    """Sigmoids in place of the steps of a staircase keep its error, up to one step and the tails.

    For the staircase of M steps of length Δ with jumps a_i, and steepness κ,

        sup |g - Σ a_i σ(κ(x - b_i))| <= ε_step + max |a_i| + (Σ |a_i|) σ(-κΔ/2),        tanh z = 2σ(2z) - 1,

    and κ → ∞ gives the staircase back. With d inputs the net has (d + 2) M parameters in its units. For smooth g a finite κ is best.
    The target must be continuous: at a jump every continuous net errs by half of it.
    """

    lecture = "C, D"
    kinds = ("BOUND",)
    cost = "S"
    source = (
        "Cybenko 1989, https://doi.org/10.1007/BF02551274; Hornik, Stinchcombe and White 1989, https://doi.org/10.1016/0893-6080(89)90020-8"
    )
    assumptions = ("g is ρ-Lipschitz on [0, 1]", "σ is the logistic function (any sigmoid with known tails would do)")
    errata = ("D1",)
    aliases = ("universal approximation theorem in one dimension", "Cybenko's theorem")
    panels = 2
    small = {"units": (14, 70)}

    def measure(self, c: Config, rng: np.random.Generator) -> Iterator[Check]:
        from scipy.special import expit

        z = np.linspace(-40, 40, 20001)
        yield close("tanh z = 2σ(2z) - 1", np.tanh(z), 2 * expit(2 * z) - 1, 1e-15)
        self.targets = [sine(c.rho), Target("ρ|x - ½|", lambda x: c.rho * np.abs(x - 0.5), np.array([0.5]))]
        for target in self.targets:
            for M in c.units:
                stairs = staircase(target.g, M, 0.0)
                step = stairs.sup_error(target)
                nets = [Sigmoids(stairs, s * M) for s in c.steepness]
                name = f"{target.name}, M = {M}, κΔ = {c.steepness[0]:g} … {c.steepness[-1]:g}"
                yield at_most(f"sup error, {name}", [n.sup_error(target, c.rho) for n in nets], [n.bound(step) for n in nets])
        M = c.units[-1]
        stairs, x = staircase(self.targets[0].g, M, 0.0), (np.arange(M) + 0.5) / M
        yield close("κΔ = 200 is the staircase, in the middle of every step", Sigmoids(stairs, 200.0 * M)(x), stairs(x), 1e-12)
        yield close("the same net with tanh units", Sigmoids(stairs, 5.0 * M).as_tanh(x), Sigmoids(stairs, 5.0 * M)(x), 1e-12)
        w, b, a = np.zeros((M, c.inputs)), np.zeros(M), np.zeros(M)
        yield equal(f"parameters of {M} units, d = {c.inputs}", w.size + b.size + a.size, (c.inputs + 2) * M)
        self.kappa = np.logspace(-0.6, 2.2, 15)
        stairs = staircase(self.targets[0].g, c.units[0], 0.0)
        self.step = stairs.sup_error(self.targets[0])
        self.curve = np.array([Sigmoids(stairs, k * c.units[0]).sup_error(self.targets[0], c.rho) for k in self.kappa])
        self.limits = np.array([Sigmoids(stairs, k * c.units[0]).bound(self.step) for k in self.kappa])
        best = int(np.argmin(self.curve))
        yield equal(f"sin, M = {c.units[0]}: the best κ is neither end", 0 < best < self.kappa.size - 1, True)
        yield at_most(f"sin, M = {c.units[0]}: best sigmoids against steps", self.curve[best], self.step)

    def control(self, c: Config, rng: np.random.Generator) -> Iterator[Check]:
        target, M = self.targets[0], c.units[-1]
        flat = Sigmoids(staircase(target.g, M, 0.0), 0.05 * M)
        step = flat.stairs.sup_error(target)
        without = step + float(np.max(np.abs(flat.stairs.a)))
        yield at_most("κΔ = 0.05, the tails left out of the bound", flat.sup_error(target, c.rho), without)
        jump = 0.5037  # of the target, between two knots
        net = Sigmoids(staircase(lambda x: (x >= jump).astype(float), M, 0.0), 20.0 * M)
        value = float(net(np.array([jump]))[0])
        yield printed(at_most(f'"any function": sup error for 1{{x >= {jump}}}, M = {M}', max(abs(value), abs(1 - value)), 0.49), "D1")

    def plot(self, c: Config, axes: "style.Panels") -> None:
        x, M, target = np.linspace(0, 1, 500), c.units[0], self.targets[0]
        stairs = staircase(target.g, M, 0.0)
        axes[0].plot(x, target.g(x), **style.TARGET, label=f"g = {target.name}")
        for i, s in enumerate((1.5, 5.0, 20.0)):
            axes[0].plot(x, Sigmoids(stairs, s * M)(x), **style.CURVE | {"color": style.SERIES[i]}, label=f"κΔ = {s:g}")
        axes[0].set(title=f"{M} sigmoids", xlabel="x", ylabel="value", ylim=(-1.2, 1.9))
        axes[0].legend(ncols=2)
        axes[1].loglog(self.kappa, self.curve, **style.MEASURED, label="sigmoids")
        axes[1].loglog(self.kappa, self.limits, **style.BOUND, label="bound")
        axes[1].axhline(self.step, color=style.ORANGE, linewidth=1.6, label="steps")
        axes[1].set(title=f"{M} units: neither flat nor steep", xlabel="steepness κΔ", ylabel="sup error")
        axes[1].legend()
