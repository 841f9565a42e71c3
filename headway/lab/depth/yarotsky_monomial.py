from headway.lab.kit import Checks, Experiment, Generator, Panel, at_most, because, close, equal, headline, np, param
from headway.lab.tools.gate_chains import SERIES, M, certified_gap, chain_knots, polynomial_net, power_gap, power_net
from headway.lab.tools.gates import product_error

ENDS = np.array([-1.0, 0.0, 1.0])


class YarotskyMonomial(Experiment):
    """A chain of k - 1 multiplication gates computes x^k on [-1, 1] up to (k - 1)δ, where δ is the error of one gate.

        p_1 = x,   p_{j+1} = ×̃(p_j, x),     |p_k - x^k| <= (k - 1)δ,     |Σ a_k p_k - Σ a_k x^k| <= Σ |a_k| (k - 1)δ

    because a gate errs by δ and passes on the error before it times |x| <= 1. Gates with M = 2 have δ = 4·4^{-m} and stay in their range
    while (k - 2)δ <= 1. The depth (k - 1)(m + 2) + 1 is O(k log 1/δ). With a Taylor polynomial the error is at most truncation plus gates.
    The nets are linear between knots that are computed gate by gate: suprema are exact for powers and certified for series.

    Notes: A, B. Source: Yarotsky 2017, section 3.2, https://arxiv.org/abs/1610.01145; Liang and Srikant 2017, https://arxiv.org/abs/1610.04161
    Assumes: |x| <= 1; (k - 2)δ <= 1, so that factors are at most M = 2. Also: powers by multiplication gates; polynomials by deep nets.
    """

    k = param(8, "the largest power, and the degree of the Taylor polynomials", least=5, most=12, small=5)
    m = param(7, "the largest depth of the squares; all from 3 on are tried", least=4, most=9, small=5)

    def measure(self, rng: Generator) -> Checks:
        self.depths, self.powers = np.arange(3, self.m + 1), np.arange(2, self.k + 1)
        self.delta = product_error(self.depths, M)
        self.totals: dict[tuple[str, int], list[float]] = {(name, K): [] for name in SERIES for K in (4, self.k)}
        errors, layers, largest = [], [], []
        for m in self.depths.tolist():
            t, top = chain_knots(ENDS, ENDS, self.k - 1, m)
            nets = {k: power_net(k, m) for k in self.powers.tolist()}
            largest.append(top)
            layers.append([net.depth for net in nets.values()])
            errors.append([power_gap(t, net.at(t), k) for k, net in nets.items()])
            for (name, K), total in self.totals.items():
                net, s = polynomial_net(SERIES[name].coefficients(K), m), SERIES[name]
                total.append(certified_gap(t, net.at(t), s.g, s.curvature))
        self.errors, chain = np.array(errors).T, self.powers[:, None] - 1
        self.allowed = {(s, K): SERIES[s].truncation(K) + SERIES[s].gates(K) * self.delta for s, K in self.totals}
        named = {f"x^{k}": self.errors[k - 2] for k in self.powers}
        yield headline(at_most(f"error of x^2 … x^{self.k}, (k - 1)δ", named, chain * self.delta, rounding=1e-10))
        yield close("error of x^2, δ: it is attained", self.errors[0], self.delta, 1e-12)
        named = {f"{name}, degree {K}": total for (name, K), total in self.totals.items()}
        yield at_most("error of Taylor polynomials, truncation + gates", named, list(self.allowed.values()))
        yield equal("depth, (k - 1)(m + 2) + 1", np.array(layers).T, chain * (self.depths + 2) + 1)
        yield at_most("largest factor of a gate, M", largest, M)

    def control(self, rng: Generator) -> Checks:
        x, k = np.linspace(-1, 1, 401), self.k
        gap = np.max(np.abs(power_net(k, 4).at(1.5 * x) - (1.5 * x) ** k))
        yield because("|x| is up to 1.5", at_most(f"error of x^{k}, (k - 1)δ", gap, (k - 1) * product_error(4, M)))
        gap = np.max(np.abs(power_net(k, 4, bound=0.5).at(x) - x**k))
        yield because("factors are above M = ½", at_most(f"error of x^{k}", gap, (k - 1) * product_error(4, 0.5)))

    def resolution(self, rng: Generator) -> Checks:
        yield at_most(f"error of x^{self.k}, as if errors did not add up, δ", self.errors[-1], self.delta)

    def plots(self) -> list[Panel]:
        left = Panel("Powers: errors add up", "depth (k - 1)(m + 2) + 1", "sup error on [-1, 1]", log="y")
        for k in sorted({2, (self.k + 2) // 2, self.k}):
            depth = (k - 1) * (self.depths + 2) + 1
            left.series(depth, self.errors[k - 2], f"x^{k}").bound(depth, (k - 1) * self.delta, f"{k - 1}δ")
        right = Panel("Taylor: gates, then truncation", "depth", "sup error (dashed: bound)", log="y")
        for (name, K), total in self.totals.items():
            depth = (K - 1) * (self.depths + 2) + 1
            right.series(depth, total, f"{name}, degree {K}").bound(depth, self.allowed[name, K])
        return [left, right]
