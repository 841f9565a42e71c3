from headway.lab.kit import Checks, Experiment, Generator, Panel, at_most, because, equal, headline, math, mean_is, np, param
from headway.lab.tools.intrinsic_dimension import hein_audibert, survey
from headway.lab.tools.manifolds import features, hidden, tanh_moments


class HiddenManifold(Experiment):
    """Data made from d latent numbers have full rank after a nonlinearity, but their intrinsic dimension stays d.

    For p rows of C ~ N(0, I_d) and columns of F of length √d,

        X = f(C F/√d),   rank(C F) = d,   rank X = min(p, n) unless f is a polynomial,   rank X <= C(d + k, k) for degree k.

    Yet to second order X looks as if it were linear in C: with b = E u f(u) and ρ = FᵀF/d, for odd f,

        |Cov(x_i, x_j) - b² ρ_ij|  <=  (E f² - b²) |ρ_ij|³,

    since the terms of order k of the Hermite expansion are correlated by ρ^k, and the second does not occur.

    Notes: B. Source: Goldt, Mézard, Krzakala, Zdeborová 2020, Modelling the influence of data structure, https://arxiv.org/abs/1909.11500
    Assumes: Gaussian latent numbers; f is not a polynomial; no noise on X.
    Deviates: p samples in n dimensions from d latent numbers; d < n, but p may be either. It generates, but nothing is trained against it.
    Also: hidden manifold model; Gaussian equivalence.
    """

    cost = "M"
    latent = param((3, 5, 10), "dimensions d", least=3, most=10, small=(3, 5))
    p = param(1500, "samples", least=1000, most=5000, small=1000)
    n = param(100, "dimensions of the space", least=70, most=150)

    def measure(self, rng: Generator) -> Checks:
        self.d = sorted(self.latent)
        made = {d: (rng.standard_normal((self.p, d)), features(d, self.n, rng)) for d in self.d}
        self.before = {d: c @ f / math.sqrt(d) for d, (c, f) in made.items()}
        self.after = {d: np.tanh(x) for d, x in self.before.items()}
        square = {d: hidden(c, rng.standard_normal((d, self.n)), lambda u: 1 + u + u**2) for d, (c, _) in made.items()}
        ranks = [[np.linalg.matrix_rank(x[d]) for x in (self.before, self.after, square)] for d in self.d]
        expected = [[d, self.n, min(self.n, math.comb(d + 2, 2))] for d in self.d]
        yield equal("ranks of u, tanh u and 1 + u + u²: d, min(p, n), C(d + 2, 2)", np.array(ranks), expected)
        self.ids = [hein_audibert(survey(x)) for x in self.after.values()]
        yield headline(at_most("|Hein-Audibert - d|", abs(np.array(self.ids) - self.d), 1))
        self.rho = np.linspace(-1, 1, 40)
        b, power, self.covariance = tanh_moments(self.rho)
        self.linear = b * b * self.rho
        bound = (power - b * b) * abs(self.rho) ** 3
        yield at_most("|Cov - b² ρ| over ρ in [-1, 1]", abs(self.covariance - self.linear), bound, rounding=1e-7)

    def sample(self, rng: Generator) -> Checks:
        d, f = self.d[-1], features(self.d[-1], 12, rng)
        rho = np.clip(f.T @ f / d, -1, 1) * (1 - np.eye(12))
        x = hidden(rng.standard_normal((20 * self.p, d)), f)
        summed = np.einsum("si,ij,sj->s", x, rho, x) / np.sum(rho * tanh_moments(rho)[2])
        yield mean_is(f"Σ ρ x_i x_j of samples, over that of the formula, d = {d}", summed, 1)

    def control(self, rng: Generator) -> Checks:
        d, x = self.d[0], self.after[self.d[0]]
        cubes = hidden(rng.standard_normal((self.p, 3)), features(3, self.n, rng), lambda u: u**3)
        yield because("u³ is a polynomial", equal("rank after u³, d = 3", int(np.linalg.matrix_rank(cubes)), self.n))
        noisy = hein_audibert(survey(x + 0.2 * rng.standard_normal(x.shape)))
        yield because("noise in all directions has all dimensions", at_most(f"|Hein-Audibert - {d}| with noise", abs(noisy - d), 1))

    def plots(self) -> list[Panel]:
        k, d = np.arange(1, self.n + 1), self.d[0]
        left = Panel("tanh fills all directions", "singular value", "size", log="y").limits(y=(1e-6, 1e4))
        after, before = (np.maximum(np.linalg.svd(x[d], compute_uv=False), 1e-12) for x in (self.after, self.before))
        left.curve(k, {"after tanh": after, "before": before}).mark(d, f"d = {d}")
        middle = Panel("The dimension stays", "latent dimension d", "Hein-Audibert").bound(self.d, self.d, "d")
        right = Panel("Covariances look linear", "ρ", "Cov").bound(self.rho, self.linear, "b² ρ")
        return [left, middle.series(self.d, self.ids, "X"), right.curve(self.rho, self.covariance, "tanh")]
