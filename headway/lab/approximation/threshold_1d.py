from headway.lab.kit import Checks, Experiment, Generator, Panel, at_least, at_most, because, close, headline, np, param, table
from headway.lab.tools.curves import bend, line, sine, zigzag
from headway.lab.tools.staircase import random_staircase, staircase, units_for

PUBLISHED = {0.5: 0.4945, 0.1: 0.0999, 0.03: 0.0299}  # sup error for sin 7x, by ε


class Threshold1D(Experiment):
    """A Lipschitz function on [0, 1] is a staircase of ⌈ρ/ε⌉ threshold units, up to ε.

    For |g(x) - g(y)| <= ρ|x - y| and m = ⌈ρ/ε⌉ units at b_i = i/m,

        f(x) = Σ_{i<m} a_i 1{x >= b_i},   a_0 = g(0),   a_i = g(b_i) - g(b_{i-1}),      sup |f - g| <= ε.

    Values from the middle of each step need only ⌈ρ/(2ε)⌉ units. That is optimal: for g = ρx a step of length ℓ errs by at least ρℓ/2.

    Notes: A. Source: Telgarsky, Deep Learning Theory lecture notes, ch. 2, https://mjt.cs.illinois.edu/dlt/
    Assumes: g is ρ-Lipschitz on [0, 1]. Also: threshold units in one dimension; staircase approximation.
    """

    epsilons = param((0.5, 0.1, 0.03, 0.01), "the errors ε to reach", least=1e-3, most=1.0, small=(0.5, 0.1))
    rho = param(7.0, "the Lipschitz constant ρ of every target", least=2.1, most=1000.0)
    knots = param(12, "of the random piecewise-linear target", least=2, most=1000)

    def measure(self, rng: Generator) -> Checks:
        e, g = np.array(self.epsilons), line(self.rho)
        self.targets = [sine(self.rho), bend(self.rho, 0.5), zigzag(self.rho, self.knots, rng), g]
        self.steep = sine(3 * self.rho)
        self.m, self.half = units_for(self.rho, e), units_for(self.rho, 2 * e)
        rounding = 2.0**-52 * max(self.m) ** 2  # of m additions of values up to ρ, as a share of ρ/m
        self.errors = {g.name: np.array([staircase(g, m).sup_error(g) for m in self.m]) for g in self.targets}
        self.middles = {g.name: np.array([staircase(g, m, 0.5).sup_error(g) for m in self.half]) for g in self.targets}
        yield headline(at_most("sup |f - g| with ⌈ρ/ε⌉ units", self.errors, e, rounding))
        yield at_most("from the middles, with half as many", self.middles, e, rounding)
        if self.rho == 7:
            found = dict(zip(self.epsilons, self.errors["sin 7x"], strict=True))
            yield from table(PUBLISHED, found, 1e-4, "sin 7x, ε = {:g}")
        yield close("ρx: the error over ρ/m", self.errors["ρx"] * self.m / self.rho, 1.0, rounding)
        yield close("ρx: from the middles, over ρ/(2m)", self.middles["ρx"] * 2 * self.half / self.rho, 1.0, rounding)
        m = int(self.m[0])
        rivals = [random_staircase(g, m, rng).sup_error(g) for _ in range(200)]
        yield at_least(f"ρx: any other staircase of {m} steps errs by ρ/(2m)", rivals, self.rho / (2 * m))

    def control(self, rng: Generator) -> Checks:
        e, g, steep, m = self.epsilons[-1], line(self.rho), self.steep, int(self.m[-1])
        few = int(self.half[-1]) - 1
        error = staircase(g, few, 0.5).sup_error(g)
        yield because("a step is too wide", at_most(f"ρx from the middles of {few} steps, one too few", error, e))
        yield because("it is not ρ-Lipschitz", at_most(f"{steep.name}, {m} units", staircase(steep, m).sup_error(steep), e))

    def plots(self) -> list[Panel]:
        g, x, m = self.targets[0], np.linspace(0, 1, 600), int(self.m[0])
        left = Panel("A staircase", "x", "value").target(x, g(x), f"g = {g.name}")
        left.curve(x, staircase(g, m)(x), f"{m} threshold units")
        right = Panel("The error falls like 1/m", "threshold units m", "sup |f - g|", log="xy")
        right.bound(self.m, self.rho / self.m, "bound ρ/m").series(self.m, self.errors[g.name], "left ends")
        right.series(self.half, self.middles[g.name], "middles")
        wrong = [staircase(self.steep, n).sup_error(self.steep) for n in self.m]
        return [left, right.control(self.m, wrong, self.steep.name)]
