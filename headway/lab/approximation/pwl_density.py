from headway.lab.kit import Checks, Experiment, Generator, Panel, at_least, at_most, because, close, equal, headline, math, np, param, slope
from headway.lab.pwl1d import pwl1d, sup_distance
from headway.lab.tools.curves import bend, power, root, sine, step
from headway.lab.tools.line_fits import best_at_random_knots
from headway.lab.tools.nets import interpolant, through

SINE, SQUARE, KINK, ROOT, STEP = sine(7), power(2), bend(1, 1 / math.pi), root(), step(1 / math.pi)
LAWS = {SINE: (49 / 8, 2), SQUARE: (1 / 4, 2), KINK: (1 / 2, 1), ROOT: (1 / 4, 0.5)}  # c and p of the bound c h^p


class PwlDensity(Experiment):
    """Piecewise-linear interpolation converges for every continuous function, as fast as the function is smooth.

    Interpolation at m + 1 equidistant knots, step h = 1/m, m ReLUs on [0, 1]:

        sup |f - f_h| <= ω_f(h)                 f continuous
                      <= ρ h / 2                f ρ-Lipschitz
                      <= (h²/8) max |f''|       f twice differentiable, with equality for x² (h²/4)
        sup |√x - f_h| = √h / 4                 slower than for a Lipschitz function

    Not interpolating is better by a factor of two: the best m pieces err by h²/8 for x², since one of them is as long as h, and a line
    errs by at least ℓ²/8 on a piece of length ℓ.

    Notes: C. Source: de Boor 2001, A Practical Guide to Splines, ch. III
    Assumes: f is continuous on [0, 1]; the knots are equidistant; f is ρ-Lipschitz or twice differentiable for the faster rates.
    Deviates: the error for |x - 1/π| is 2θ(1-θ)h, θ the fractional part of m/π, so its slope is that of the worst of m … 1.5 m.
    Also: piecewise linear functions are dense; linear spline interpolation error.
    """

    pieces = param((8, 16, 32, 64, 128, 256, 512), "m, h = 1/m", least=2, most=2048, count=4, small=(8, 16, 32, 64))
    rivals = param(20, "random sets of knots for the lower bound", least=5, most=500, small=8)

    def conditions(self) -> list[tuple[bool, str]]:
        return [(all(m & (m - 1) == 0 for m in self.pieces), "every m must be a power of two, so that x² is exact")]

    def measure(self, rng: Generator) -> Checks:
        m, h = np.array(self.pieces), 1 / np.array(self.pieces)
        functions = {g.name: [through(g, k) for k in self.pieces] for g in LAWS}
        self.errors = {g.name: np.array([g.sup_error(f) for f in functions[g.name]]) for g in LAWS}
        self.laws = {g.name: c * h**p for g, (c, p) in LAWS.items()}
        yield headline(at_most("sup |f - f_h| against the law of each f", self.errors, self.laws, rounding=1e-12))
        yield at_most("sup |f - f_h| against ω(h)", self.errors, {g.name: g.modulus(h) for g in LAWS})
        nets = [interpolant(g, np.arange(m[-1] + 1) / m[-1]) for g in LAWS]
        yield equal("ReLUs are m", [net.nodes for net in nets], m[-1])
        gaps = [sup_distance(pwl1d(net), functions[g.name][-1]) for g, net in zip(LAWS, nets, strict=True)]
        yield close("sup |net - f_h|", gaps, 0.0, 1e-11)
        yield equal("x²: sup error is h²/4, bit for bit", self.errors["x²"], h * h / 4)
        yield close("√x: sup error over √h/4", self.errors["√x"] / self.laws["√x"], 1.0, 1e-9)
        self.best = np.array([SQUARE.sup_error(through(SQUARE, k, 1 / (8 * k * k))) for k in self.pieces])
        yield equal("x²: lowered by h²/8 the error is h²/8, bit for bit", self.best, h * h / 8)
        found = [best_at_random_knots(SQUARE, 8, rng) for _ in range(self.rivals)]
        yield at_least("x²: the best 8 pieces at random knots err by h²/8", found, 1 / 512)
        near = [range(k, max(k + 1, 3 * k // 2), max(1, k // 16)) for k in self.pieces]
        self.errors[KINK.name] = np.array([max(KINK.sup_error(through(KINK, k)) for k in ks) for ks in near])
        for g in (SINE, KINK):
            yield slope(f"{g.name}: error in m", m, self.errors[g.name], -LAWS[g][1], 0.1)

    def control(self, rng: Generator) -> Checks:
        m, wide = self.pieces[-1], slope("√x: error in m", self.pieces, self.errors["√x"], -2, 0.1)
        yield because("√x has no second derivative at 0", wide)
        error = STEP.sup_error(through(STEP, m))
        yield because("a step is not continuous", at_most(f"step at 1/π, {m = }: sup error", error, 0.25))

    def resolution(self, rng: Generator) -> Checks:
        yield at_most("x²: the interpolant itself against h²/8", self.errors["x²"], self.best)

    def plots(self) -> list[Panel]:
        x, m = np.linspace(0, 1, 801), self.pieces
        left = Panel("Four pieces through √x", "x", "value").target(x, ROOT(x), "√x")
        right = Panel("The smoother, the faster", "pieces m", "sup |f - fₕ| (dashed: bound)", log="xy")
        for g, (_, p) in LAWS.items():
            right.series(m, self.errors[g.name], f"{g.name}, slope {-p:g}").bound(m, self.laws[g.name])
        return [left.curve(x, through(ROOT, 4)(x), "4 pieces"), right.series(m, self.best, "x², best pieces")]
