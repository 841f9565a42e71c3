from headway.lab.kit import Checks, Experiment, Generator, Panel, at_most, because, close, equal, headline, np, param, printed
from headway.lab.pwl1d import pwl1d
from headway.lab.relu_net import ReluNet
from headway.lab.tools.curves import bend, cantor, root, sine, step
from headway.lab.tools.ramps import around_knots, bumps, ramps, shared, sup_error

TARGETS = (sine(7), bend(1, 0.3), root(), cantor())


class ReluBump(Experiment):
    """Two ReLUs make a ramp, two ramps a bump, and a sum of bumps approximates every continuous function on [0, 1].

        g_a(x) = relu((x - a)/δ),     h_a = g_a - g_{a+δ},     I_{a,b} = h_a - h_b = 1 on [a+δ, b],  0 outside [a, b+δ]

    With knots t_k = k/K, ramps that start at s_k = t_k - δ/2 (0 < k < K) and, outside of [0, 1], at -δ and 1,

        F = Σ_{k<K} f(t_k) I_{s_k, s_{k+1}},      sup |F - f| <= ω_f(1/K + δ),

    with the modulus of continuity ω_f: F(x) lies between values of f at knots that near. 4K ReLUs, or 2K + 2 when ramps are shared.

    Notes: E. Source: Barak, CS229br Foundations of Deep Learning, https://boazbk.github.io/mltheoryseminar/cs229br
    Assumes: f is continuous on [0, 1]; 0 < δ < 1/K; the first and the last ramp lie outside of [0, 1].
    Also: proof by picture; bump function from ReLUs; indicator from four ReLUs.
    """

    delta = param(0.05, "width δ of the ramps of the single bump", least=0.01, most=0.2)
    a = param(0.3, "where the single bump starts to rise", least=0.1, most=0.4)
    b = param(0.7, "where it starts to fall", least=0.61, most=0.79)
    bumps = param((8, 16, 32, 64, 128, 256, 512), "K of the sums, δ = 1/(10K)", least=8, most=1024, small=(8, 16, 32))

    def measure(self, rng: Generator) -> Checks:
        a, b, d, K = self.a, self.b, self.delta, np.array(self.bumps)
        self.bump = ramps(np.array([a, b]), np.array([1.0, -1.0]), d)
        shape, kinks = pwl1d(self.bump).simplified(), [[a, a + d, b, b + d], [0, 1, 1, 0]]
        yield close("kinks of I at a, a+δ, b, b+δ, with values 0, 1, 1, 0", [shape.knots, shape.values], kinks, 1e-12)
        self.wrong = ReluNet((([[1 / d]] * 2, [-a, -a - d]), ([[1.0, -1.0]], [0.0])))  # relu(x/δ - a) - …
        yield close("as printed, the ramp has the height δ", self.wrong.at(50.0), d, 1e-12)
        at = [(around_knots(k, 0.1 / k), 0.1 / k) for k in self.bumps]
        long, self.nets = ({f.name: [make(f, *p) for p in at] for f in TARGETS} for make in (bumps, shared))
        nodes = [[net.nodes for net in nets["√x"]] for nets in (long, self.nets)]
        yield equal("ReLUs are 4K, or 2K + 2 when ramps are shared", nodes, np.stack([4 * K, 2 * K + 2]))
        x, rounding = rng.random(50), 160 * 2.0**-52 * K[-1] ** 2  # of 4K units, each of size 10K
        short, full = ([net.at(x) for made in nets.values() for net in made] for nets in (self.nets, long))
        yield close("sharing ramps does not change the function", short, full, rounding)
        errors = {f.name: [sup_error(n, f, *p) for n, p in zip(self.nets[f.name], at, strict=True)] for f in TARGETS}
        yield headline(at_most("sup |F - f| against ω(1/K + δ)", errors, [f.modulus(1.1 / K) for f in TARGETS]))

    def control(self, rng: Generator) -> Checks:
        yield printed(close("height of the ramp as printed", self.wrong.at(50.0), 1.0), "E1")
        yield printed(close("first kink of the ramp as printed", pwl1d(self.wrong).simplified().knots[0], self.a), "E1")
        K, f, jump = self.bumps[-1], TARGETS[1], step(1 / np.pi)
        inside = abs(bumps(f, np.arange(K + 1) / K - 0.05 / K, 0.1 / K).at(0.0) - 0.3)
        yield because("the first ramp is at half height at 0", at_most(f"{f.name}, {K = }: error at 0", inside, 1.1 / K))
        error = np.max(np.abs(shared(jump, around_knots(K, 0.1 / K), 0.1 / K).at(jump.turns) - jump(jump.turns)))
        yield because("a step is not continuous", at_most(f"step at 1/π, K = {K}: error at the jump", error, 0.25))

    def plots(self) -> list[Panel]:
        x, f, a, d = np.linspace(0, 1, 1001), TARGETS[0], self.a, self.delta
        titles = ("Two ReLUs", "Their difference is a ramp", "Two ramps make a bump", "Bumps add up")
        relus, ramp, bump, total = (Panel(title, "x", "value") for title in titles)
        relus.curve(x, {"starts at a": np.maximum(x - a, 0) / d, "starts at a + δ": np.maximum(x - a - d, 0) / d})
        ramp.curve(x, ramps(np.array([a]), np.ones(1), d).at(x), "ramp").control(x, self.wrong.at(x), "as printed")
        total.target(x, f(x), f.name).curve(x, self.nets[f.name][0].at(x), f"{self.bumps[0]} bumps")
        return [relus, ramp, bump.curve(x, self.bump.at(x), "bump"), total]
