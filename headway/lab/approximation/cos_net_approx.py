from headway.lab.certified import certified_sup
from headway.lab.kit import Checks, Experiment, Generator, Panel, at_most, because, close, equal, headline, np, param, published, slope
from headway.lab.tools.curves import Curve, bend, root
from headway.lab.tools.fejer import bend_coefficients, circle_net, cosine_net, fejer, root_coefficients, sharp, square_wave
from headway.lab.tools.nets import RidgeNet

CENTRE, GIBBS = 0.3, 0.0894898722  # overshoot (1/π) ∫_0^π sin(t)/t dt - 1/2, of the jump
BEND, ROOT = bend(1, CENTRE), root()
COEFFICIENTS = {BEND: lambda n: bend_coefficients(CENTRE, n), ROOT: root_coefficients}


def sup_error(f: Curve, net: RidgeNet) -> float:
    """Certified. σ_n f is as Lipschitz as f; √x is taken in s = √x, where its slope is at most 2 Σ |a_k| kπ."""
    if f is BEND:
        return certified_sup(lambda x: net(x[:, None]) - f(x), 2.0, 0, 1, rtol=0.02).high
    steepest = 2 * float(np.sum(np.abs(net.c) * net.w[:, 0])) + 1
    return certified_sup(lambda s: net((s * s)[:, None]) - s, steepest, 0, 1, rtol=0.2).high


class CosNetApprox(Experiment):
    """Fejér's means, which are nets of cosines, converge uniformly to every continuous periodic function.

        σ_n f = Σ_{|k|<=n} (1 - |k|/(n+1)) f_k e^{ikx},      2n + 1 units

        sup |σ_n f - f| <= ρ σ_n|t|(0) <= π ρ (½ + ln(n+1)) / (n+1)      f ρ-Lipschitz of period 2π; |t| attains the first

    A function on [0, 1] is reflected at 0 to an even one of period 2: n + 1 cosines cos kπx suffice, ρ becomes ρ/π, and √x has the bound
    (8/3) / √(n+1). Partial sums overshoot a step by 8.95 % of the jump (Gibbs); Fejér's means never do, since their kernel is positive.

    Notes: A. Source: Fejér 1903, https://doi.org/10.1007/BF01447779; Zygmund 1959, Trigonometric Series, ch. III
    Assumes: f is continuous and periodic, or reflected to be so; f is Lipschitz for the rate.
    Deviates: the slope is that of the error over ½ + ln(n+1): because of the logarithm even the sharp bound has only -0.79.
    Also: Fejér means; trigonometric approximation; Gibbs phenomenon.
    """

    orders = param((4, 8, 16, 32, 64, 128, 256), "n", least=2, most=512, count=4, small=(4, 8, 16, 32))
    jump = param(255, "odd order n of the sums for the step", least=31, most=511, small=63)

    def conditions(self) -> list[tuple[bool, str]]:
        return [(self.jump % 2 == 1, "`jump` must be odd")]

    def measure(self, rng: Generator) -> Checks:
        n, sharpest, law = np.array(self.orders), [sharp(k) for k in self.orders], 0.5 + np.log1p(self.orders)
        nets = {f: [cosine_net(fejer(a(k))) for k in self.orders] for f, a in COEFFICIENTS.items()}
        self.errors = {f.name: np.array([sup_error(f, net) for net in made]) for f, made in nets.items()}
        self.bounds = {BEND.name: law / (n + 1), ROOT.name: 8 / 3 / np.sqrt(n + 1)}
        bend = self.errors[BEND.name]
        yield headline(at_most("sup |σ_n f - f| against the bound", self.errors, self.bounds))
        yield at_most("|x - 0.3|: against the sharp bound σ_n|t|(0) / π", bend, np.array(sharpest) / np.pi)
        yield at_most("the sharp bound against π(½ + ln(n+1)) / (n+1)", sharpest, np.pi * law / (n + 1))
        yield at_most("each error over the one before", {f: e[1:] / e[:-1] for f, e in self.errors.items()}, 1.0, kind="EXACT")
        yield slope("|x - 0.3|: error over ½ + ln(n+1), in n", n, bend / law, -1, 0.1)
        waves = [circle_net(CENTRE, k) for k in self.orders]
        units = [[f.c.size, g.c.size] for f, g in zip(nets[ROOT], waves, strict=True)]
        yield equal("units: n + 1 cosines, 2n + 1 on the circle", units, np.stack([n + 1, 2 * n + 1], axis=1))
        kinks = [float(net(np.array([CENTRE]))) for net in waves]
        yield close("distance on the circle: error at its kink is sharp", kinks, sharpest)
        top = np.pi / (self.jump + 1)  # the first maximum: the slope is sin((n+1)x) / sin x up to a factor
        self.over = (float(np.sin(np.arange(self.jump + 1) * top) @ square_wave(self.jump)) - 1) / 2
        yield published(f"step, partial sum of order {self.jump}: overshoot (Gibbs)", self.over, GIBBS, 1e-3)
        mean, m = fejer(square_wave(63)), np.arange(64)
        high = certified_sup(lambda s: np.sin(s[:, None] * m) @ mean, 64 / np.pi, 0, np.pi, rtol=2e-3).high
        yield at_most("step, Fejér's mean of order 63: certified maximum", high, 1.0)

    def control(self, rng: Generator) -> Checks:
        yield because("its kernel is not positive", at_most("step: maximum of the partial sum", 1 + 2 * self.over, 1.0))
        k = np.arange(1, self.orders[-1] + 1)
        mean = 0.5 - fejer(np.append(0.0, 1 / (np.pi * k)))[1:] @ np.sin(2e-9 * np.pi * k)  # of x with period 1, at 1e-9
        check = at_most(f"x with period 1, n = {k[-1]}: error next to 0", mean - 1e-9, self.bounds[BEND.name][-1])
        yield because("without reflection it jumps from 1 to 0", check)

    def plots(self) -> list[Panel]:
        x, b = np.linspace(-1, 2, 1200), square_wave(31)
        waves = np.sin(x[:, None] * np.arange(32))
        left = Panel("Fejér's mean never overshoots", "x", "value, n = 31").target(x, np.sign(np.sin(x)), "step")
        left.control(x, waves @ b, "partial sum").curve(x, waves @ fejer(b), "Fejér's mean")
        right = Panel("The means converge uniformly", "order n", "sup |σₙ f - f|", log="xy")
        for name, errors in self.errors.items():
            right.series(self.orders, errors, name).bound(self.orders, self.bounds[name], f"bound, {name}")
        return [left, right]
