"""A cosine unit as a sum of threshold units, whatever its frequency."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from headway.core.config import require
from headway.lab import style
from headway.lab.certified import certified_sup
from headway.lab.checks import Check, at_most, equal, printed
from headway.lab.old import Experiment
from headway.lab.tools.curves import Curve as Target
from headway.lab.tools.staircase import Staircase, staircase


@dataclass(frozen=True)
class Config:
    norms: tuple[float, ...] = (0.1, 1.0, 10.0, 100.0)  # the lengths ‖w‖ of the frequency
    constants: tuple[float, ...] = (0.5, 2.0, 8.0)  # the Barron constants C
    epsilons: tuple[float, ...] = (0.1, 0.01)  # the errors ε to reach
    phases: int = 4  # phases b: π/2, where the cosine is steepest at 0, and random ones

    def __post_init__(self) -> None:
        require((all(w > 0 for w in self.norms), "every ‖w‖ > 0"), (all(C > 1e-3 for C in self.constants), "every C > 0.001"))
        require((all(0 < e < 0.5 for e in self.epsilons), "every ε is between 0 and ½"), (self.phases >= 1, "phases >= 1"))


def unit(C: float, norm: float, b: float) -> Target:
    """h(y) = (C/‖w‖) (cos(b + ‖w‖y) - cos b), with u = (y + 1)/2 from [0, 1] in place of y from [-1, 1]; it turns where the sine is 0."""
    k = np.arange(math.ceil((b - norm) / math.pi), math.floor((b + norm) / math.pi) + 1)
    turns = ((k * math.pi - b) / norm + 1) / 2
    return Target(f"‖w‖ = {norm:g}", lambda u: C / norm * (np.cos(b + norm * (2 * u - 1)) - math.cos(b)), turns)


def sigmoids(stairs: Staircase, kappa: float, u: np.ndarray) -> np.ndarray:
    """Every threshold 1{u >= b_i} becomes a sigmoid of steepness κ; the first unit, a constant on [0, 1], moves one step to the left."""
    from scipy.special import expit

    b = stairs.b.copy()
    b[0] = -1 / b.size
    return expit(kappa * (u[:, None] - b)) @ stairs.a


def smooth_error(target: Target, C: float, m: int, epsilon: float) -> float:
    """A certified sup |h - Σ a_i σ(κ(u - b_i))| with κ such that the tails of all units, at most 3C σ(-κ/2m), weigh no more than ε.

    Slope of the sum: at most max |a_i| (κ/4 + m) inside, because κσ' is a bump of height κ/4 and area 1 seen at spacing 1/m.
    """
    stairs, kappa = staircase(target.g, m, 0.5), 2 * m * math.log(3 * C / epsilon)
    lip = 2 * C + float(np.max(np.abs(stairs.a[1:]), initial=0.0)) * (kappa / 4 + m) + abs(stairs.a[0]) * kappa * math.exp(-kappa / m)
    return certified_sup(lambda u: target.g(u) - sigmoids(stairs, kappa, u), lip, 0.0, 1.0, 0.05).high


class BarronCosSigmoid(Experiment):
    """One cosine unit of Barron's net is ⌈C/ε⌉ threshold units up to ε, for every frequency.

    On [-1, 1] the unit

        h_w(y) = (C/‖w‖) (cos(b + ‖w‖y) - cos b)

    is C-Lipschitz and at most C, so a staircase with values from the middles of ⌈C/ε⌉ steps errs by at most ε, and sigmoids in place of
    the steps by at most 2ε. The number of units depends on C and ε, not on ‖w‖. Near a step the sigmoid mixes two levels that are both
    within ε of h, so only the tails, Σ|a_i| σ(-κΔ/2) with steps of length Δ, are added: κ = (2/Δ) log(3C/ε) makes them at most ε.
    """

    lecture = "A"
    kinds = ("BOUND",)
    cost = "S"
    source = "Barron 1993, https://doi.org/10.1109/18.256500; Telgarsky, Deep Learning Theory lecture notes, ch. 3"
    assumptions = ("‖x‖ <= 1, so that y = <w,x>/‖w‖ is in [-1, 1]", "the unit is divided by ‖w‖")
    errata = ("A8",)
    aliases = ("Barron's theorem, step 3", "cosine as sigmoids")
    panels = 2
    small = {"epsilons": (0.1,), "phases": 2}

    def measure(self, c: Config, rng: np.random.Generator) -> Iterator[Check]:
        self.b = np.append(math.pi / 2, rng.uniform(0, 2 * math.pi, c.phases - 1))
        u = np.linspace(0, 1, 4001)
        sizes, slopes = [], []
        for C in c.constants:
            for target in (unit(C, w, b) for w in c.norms for b in self.b):
                ends = target.g(np.concatenate([u, target.turns[(target.turns >= 0) & (target.turns <= 1)]]))
                sizes.append(np.max(np.abs(ends)) / C)
                slopes.append(np.max(np.abs(np.diff(target.g(u)))) / (u[1] * 2 * C))
        yield at_most("|h_w| / C on [-1, 1]", sizes, 1.0)
        yield at_most("slope of h_w / C, chords", slopes, 1.0, rounding=1e-9, kind="EXACT")
        for C in c.constants:
            for e in c.epsilons:
                m = math.ceil(C / e - 1e-9)
                errors = [staircase(t.g, m, 0.5).sup_error(t) for t in (unit(C, w, b) for w in c.norms for b in self.b)]
                yield equal(f"threshold units, C = {C:g}, ε = {e:g}", staircase(unit(C, 1, 0).g, m, 0.5).b.size, m)
                yield at_most(f"sup error, C = {C:g}, ε = {e:g}, {m} units, every ‖w‖", errors, e, rounding=1e-12)
        for C in c.constants:
            e = c.epsilons[0]
            smooth = [smooth_error(unit(C, w, self.b[0]), C, math.ceil(C / e - 1e-9), e) for w in c.norms]
            yield at_most(f"sigmoids: sup error <= 2ε, C = {C:g}, ε = {e:g}, every ‖w‖", smooth, 2 * e)
        e, C, w = c.epsilons[-1], c.constants[-1], c.norms[-1]
        smoothest = smooth_error(unit(C, w, self.b[0]), C, math.ceil(C / e - 1e-9), e)
        yield at_most(f"sigmoids: C = {C:g}, ε = {e:g}, ‖w‖ = {w:g}", smoothest, 2 * e)
        self.m = np.unique(np.logspace(0.7, 3, 14).astype(int))
        targets = {w: unit(2.0, w, self.b[0]) for w in c.norms}
        self.curves = {w: [staircase(t.g, int(m), 0.5).sup_error(t) for m in self.m] for w, t in targets.items()}
        yield at_most("sup error <= C/m, m = 5 … 1000, C = 2", np.array(list(self.curves.values())), 2 / self.m, rounding=1e-12)

    def control(self, c: Config, rng: np.random.Generator) -> Iterator[Check]:
        C, e = max(*c.constants, 8.0), c.epsilons[-1]
        target = unit(C, 1.0, math.pi / 2)
        m = math.ceil(1 / e - 1e-9)
        yield printed(at_most(f"⌈1/ε⌉ = {m} units, without C = {C:g}", staircase(target.g, m, 0.5).sup_error(target), e), "A8")
        fast, m = unit(100 * C, 100.0, math.pi / 2), math.ceil(C / e - 1e-9)  # C cos(100 y + b): not divided by ‖w‖
        yield at_most(f"not divided by ‖w‖ = 100, {m} units", staircase(fast.g, m, 0.5).sup_error(fast), e)

    def plot(self, c: Config, axes: "style.Panels") -> None:
        u, target = np.linspace(0, 1, 500), unit(2.0, 10.0, self.b[0])
        stairs = staircase(target.g, 20, 0.5)
        axes[0].plot(2 * u - 1, target.g(u), **style.TARGET, label="h, C = 2, ‖w‖ = 10")
        axes[0].plot(2 * u - 1, stairs(u), **style.CURVE, label="20 thresholds")
        axes[0].plot(2 * u - 1, sigmoids(stairs, 40 * math.log(60), u), **style.CURVE | {"color": style.ORANGE}, label="20 sigmoids")
        axes[0].set(title="One cosine unit", xlabel="y = <w,x>/‖w‖", ylabel="h(y)", ylim=(-0.3, 0.45), xticks=[-1, -0.5, 0, 0.5, 1])
        for i, (w, errors) in enumerate(self.curves.items()):
            axes[1].loglog(self.m, errors, **style.series(i), label=f"‖w‖ = {w:g}")
        axes[1].loglog(self.m, 2 / self.m, **style.BOUND, label="C/m")
        axes[1].set(title="The frequency does not matter (C = 2)", xlabel="threshold units m", ylabel="sup error")
        for panel in axes:
            panel.legend()
