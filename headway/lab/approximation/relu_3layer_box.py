from headway.lab.checks import at_least, at_most, because, close, equal, headline, published, vacuous
from headway.lab.kit import Checks, Experiment, Generator, Panel, np, param
from headway.lab.pwl1d import Pwl, l1_distance, pwl1d
from headway.lab.tools.box_net import Integral, evaluate, quadrature, separate, shared, vertex_error
from headway.lab.tools.boxes import middles

RHO, PEAK = (3.0, 7.0, 9.0), (1.0, 2.0, 3.4)  # modulus ρδ and maximum of |g| for d = 1, 2, 3
PUBLISHED = {5: 0.158, 10: 0.086, 20: 0.050}  # L1 error for d = 2, γ/h = 0.01, by n


def spikes(n: int) -> float:
    """L1 error over ε = 1 for g = 10 at the middle of each interval, 9 outside a spike of width h/10, α = 10: exact."""
    t = (np.arange(n) + 0.5) / n
    g = Pwl((t[:, None] + np.array([-0.05, 0, 0.05]) / n).ravel(), np.tile([9.0, 10.0, 9.0], n), 0.0, 0.0)
    return l1_distance(pwl1d(shared(np.full(n, 10.0), n, 1, 0.05 / n)), g)


class Relu3LayerBox(Experiment):
    """A ReLU net with two hidden layers and N(4d + 1) units approximates a continuous function on [0, 1]^d on average.

    Let |g(x) - g(x')| <= ε whenever max_j |x_j - x'_j| <= δ, and N = ⌈1/δ⌉^d boxes ×[a_j, b_j] of side h, α_i = g at
    the middle, ramps of width γ:

        q_j(z) = relu((z-a_j+γ)/γ) - relu((z-a_j)/γ) - relu((z-b_j)/γ) + relu((z-b_j-γ)/γ)
        f(x) = Σ_i α_i relu(Σ_j q_j(x_j) - (d-1)),      ∫ |f - g| <= ε + max|g| N ((h+2γ)^d - h^d),

    which is 2ε for γ small enough: ε from the boxes, ε from the ramps. With a shared first layer there are N + 4dn
    units, n = 1/h. The supremum does not fall: near a face two boxes add up. Here g(x) = sin 3x_1 + cos 4x_2 + 2|x_3 -
    0.3| (the first d terms).

    Notes: A. Source: Telgarsky, Deep Learning Theory lecture notes, ch. 2, https://mjt.cs.illinois.edu/dlt/
    Assumes: g has the modulus of continuity ε at δ, it need not be Lipschitz; the error is an average over [0, 1]^d; γ
    <= h/2.
    Deviates: for d >= 2 the integral is by Sobol points, and four standard errors are added to it. The printed bound ε
    can be reached (mid-range values, narrow ramps), so it is not refuted; but the proof does not give it.
    Also: 3-layer ReLU approximation; multivariate approximation by boxes.
    """

    sides = param((5, 10, 20), "n boxes for each side, δ = h = 1/n", least=4, most=24, count=2, small=(5, 10))
    ramps = param((0.1, 0.01, 0.001), "γ/h", least=1e-5, most=0.5, small=(0.1, 0.01))
    dimensions = param(3, "d = 1 … dimensions", least=1, most=3, small=2)
    log_points = param(14, "Sobol points: 8 scrambles of 2^log_points", least=10, most=17, small=10, full=17)
    cost = "M"

    def conditions(self) -> list[tuple[bool, str]]:
        return [(list(self.sides) == sorted(self.sides), "`sides` must increase")]

    def measure(self, rng: Generator) -> Checks:
        n, axes = np.array(self.sides), range(1, self.dimensions + 1)
        rough, narrow, falls = {}, {}, {}
        units: list[int] = []
        gaps: list[float] = []
        self.l1, self.sup, self.thin = {}, {}, np.zeros((0, 2))
        for d in axes:
            integral, name = Integral(d, self.log_points, rng), f"d = {d}"
            found = np.array([[integral(k, r / k) for k in n] for r in self.ramps])  # γ/h, n, (mean, standard error)
            excess = PEAK[d - 1] * ((1 + 2 * np.array(self.ramps)[:, None]) ** d - 1)  # what the ramps may cost
            rough[name] = found @ [1, 4] - excess
            self.thin = found[self.ramps.index(0.01)] if d == 2 and 0.01 in self.ramps else self.thin
            self.l1[d], self.sup[name] = found[..., 0], [vertex_error(k, d, self.ramps[0] / k) for k in n]
            chosen = ((1 + RHO[d - 1] / n / PEAK[d - 1]) ** (1 / d) - 1) / 2  # γ/h for which that is ε
            two = np.array([integral(k, r / k) for k, r in zip(n, chosen, strict=True)])
            narrow[name], falls[name] = two @ [1, 4], two[1:, 0] / two[:-1, 0]
            for k in n:
                too_many, gap = self.nets(int(k), d, rng)
                units, gaps = units + too_many, gaps + gap
        rho = np.array(RHO[: self.dimensions])[:, None]
        yield headline(at_most("∫ |f - g| + 4 s.e. against 2ε, γ with excess ε", narrow, 2 * rho / n))
        yield at_most("∫ |f - g| + 4 s.e. minus excess, against ε", rough, rho[..., None] / n)
        yield equal("units are N(4d + 1), and N + 4dn when shared", np.array(units), np.zeros(len(units)))
        yield close("nets against the evaluator of at most 2^d boxes", gaps, np.zeros(len(gaps)), 1e-9)
        yield at_most("∫ |f - g| over that of the n before", falls, 1.0, kind="EXACT")
        yield at_least("sup |f - g| stays above max|g|/2", self.sup, np.array(PEAK[: self.dimensions])[:, None] / 2)
        if self.thin.size:
            for k, mean, error in zip(self.sides, *self.thin.T, strict=True):
                if k in PUBLISHED:  # three decimals
                    yield published(f"d = 2, γ/h = 0.01, n = {k}", mean, PUBLISHED[k], 5e-4 + 4 * error)
        roots = [quadrature(shared(np.sqrt((np.arange(k) + 0.5) / k), k, 1, k**-1.5 / 2), np.sqrt) for k in self.sides]
        yield at_most("√x is not Lipschitz, ε = √h, excess ε: ∫ |f - g|", roots, 2 * n**-0.5)
        yield at_most("spikes with α at their tips, excess ε: ∫ |f - g| / ε", spikes(self.sides[-1]), 2)

    def nets(self, k: int, d: int, rng: Generator) -> tuple[list[int], list[float]]:
        """Of both nets (one where its matrix fits): units too many, and gaps to the evaluator near vertices."""
        gamma, alpha = 0.1 / k, middles(k, d)
        x = np.clip(rng.integers(0, k + 1, (60, d)) / k + rng.uniform(-1.5, 1.5, (60, d)) * gamma, 0, 1)
        made = [shared(alpha, k, d, gamma)] + ([separate(alpha, k, d, gamma)] if 4 * d * k ** (2 * d) < 2e6 else [])
        expected = (k**d + 4 * d * k, k**d * (4 * d + 1))
        gaps = [np.max(np.abs(net(x)[:, 0] - evaluate(alpha, k, gamma, x))) for net in made]
        return [net.nodes - e for net, e in zip(made, expected, strict=False)], gaps

    def control(self, rng: Generator) -> Checks:
        check = at_most("spikes with α at their tips: ∫ |f - g| / ε is at most 1", spikes(self.sides[-1]), 1)
        yield because("ε must pay for the boxes and for the ramps", vacuous(check, "A2"))
        check = at_most("d = 1, n = 40: ∫ |f - g| against 2ε", Integral(1, 6, rng)(40, 1 / 80)[0], 6 / 40)
        yield because("the ramps are half as wide as the boxes", check)
        d, k, last = self.dimensions, self.sides[-1], self.sup[f"d = {self.dimensions}"][-1]
        check = at_most(f"d = {d}, n = {k}: sup |f - g| against 2ε", last, 2 * RHO[d - 1] / k)
        yield because("the error is not averaged", check)

    def plots(self) -> list[Panel]:
        n, d, t = np.array(self.sides), min(2, self.dimensions), np.linspace(0, 1, 240)
        left = Panel(f"The average error falls, d = {d}", "boxes per side n", "∫ |f - g|", log="xy")
        left.bound(n, 2 * RHO[d - 1] / n, "2ε")
        left.series(n, {f"γ/h = {r:g}": e for r, e in zip(self.ramps, self.l1[d], strict=True)})
        middle = Panel("The largest error stays", "boxes per side n", "|f - g| at vertices", log="xy")
        z = evaluate(middles(5, 2), 5, 0.02, np.stack(np.meshgrid(t, t, indexing="ij"), axis=-1).reshape(-1, 2))
        right = Panel("f: boxes add up", "x₁", "x₂").image(z.reshape(240, 240).T, (0, 1, 0, 1), scale="value, n = 5")
        return [left, middle.series(n, self.sup).limits(y=(0.3, 60)), right]
