from headway.lab.checks import at_most, because, close, equal, headline, printed
from headway.lab.kit import Checks, Experiment, Generator, Panel, np, param
from headway.lab.pwl1d import pwl1d
from headway.lab.relu_net import ReluNet
from headway.lab.tools.curves import Curve, Function, bend, cantor, root, sine, step

TARGETS = (sine(7), bend(1, 0.3), root(), cantor())


def starts(K: int, delta: float) -> np.ndarray:
    """Where the ramps begin: around each inner knot k/K, and outside of [0, 1] at both ends."""
    return np.concatenate([[-delta], np.arange(1, K) / K - delta / 2, [1.0]])


def ramps(s: np.ndarray, heights: np.ndarray, delta: float) -> ReluNet:
    """Σ_i heights_i h_{s_i} with h_a = g_a - g_{a+δ} and g_a(x) = relu((x - a)/δ): two ReLUs for each ramp."""
    a, height = np.concatenate([s, s + delta]), np.append(heights, -heights)
    return ReluNet(((np.full((a.size, 1), 1 / delta), -a / delta), (height[None], [0.0])))


def bumps(f: Function, s: np.ndarray, delta: float) -> ReluNet:
    """Σ_k f(t_k) I_{s_k, s_{k+1}} with I_{a,b} = h_a - h_b, as written: four ReLUs for each bump."""
    values = f(np.arange(s.size - 1) / (s.size - 1))
    return ramps(np.concatenate([s[:-1], s[1:]]), np.append(values, -values), delta)


def shared(f: Function, s: np.ndarray, delta: float) -> ReluNet:
    """The same function, one ramp where one bump ends and the next begins: Σ_k (f(t_k) - f(t_{k-1})) h_{s_k}."""
    return ramps(s, np.diff(f(np.arange(s.size - 1) / (s.size - 1)), prepend=0.0, append=0.0), delta)


def sup_error(net: ReluNet, f: Curve, s: np.ndarray, delta: float) -> float:
    """A bound of sup |net - f|, exact where the net is constant: between neighbouring points both are monotone."""
    x = np.concatenate([[0.0, 1.0], f.turns, (s[1:-1, None] + delta * np.arange(9) / 8).ravel()])
    x = np.unique(x[(x >= 0) & (x <= 1)])
    F, values = net.at(x), f(x)
    return float(max(np.max(np.abs(u - v)) for u in (F[:-1], F[1:]) for v in (values[:-1], values[1:])))


class ReluBump(Experiment):
    """Two ReLUs make a ramp, two ramps a bump, and a sum of bumps approximates every continuous function on [0, 1].

        g_a(x) = relu((x - a)/δ),     h_a = g_a - g_{a+δ},     I_{a,b} = h_a - h_b = 1 on [a+δ, b],  0 outside [a, b+δ]

    With knots t_k = k/K, ramps that start at s_k = t_k - δ/2 (0 < k < K) and, outside of [0, 1], at s_0 = -δ and s_K =
    1,

        F = Σ_{k<K} f(t_k) I_{s_k, s_{k+1}},      sup |F - f| <= ω_f(1/K + δ),

    with the modulus of continuity ω_f: F(x) lies between values of f at knots that near. 4K ReLUs, or 2K + 2 when ramps
    are shared.

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
        self.wrong = ReluNet((([[1 / d]] * 2, [-a, -a - d]), ([[1.0, -1.0]], [0.0])))  # relu(x/δ - a) …
        dyadic, e = ramps(np.array([0.25, 0.75]), np.array([1.0, -1.0]), 2.0**-5), 2.0**-5
        x = np.linspace([-1, 0.25 + e, 0.75 + e], [0.25, 0.75, 2], 100).T.ravel()
        yield equal("a = ¼, b = ¾, δ = 1/32: I is 0, 1, 0 bit for bit", dyadic.at(x), np.repeat([0.0, 1.0, 0.0], 100))
        shape = pwl1d(self.bump).simplified()
        kinks = [[a, a + d, b, b + d], [0, 1, 1, 0]]
        yield close("kinks a, a+δ, b, b+δ, values 0, 1, 1, 0", [shape.knots, shape.values], kinks, 1e-12)
        at = [(s, 1 / (10 * k)) for k in self.bumps for s in [starts(k, 1 / (10 * k))]]
        self.nets = {f.name: [shared(f, *p) for p in at] for f in TARGETS}
        long = {f.name: [bumps(f, *p) for p in at] for f in TARGETS}
        errors = {f.name: [sup_error(n, f, *p) for n, p in zip(self.nets[f.name], at, strict=True)] for f in TARGETS}
        yield headline(at_most("sup |F - f| against ω(1/K + δ)", errors, [f.modulus(1.1 / K) for f in TARGETS]))
        nodes = [[net.nodes for net in nets] for nets in (long["√x"], self.nets["√x"])]
        yield equal("ReLUs are 4K, or 2K + 2 when ramps are shared", np.array(nodes), np.stack([4 * K, 2 * K + 2]))
        x, rounding = rng.random(50), 160 * 2.0**-52 * self.bumps[-1] ** 2  # of 4K units, each of size 10K
        short, full = ([net.at(x) for nets in group.values() for net in nets] for group in (self.nets, long))
        yield close("sharing ramps does not change the function", short, full, rounding)
        yield close("as printed, the ramp has the height δ", self.wrong.at(50.0), d, 1e-12)

    def control(self, rng: Generator) -> Checks:
        yield printed(close("height of the ramp as printed", self.wrong.at(50.0), 1.0), "E1")
        yield printed(close("first kink of the ramp as printed", pwl1d(self.wrong).simplified().knots[0], self.a), "E1")
        K, f, jump = self.bumps[-1], TARGETS[1], step(1 / np.pi)
        inner = bumps(f, np.arange(K + 1) / K - 0.05 / K, 0.1 / K)
        check = at_most(f"{f.name}, K = {K}: error at 0", abs(inner.at(0.0) - 0.3), 1.1 / K)
        yield because("the first ramp starts at t_0 - δ/2, inside of [0, 1] it is at half height", check)
        error = np.max(np.abs(shared(jump, starts(K, 0.1 / K), 0.1 / K).at(jump.turns) - jump(jump.turns)))
        yield because("a step is not continuous", at_most(f"step at 1/π, K = {K}: error at the jump", error, 0.25))

    def plots(self) -> list[Panel]:
        x, f, a, d = np.linspace(0, 1, 1001), TARGETS[0], self.a, self.delta
        titles = ("Two ReLUs", "Their difference is a ramp", "Two ramps make a bump", "Bumps add up")
        made = [Panel(title, "x", "value") for title in titles]
        made[0].curve(x, {"starts at a": np.maximum(x - a, 0) / d, "starts at a + δ": np.maximum(x - a - d, 0) / d})
        made[1].curve(x, ramps(np.array([a]), np.ones(1), d).at(x), "ramp").control(x, self.wrong.at(x), "as printed")
        made[2].curve(x, self.bump.at(x), "bump")
        made[3].target(x, f(x), f.name).curve(x, self.nets[f.name][0].at(x), f"{self.bumps[0]} bumps")
        return made
