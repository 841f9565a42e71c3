from itertools import product

from headway.lab.kit import Checks, Experiment, Generator, Panel, at_least, at_most, because, equal, headline, np, param, table, vacuous
from headway.lab.tools.box_net import Integral, evaluate, quadrature, separate, shared, spikes, vertex_error
from headway.lab.tools.boxes import middles

RHO, PEAK = (3.0, 7.0, 9.0), (1.0, 2.0, 3.4)  # modulus ρδ and maximum of |g| for d = 1, 2, 3
PUBLISHED = {5: 0.158, 10: 0.086, 20: 0.050}  # L1 error for d = 2, γ/h = 0.01, by n


class Relu3LayerBox(Experiment):
    """A ReLU net with two hidden layers and N(4d + 1) units approximates a continuous function on [0, 1]^d on average.

    Let |g(x) - g(x')| <= ε where max_j |x_j - x'_j| <= δ; N = ⌈1/δ⌉^d boxes ×[a_j, b_j] of side h, α_i = g at the middle, ramps of width γ:

        q_j(z) = relu((z-a_j+γ)/γ) - relu((z-a_j)/γ) - relu((z-b_j)/γ) + relu((z-b_j-γ)/γ)
        f(x) = Σ_i α_i relu(Σ_j q_j(x_j) - (d-1)),      ∫ |f - g| <= ε + max|g| N ((h+2γ)^d - h^d),

    which is 2ε for small γ. A shared first layer gives N + 4dn units, n = 1/h. The supremum stays: boxes add up. g: `partition-lemma`.

    Notes: A. Source: Telgarsky, Deep Learning Theory lecture notes, ch. 2, https://mjt.cs.illinois.edu/dlt/
    Assumes: g has the modulus of continuity ε at δ, it need not be Lipschitz; the error is an average over [0, 1]^d; γ <= h/2.
    Deviates: for d >= 2 the integral is by Sobol points, four standard errors added. The printed bound ε can be reached (mid-range values,
    narrow ramps), so it is not refuted; but the proof gives 2ε. Also: 3-layer ReLU approximation; multivariate approximation by boxes.
    """

    sides = param((5, 10, 20), "n boxes for each side, δ = h = 1/n", least=4, most=24, count=2, small=(5, 10))
    ramps = param((0.1, 0.01, 0.001), "γ/h", least=1e-5, most=0.5, small=(0.1, 0.01))
    dimensions = param(3, "d = 1 … dimensions", least=1, most=3, small=2)
    log_points = param(14, "Sobol points: 8 scrambles of 2^log_points", least=10, most=17, small=10, full=17)
    cost = "M"

    def measure(self, rng: Generator) -> Checks:
        n, dims = np.array(self.sides), range(1, self.dimensions + 1)
        self.l1, self.sup, rough, narrow, falls = {}, {}, {}, {}, {}
        for d, epsilon, peak in zip(dims, np.outer(RHO, 1 / n), PEAK, strict=False):
            integral, name = Integral(d, self.log_points, rng), f"d = {d}"
            self.l1[d] = np.array([[integral(k, r / k) for k in n] for r in self.ramps])  # γ/h, n, (mean, s.e.)
            cost = peak * ((1 + 2 * np.array(self.ramps)[:, None]) ** d - 1)  # what the ramps may cost
            rough[name] = (self.l1[d] @ [1, 4] - cost) / epsilon
            chosen = ((1 + epsilon / peak) ** (1 / d) - 1) / 2  # γ/h for which that is ε
            two = np.array([integral(k, r / k) for k, r in zip(n, chosen, strict=True)])
            narrow[name], falls[name] = two @ [1, 4] / epsilon, two[1:, 0] / two[:-1, 0]
            self.sup[name] = np.array([vertex_error(k, d, self.ramps[0] / k) for k in n]) / peak
        yield headline(at_most("(∫ |f - g| + 4 s.e.) / ε, with γ so that the ramps cost ε", narrow, 2.0))
        yield at_most("(∫ |f - g| + 4 s.e. minus the cost of the ramps) / ε, every γ", rough, 1.0)
        yield at_most("∫ |f - g| over that of the n before", falls, 1.0, kind="EXACT")
        yield at_least("sup |f - g| / max|g|, found at vertices: it does not fall", self.sup, 0.5)
        cases = [(middles(k, d), k, d, 0.1 / k) for k, d in product((2, 4), dims)]
        units = [[separate(*case).nodes, shared(*case).nodes] for case in cases]
        wanted = [[k**d * (4 * d + 1), k**d + 4 * d * k] for _, k, d, _ in cases]
        yield equal("units are N(4d + 1), and N + 4dn when shared, n = 2, 4", np.array(units), wanted)
        if self.dimensions > 1 and 0.01 in self.ramps:
            mean, error = self.l1[2][self.ramps.index(0.01)].T
            found = dict(zip(self.sides, mean, strict=True))
            yield from table(PUBLISHED, found, 5e-4 + 4 * max(error), "d = 2, γ/h = 0.01, n = {}")  # three decimals
        roots = [quadrature(shared(np.sqrt((np.arange(k) + 0.5) / k), k, 1, k**-1.5 / 2), np.sqrt) for k in self.sides]
        yield at_most("√x is not Lipschitz, ε = √h, excess ε: ∫ |f - g|", roots, 2 * n**-0.5)
        yield at_most("spikes with α at their tips, excess ε: ∫ |f - g| / ε", spikes(self.sides[-1]), 2)

    def control(self, rng: Generator) -> Checks:
        check = at_most("spikes with α at their tips: ∫ |f - g| / ε is at most 1", spikes(self.sides[-1]), 1)
        yield because("ε must pay for the boxes and for the ramps", vacuous(check, "A2"))
        wide, d, n = Integral(1, 6, rng)(40, 1 / 80)[0], self.dimensions, self.sides[-1]
        yield because("the ramps are half as wide as the boxes", at_most("d = 1, n = 40: ∫ |f - g| against 2ε", wide, 6 / 40))
        largest = self.sup[f"d = {d}"][-1] * PEAK[d - 1]
        yield because("no average", at_most(f"{d = }, {n = }: sup |f - g| against 2ε", largest, 2 * RHO[d - 1] / n))

    def plots(self) -> list[Panel]:
        n, d, t = np.array(self.sides), min(2, self.dimensions), np.linspace(0, 1, 240)
        left = Panel("The mean error falls", "boxes per side n", f"∫ |f - g|, d = {d}", log="xy")
        left.bound(n, 2 * RHO[d - 1] / n, "2ε")
        left.series(n, {f"γ/h = {r:g}": e for r, e in zip(self.ramps, self.l1[d][..., 0], strict=True)})
        middle = Panel("The largest one stays", "boxes per side n", "|f - g| / max|g| at vertices", log="xy")
        z = evaluate(middles(5, 2), 5, 0.02, np.stack(np.meshgrid(t, t, indexing="ij"), axis=-1).reshape(-1, 2))
        right = Panel("f: boxes add up", "x₁", "x₂").image(z.reshape(240, 240).T, (0, 1, 0, 1), scale="value, n = 5")
        return [left, middle.series(n, self.sup).limits(y=(0.3, 20)), right]
