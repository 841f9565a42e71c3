from headway.lab.kit import Checks, Experiment, Generator, Panel, at_most, because, close, equal, headline, np, param, printed
from headway.lab.tools.curves import bend, sine, step
from headway.lab.tools.nets import RidgeNet, sigmoid
from headway.lab.tools.staircase import SoftStaircase, staircase


class SigmoidUat1D(Experiment):
    """Sigmoids in place of the steps of a staircase keep its error, up to one step and the tails.

    For the staircase of M steps of length Δ with jumps a_i, and steepness κ,

        sup |g - Σ a_i σ(κ(x - b_i))| <= ε_step + max |a_i| + (Σ |a_i|) σ(-κΔ/2),        tanh z = 2σ(2z) - 1,

    because all sigmoids but the nearest are on their plateaus, and κ → ∞ gives the staircase back. For smooth g a
    finite κ is best. With d inputs a unit has d weights, a bias and a weight of the output: (d + 2) M parameters.

    Notes: C, D. Source: Cybenko 1989, https://doi.org/10.1007/BF02551274; Hornik et al. 1989, https://doi.org/10.1016/0893-6080(89)90020-8
    Assumes: g is ρ-Lipschitz on [0, 1]; σ rises from 0 to 1. Also: universal approximation theorem in one dimension; Cybenko's theorem.
    """

    units = param((14, 70, 234), "the numbers M of steps", least=14, most=500, small=(14, 70))
    steepness = param((2.0, 5.0, 10.0, 20.0), "κΔ: steepness times the length Δ of a step", least=0.5, most=100.0)
    rho = param(7.0, "the Lipschitz constant ρ of every target", least=3.0, most=8.0)
    inputs = param(10, "d of the net whose parameters are counted", least=1, most=100)

    def conditions(self) -> list[tuple[bool, str]]:
        return [(self.units[-1] >= 60, "`units` must reach 60 or more")]

    def measure(self, rng: Generator) -> Checks:
        from scipy.special import expit

        z, M, m, errors, bounds = np.linspace(-40, 40, 20001), self.units[-1], self.units[0], {}, {}
        yield close("tanh z = 2σ(2z) - 1, with scipy's σ", np.tanh(z), 2 * expit(2 * z) - 1, 1e-15)
        self.targets = [sine(self.rho), bend(self.rho, 0.5)]
        for g, k in [(g, k) for g in self.targets for k in self.units]:
            nets = [SoftStaircase(staircase(g, k), s * k) for s in self.steepness]
            errors[f"{g.name}, M = {k}"] = [net.sup_error(g, self.rho) for net in nets]
            bounds[f"{g.name}, M = {k}"] = [net.bound(g) for net in nets]
        yield headline(at_most("sup |g - f| against the bound", errors, bounds))
        g, x = self.targets[0], (np.arange(M) + 0.5) / M
        steep, soft = (SoftStaircase(staircase(g, M), s * M) for s in (200.0, 5.0))
        yield close("κΔ = 200 is the staircase, amid each step", steep(x), steep.stairs(x), 1e-12)
        v, points = rng.normal(size=self.inputs), rng.random((200, self.inputs))
        v /= 2 * np.abs(v).sum()
        lifted = RidgeNet(sigmoid, soft.net.w * v, soft.net.b + soft.kappa / 2, soft.net.c)  # of <v, x> + ½ in [0, 1]
        gaps = soft.stairs.a[0] + lifted(points) - soft(points @ v + 0.5)
        yield close("the same net of a ridge function in d dimensions", gaps, 0.0, 1e-11)
        yield equal(f"parameters of its {M - 1} units: d + 2 each", lifted.parameters, (self.inputs + 2) * (M - 1))
        self.kappa, self.step = np.logspace(-0.6, 2.2, 15), staircase(g, m).sup_error(g)
        nets = [SoftStaircase(staircase(g, m), k * m) for k in self.kappa]
        self.curve, self.limits = [net.sup_error(g, self.rho) for net in nets], [net.bound(g) for net in nets]
        best = int(np.argmin(self.curve))
        yield equal(f"{g.name}, M = {m}: the best κ is neither end", 0 < best < self.kappa.size - 1, True)
        yield at_most(f"{g.name}, M = {m}: best sigmoids against steps", self.curve[best], self.step)

    def control(self, rng: Generator) -> Checks:
        g, M, x, at = self.targets[0], self.units[-1], np.linspace(0, 1, 2001), 0.5037  # a jump between two knots
        bump = SoftStaircase(staircase(g, M), 10.0 * M, lambda z: np.exp(-(z**2)))
        check = at_most("units exp(-z²), κΔ = 10: largest error found", np.max(np.abs(g(x) - bump(x))), bump.bound(g))
        yield because("exp(-z²) does not rise from 0 to 1", check)
        error = 0.5 + abs(SoftStaircase(staircase(step(at), M), 20.0 * M)(np.array([at]))[0] - 0.5)
        yield printed(at_most(f'"any function": sup error for a step, {M = }', error, 0.49), "D1")

    def resolution(self, rng: Generator) -> Checks:
        g, M = self.targets[0], self.units[-1]
        net = SoftStaircase(staircase(g, M), 0.05 * M)
        without = net.stairs.sup_error(g) + float(np.max(np.abs(net.stairs.a)))
        yield at_most("κΔ = 0.05, the bound without the tails", net.sup_error(g, self.rho), without)

    def plots(self) -> list[Panel]:
        x, M, g = np.linspace(0, 1, 500), self.units[0], self.targets[0]
        left = Panel(f"{M} sigmoids, flat and steep", "x", "value").target(x, g(x), g.name)
        left.curve(x, {f"κΔ = {s:g}": SoftStaircase(staircase(g, M), s * M)(x) for s in (1.5, 5.0, 20.0)})
        right = Panel("Neither flat nor steep is best", "steepness κΔ", f"sup |g - f|, {M} units", log="xy")
        right.series(self.kappa, self.curve, "sigmoids").bound(self.kappa, self.limits, "bound")
        return [left, right.curve(self.kappa, np.full(self.kappa.size, self.step), "steps")]
