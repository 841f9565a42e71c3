from dataclasses import dataclass

from headway.lab.certified import certified_sup
from headway.lab.checks import at_most, because, close, equal, headline, printed
from headway.lab.kit import Checks, Experiment, Generator, Panel, math, np, param
from headway.lab.tools.curves import Curve, Function, bend, sine, step
from headway.lab.tools.nets import RidgeNet, sigmoid
from headway.lab.tools.staircase import Staircase, staircase


@dataclass(frozen=True)
class Soft:
    """A staircase with units φ(κ(x - b_i)) for its steps; the first, a constant on [0, 1], is the output's bias."""

    stairs: Staircase
    kappa: float
    phi: Function = sigmoid

    @property
    def net(self) -> RidgeNet:
        b = self.stairs.b[1:]
        return RidgeNet(self.phi, np.full((b.size, 1), self.kappa), -self.kappa * b, self.stairs.a[1:])

    def __call__(self, x: np.ndarray) -> np.ndarray:
        return self.stairs.a[0] + self.net(x[:, None])

    def sup_error(self, g: Curve, rho: float) -> float:
        """Certified. κσ' is a bump of height κ/4 and area 1, Δ apart: the slope is at most max |a_i| (κ/4 + 1/Δ)."""
        lip = rho + float(np.max(np.abs(self.stairs.a[1:]))) * (self.kappa / 4 + self.stairs.b.size)
        return certified_sup(lambda x: g(x) - self(x), lip, 0.0, 1.0, 0.01).high

    def bound(self, g: Curve) -> float:
        """ε_step + max |a_i| + Σ |a_i| σ(-κΔ/2): the staircase, the nearest step, and the tails of all others."""
        jumps, tail = np.abs(self.stairs.a[1:]), 1 / (1 + math.exp(self.kappa / self.stairs.b.size / 2))
        return self.stairs.sup_error(g) + float(jumps.max() + jumps.sum() * tail)


