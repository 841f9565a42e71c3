from headway.lab.kit import (
    Checks, Experiment, Generator, Panel, at_most, because, close, headline, mean_is, np, param, printed, share_is, slope,
)
from headway.lab.pwl1d import pwl1d
from headway.lab.relu_net import hinges
from headway.lab.tools.staircase import Staircase
from headway.lab.tools.thresholds import SINE, SQUARE, V6, X, at_points


class InfiniteNet1D(Experiment):
    """A smooth function is an infinitely wide net of thresholds, and m random units come within V²/m of it.

        g(x) = g(0) + ∫_0^1 1{x >= b} g'(b) db,          g(x) = g(0) + g'(0) x + ∫_0^1 (x - b)_+ g''(b) db

    Nodes at the middles of m cells err by O(1/m) with thresholds, O(1/m²) with ReLU. Units drawn from |g'|/V, V = ∫ |g'|, with weights
    (V/m) sign g'(b), have E ∫ (g - ĝ)² = (1/m) ∫ (V F - (g - g(0))²) <= V²/m, F(x) = ∫_0^x |g'|; for monotone g it is at most V²/(4m), and

        P(sup |g - ĝ| > t) <= 2 exp(-2mt²/V²)      (Dvoretzky, Kiefer, Wolfowitz).

    Notes: A. Source: Telgarsky, Deep Learning Theory lecture notes, ch. 2; Massart 1990, https://doi.org/10.1214/aop/1176990746
    Assumes: g is absolutely continuous (and so is g' for ReLU), not only differentiable; g(0) is known.
    Also: infinite width network in one dimension; integral representation by thresholds.
    """

    sizes = param((16, 64, 256, 1024), "the numbers m of units", least=8, most=2048, count=4)
    repetitions = param(200, "random nets for each m and seed", least=200, most=1000)

    def measure(self, rng: Generator) -> Checks:
        from scipy.integrate import quad

        self.mse: list[dict[str, np.ndarray]] = []  # for each seed
        whole, self.nodes = [], {}
        for f in (SINE, SQUARE):
            g, zero = f.curve, float(f.slope(np.zeros(1))[0])
            for x in (0.2, 0.5, 1.0):
                bent = quad(lambda b, x=x, f=f: (x - b) * f.second(np.array(b)), 0, x)[0]
                whole += [quad(f.slope, 0, x)[0] - g(np.array(x)), zero * x + bent - g(np.array(x))]
            middles = [(np.arange(m) + 0.5) / m for m in self.sizes]
            steps = [Staircase(np.append(0.0, f.slope(b) / b.size), np.append(0.0, b)).sup_error(g) for b in middles]
            ramps = [g.sup_error(pwl1d(hinges(b, f.second(b) / b.size, zero))) for b in middles]
            self.nodes[g.name] = (np.array(steps), np.array(ramps))
            yield slope(f"{g.name}: thresholds at m nodes, sup error", self.sizes, steps, -1.0, 0.1)
            yield slope(f"{g.name}: ReLU at m nodes, sup error", self.sizes, ramps, -2.0, 0.1)
        yield close("both integrals (scipy) minus g, x = 0.2, 0.5, 1", whole, 0.0)
        self.ensemble = at_points(*SINE.draw(self.sizes[1], 12, rng))

    def sample(self, rng: Generator) -> Checks:
        from scipy.stats import kstwo

        m, errors, bounds = np.array(self.sizes), {}, []
        for f, share in ((SINE, 1.0), (SQUARE, 0.25)):
            name, nets = f.curve.name, [f.draw(k, self.repetitions, rng) for k in self.sizes]
            mse = np.array([np.mean((at_points(*net) - f.curve(X)) ** 2, axis=1) for net in nets])
            sup, errors[name] = np.array([f.sup_errors(*net) for net in nets]), mse.mean(axis=1)
            bounds.append(share * f.V**2 / m)
            yield mean_is(f"{name}: m times the mean squared error, all m", mse * m[:, None], f.variance())
            yield slope(f"{name}: mean sup error in m", m, sup.mean(axis=1), -0.5, 0.1)
        self.mse.append(errors)
        yield headline(at_most("mean squared error against V²/m, for x² V²/(4m)", errors, bounds))
        t = np.sqrt(np.log(20) / (2 * m))  # 2 exp(-2mt²) = 0.1
        exact = kstwo.sf(t, m)  # scipy's distribution of the largest error, which is that of Kolmogorov and Smirnov
        yield at_most("x²: P(sup |g - ĝ| > t) against 2 exp(-2mt²)", exact, 0.1)
        yield share_is("x²: share of sup errors above t, all m", np.sum(sup > t[:, None]), sup.size, float(exact.mean()))

    def control(self, rng: Generator) -> Checks:
        u = np.linspace(1, 1e4, 200_001)  # u = 1/x²: x² sin(1/x²) = sin(u)/u has a derivative everywhere
        V = np.cumsum(np.abs(np.diff(np.sin(u) / u)))
        near = V[np.searchsorted(u, 100.0) - 1]
        yield printed(at_most("x² sin(1/x²): V on [0.01, 1] is V on [0.1, 1]", V[-1], 1.01 * near), "A9")
        drawn = [SINE.draw(m, 20, rng) for m in self.sizes]
        errors = [np.mean((at_points(b, np.abs(jumps)) - np.sin(6 * X)) ** 2) for b, jumps in drawn]
        yield because("the weights lack the sign of g'", slope("sin 6x: error in m", self.sizes, errors, -1, 0.1))

    def plots(self) -> list[Panel]:
        m, left = np.array(self.sizes), Panel("Random staircases around sin 6x", "x", "value")
        left.thin(X, self.ensemble).target(X, np.sin(6 * X), "sin 6x").note(0.42, 1.1, f"{m[1]} thresholds, 12 draws")
        right = Panel("Random units err like 1/m, nodes less", "units m", "squared error", log="xy")
        right.series(m, {f"random, {g}": np.mean([mse[g] for mse in self.mse], axis=0) for g in self.nodes})
        right.bound(m, V6**2 / m, "V²/m, sin 6x").bound(m, 0.25 / m, "V²/(4m), x²")
        steps, ramps = self.nodes["sin 6x"]
        return [left, right.series(m, steps**2, "threshold nodes").series(m, ramps**2, "ReLU nodes")]
