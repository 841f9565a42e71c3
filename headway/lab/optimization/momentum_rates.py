from headway.lab.kit import Checks, Experiment, Generator, Panel, at_least, at_most, because, close, headline, np, param, published, slope
from headway.lab.tools.convex_losses import bent, chain
from headway.lab.tools.growing_momentum import GrowingMomentum, tuned
from headway.lab.tools.quadratics import descend, quadratic
from headway.training.optimizers.heavy_ball import HeavyBall
from headway.training.optimizers.nesterov import Nesterov

CIRCLE = (-1.8024, 0.6465, 2.1159)  # of the heavy ball, from 3.3 on


class MomentumRates(Experiment):
    """Momentum needs √κ steps where gradient descent needs κ, the condition number.

    For a quadratic with eigenvalues from μ to L, κ = L/μ and ρ = (√κ-1)/(√κ+1), the gap after t steps is at most gap_0 times

        descent, η = 1/L:  (1 - 1/κ)^{2t},              heavy ball, η = 4/(√L+√μ)², β = ρ²:  (2t+1)² ρ^{2t},
        descent, η = 2/(L+μ):  ((κ-1)/(κ+1))^{2t},      Nesterov, η = 1/L, β = ρ:  (1 - 1/√κ)^t (1 + ½μ‖θ^0 - θ*‖²/gap_0),

    because with this β every mode of the heavy ball shrinks by ρ. For μ = 0, β_t = (t-1)/(t+2) gives gap <= 2L‖θ^0 - θ*‖²/(t+1)², and no
    method that moves along gradients has a better order. Beyond quadratics the heavy ball need not converge: it can run in a circle.

    Notes: C. Source: Polyak 1964; Nesterov 2004, https://doi.org/10.1007/978-1-4419-8853-9; Lessard et al. 2016, https://arxiv.org/abs/1408.3595
    Assumes: μ and L are known; for the heavy ball h is quadratic.
    Also: acceleration; Nesterov's rate; condition number and momentum.
    """

    kappas = param((20, 50, 100, 200), "κ", least=20, most=10_000, count=4, full=(30, 100, 1000, 10_000))
    modes = param(10, "eigenvalues, from 1/κ to 1", least=2, most=50)
    links = param(101, "d, coordinates of the hardest convex function", least=21, most=401)

    def conditions(self) -> list[tuple[bool, str]]:
        wide = max(self.kappas) >= 8 * min(self.kappas)
        return [(wide and sum(self.kappas) <= 20_000, "`kappas` must span a factor of 8 and add up to at most 20 000")]

    def runs(self, k: int) -> dict[str, tuple[np.ndarray, np.ndarray]]:
        """Gaps at each step from the first on, and what bounds them."""
        values, ratio = np.geomspace(1 / k, 1, self.modes), (k**0.5 - 1) / (k**0.5 + 1)
        h, start, mu, t, few = quadratic(values), values**-0.5, 1 / k, np.arange(7 * k + 1), int(20 * k**0.5)
        ball, ahead = (tuned(rule, h, mu, start, few) for rule in (HeavyBall, Nesterov))
        slow, best = (descend(h, start, n * k, rate=rate).values for n, rate in ((7, 1.0), (4, 2 / (1 + mu))))
        s, first = np.arange(few + 1), self.modes / 2
        between = np.append(first, h(ahead.points - ahead.gradients)[:-1])  # Nesterov's θ = y - η∇h(y)
        return {
            "descent, 1/L": (slow, (1 - mu) ** (2 * t) * first),
            "descent, 2/(L+μ)": (best, ((k - 1) / (k + 1)) ** (2 * t[: best.size]) * first),
            "heavy ball": (ball.values, (2 * s + 1) ** 2 * ratio ** (2 * s) * first),
            "Nesterov": (between, (1 - k**-0.5) ** s * (first + mu / 2 * start @ start)),
        }

    def measure(self, rng: Generator) -> Checks:
        self.found = {k: self.runs(k) for k in self.kappas}
        names = list(self.found[self.kappas[0]])
        worst = {n: [np.max((runs[n][0] / runs[n][1])[1:]) for runs in self.found.values()] for n in names}
        yield headline(at_most("gap / bound, the largest over all steps, by κ", worst, 1.0, rounding=1e-9))
        k, q = self.kappas[0], self.kappas[0] ** 0.5
        path = tuned(Nesterov, quadratic(np.geomspace(1 / k, 1, self.modes)), 1 / k, np.ones(self.modes), 50)
        theta, beta = path.points - path.gradients, (q - 1) / (q + 1)  # L = 1: θ_{t+1} = y_t - ∇h(y_t)
        yield close("Nesterov: y_t = θ_t + β(θ_t - θ_{t-1})", path.points[2:], theta[1:-1] + beta * np.diff(theta, axis=0)[:-1])
        every = {n: {k: runs[n][0] for k, runs in self.found.items()} for n in names}
        if 100 in self.kappas:
            factor = (every["heavy ball"][100][200] / every["heavy ball"][100][100]) ** 0.01
            yield published("heavy ball, κ = 100: factor of a late step, ρ² = 0.669", factor, 0.676, 0.005)
        self.needed = {n: [int(np.argmax(gap <= 1e-6 * gap[0])) for gap in gaps.values()] for n, gaps in every.items()}
        for name, order in {"descent, 1/L": 1.0, "heavy ball": 0.5, "Nesterov": 0.5}.items():
            yield slope(f"{name}: steps to a gap of 1e-6, in κ", self.kappas, self.needed[name], order, 0.1)
        d, (h, least) = self.links, chain(self.links)
        path, t = descend(h, np.zeros(d), d - 1, rule=lambda p: GrowingMomentum(p, 1.0, 0.0)), np.arange(1, d + 1)
        gaps = h(path.points - path.gradients) - h.least
        yield at_most("chain: Nesterov's gap, 2L‖θ^0 - θ*‖²/(t+1)²", gaps, 2 * least @ least / (t + 1) ** 2)
        yield at_least("chain: Nesterov's gap, L(1/(t+1) - 1/(d+1))/8 of any method", gaps, (1 / (t + 1) - 1 / (d + 1)) / 8)
        self.circle = tuned(HeavyBall, bent(), 1.0, np.array([3.3]), 300)
        yield close("heavy ball on a bent function: its circle", np.sort(self.circle.points[-3:, 0]), CIRCLE, 3e-5)

    def control(self, rng: Generator) -> Checks:
        gap = self.circle.values
        yield because("h is not quadratic", at_most("heavy ball: gap / gap_0", gap[300] / gap[0], 601**2 * (4 / 9) ** 300))
        k, values = self.kappas[-1], np.geomspace(1 / self.kappas[-1], 1, self.modes)
        gap = tuned(Nesterov, quadratic(values), 16 / k, values**-0.5, int(20 * k**0.5)).values
        most = 17 * (1 - 4 * k**-0.5) ** (gap.size - 1)
        yield because("μ is taken 16 times too large", at_most("Nesterov: gap / gap_0", gap[-1] / gap[0], most))

    def plots(self) -> list[Panel]:
        k = self.kappas[len(self.kappas) // 2]
        left, end = Panel(f"Momentum at κ = {k}", "step t", "gap / gap₀", log="y"), int(15 * k**0.5)
        left.curve(np.arange(end), {name: gap[:end] / gap[0] for name, (gap, _) in self.found[k].items()})
        right = Panel("√κ steps, not κ", "condition number κ", "steps to 1e-6", log="xy")
        last = Panel("Heavy ball in a circle", "step t", "x").series(range(30), self.circle.points[:30], "bent function")
        return [left.limits(y=(1e-12, 2)), right.series(self.kappas, self.needed), last]