class SigmoidUat1D(Experiment):
    """Sigmoids in place of the steps of a staircase keep its error, up to one step and the tails.

    For the staircase of M steps of length Δ with jumps a_i, and steepness κ,

        sup |g - Σ a_i σ(κ(x - b_i))| <= ε_step + max |a_i| + (Σ |a_i|) σ(-κΔ/2),        tanh z = 2σ(2z) - 1,

    because all sigmoids but the nearest are on their plateaus, and κ → ∞ gives the staircase back. For smooth g a
    finite κ is best. With d inputs a unit has d weights, a bias and a weight of the output: (d + 2) M parameters.

    Notes: C, D. Source: Cybenko 1989, https://doi.org/10.1007/BF02551274; Hornik, Stinchcombe and White 1989,
    https://doi.org/10.1016/0893-6080(89)90020-8
    Assumes: g is ρ-Lipschitz on [0, 1]; σ rises from 0 to 1, here as the logistic function.
    Also: universal approximation theorem in one dimension; Cybenko's theorem.
    """

    units = param((14, 70, 234), "the numbers M of steps", least=14, most=500, small=(14, 70))
    steepness = param((2.0, 5.0, 10.0, 20.0), "κΔ: steepness times the length Δ of a step", least=0.5, most=100.0)
    rho = param(7.0, "the Lipschitz constant ρ of every target", least=3.0, most=8.0)
    inputs = param(10, "d of the net whose parameters are counted", least=1, most=100)

    def conditions(self) -> list[tuple[bool, str]]:
        return [(list(self.units) == sorted(self.units) and self.units[-1] >= 60, "`units` must increase to 60 or more")]

    def measure(self, rng: Generator) -> Checks:
        from scipy.special import expit

        z, M = np.linspace(-40, 40, 20001), self.units[-1]
        yield close("tanh z = 2σ(2z) - 1, with scipy's σ", np.tanh(z), 2 * expit(2 * z) - 1, 1e-15)
        self.targets, errors, bounds = [sine(self.rho), bend(self.rho, 0.5)], {}, {}
        for g, m in [(g, m) for g in self.targets for m in self.units]:
            nets = [Soft(staircase(g, m), s * m) for s in self.steepness]
            errors[f"{g.name}, M = {m}"] = [net.sup_error(g, self.rho) for net in nets]
            bounds[f"{g.name}, M = {m}"] = [net.bound(g) for net in nets]
        yield headline(at_most("sup |g - f| against the bound", errors, bounds))
        stairs, x = staircase(self.targets[0], M), (np.arange(M) + 0.5) / M
        yield close("κΔ = 200 is the staircase, amid each step", Soft(stairs, 200.0 * M)(x), stairs(x), 1e-12)
        flat, v = Soft(stairs, 5.0 * M), rng.normal(size=self.inputs)
        points, v = rng.random((200, self.inputs)), v / np.abs(v).sum() / 2
        lifted = RidgeNet(sigmoid, flat.net.w * v, flat.net.b + flat.kappa / 2, flat.net.c)  # of <v, x> + ½ in [0, 1]
        values = stairs.a[0] + lifted(points)
        yield close("the same net of a ridge function in d dimensions", values, flat(points @ v + 0.5), 1e-11)
        yield equal(f"parameters of its {M - 1} units: d + 2 each", lifted.parameters, (self.inputs + 2) * (M - 1))
        g, m, self.kappa = self.targets[0], self.units[0], np.logspace(-0.6, 2.2, 15)
        curve = [Soft(staircase(g, m), k * m) for k in self.kappa]
        self.step, self.curve = staircase(g, m).sup_error(g), np.array([net.sup_error(g, self.rho) for net in curve])
        self.limits, best = np.array([net.bound(g) for net in curve]), int(np.argmin(self.curve))
        yield equal(f"{g.name}, M = {m}: the best κ is neither end", 0 < best < self.kappa.size - 1, True)
        yield at_most(f"{g.name}, M = {m}: best sigmoids against steps", self.curve[best], self.step)

    def control(self, rng: Generator) -> Checks:
        g, M, at = self.targets[0], self.units[-1], 0.5037  # a jump between two knots
        bump = Soft(staircase(g, M), 10.0 * M, lambda z: np.exp(-(z**2)))
        x = np.linspace(0, 1, 2001)
        found = float(np.max(np.abs(g(x) - bump(x))))
        check = at_most("units exp(-z²), κΔ = 10: largest error found", found, bump.bound(g))
        yield because("exp(-z²) does not rise from 0 to 1", check)
        value = float(Soft(staircase(step(at), M), 20.0 * M)(np.array([at]))[0])
        check = at_most(f'"any function": sup error for a step, M = {M}', max(abs(value), abs(1 - value)), 0.49)
        yield printed(check, "D1")

    def resolution(self, rng: Generator) -> Checks:
        net = Soft(staircase(self.targets[0], self.units[-1]), 0.05 * self.units[-1])
        without = net.stairs.sup_error(self.targets[0]) + float(np.max(np.abs(net.stairs.a)))
        yield at_most("κΔ = 0.05, the bound without the tails", net.sup_error(self.targets[0], self.rho), without)

    def plots(self) -> list[Panel]:
        x, M, g = np.linspace(0, 1, 500), self.units[0], self.targets[0]
        left = Panel(f"{M} sigmoids, flat and steep", "x", "value").target(x, g(x), g.name)
        left.curve(x, {f"κΔ = {s:g}": Soft(staircase(g, M), s * M)(x) for s in (1.5, 5.0, 20.0)})
        right = Panel(f"{M} units: neither flat nor steep is best", "steepness κΔ", "sup |g - f|", log="xy")
        right.series(self.kappa, self.curve, "sigmoids").bound(self.kappa, self.limits, "bound")
        return [left, right.curve(self.kappa, np.full(self.kappa.size, self.step), "steps")]
