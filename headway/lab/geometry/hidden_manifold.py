from headway.lab.kit import (
    Checks, Experiment, Generator, Panel, at_most, because, equal, headline, math, mean_is, np, param,
)
from headway.lab.tools.intrinsic_dimension import hein_audibert, survey
from headway.lab.tools.manifolds import features, hidden

NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(60)
WEIGHTS = WEIGHTS / WEIGHTS.sum()


def moments(rho: np.ndarray) -> tuple[float, float, np.ndarray]:
    """b = E u tanh u, E tanh² u, and E tanh u tanh v for standard normal u, v with correlation ρ, by quadrature."""
    f = np.tanh(NODES)
    v = rho[..., None, None] * NODES[:, None] + np.sqrt(1 - rho[..., None, None] ** 2) * NODES
    return float(WEIGHTS @ (NODES * f)), float(WEIGHTS @ f**2), np.tanh(v) @ WEIGHTS @ (WEIGHTS * f)


def rank(x: np.ndarray) -> int:
    return int(np.linalg.matrix_rank(x))


class HiddenManifold(Experiment):
    """Data made from d latent numbers have full rank after a nonlinearity, but their intrinsic dimension stays d.

    For p rows of C ~ N(0, I_d) and columns of F of length √d,

        X = f(C F/√d),   rank(C F) = d,   rank X = min(p, n) unless f is a polynomial,   rank X <= C(d + k, k) for degree k.

    Yet to second order X looks as if it were linear in C: with b = E u f(u) and ρ = FᵀF/d, for odd f,

        |Cov(x_i, x_j) - b² ρ_ij|  <=  (E f² - b²) |ρ_ij|³,

    since the terms of order k of the Hermite expansion are correlated by ρ^k, and the second does not occur.

    Notes: B. Source: Goldt, Mézard, Krzakala, Zdeborová 2020, Modelling the influence of data structure,
    https://arxiv.org/abs/1909.11500
    Assumes: Gaussian latent numbers; f is not a polynomial; no noise on X.
    Deviates: p samples in n dimensions from d latent numbers; d < n, but p may be either. It generates, but nothing is
    trained against it.
    Also: hidden manifold model; Gaussian equivalence.
    """

    cost = "M"
    latent = param((3, 5, 10), "dimensions d", least=3, most=10, small=(3, 5))
    p = param(1500, "samples", least=500, most=5000, small=1000)
    n = param(100, "dimensions of the space", least=70, most=150)

    def measure(self, rng: Generator) -> Checks:
        self.d = sorted(self.latent)
        self.before, self.after, self.ids, squares = {}, {}, [], []
        for d in self.d:
            c, f = rng.standard_normal((self.p, d)), features(d, self.n, rng)
            self.before[d], self.after[d] = c @ f / math.sqrt(d), hidden(c, f)
            squares.append(hidden(c, rng.standard_normal((d, self.n)), lambda u: 1 + u + u**2))
            self.ids.append(hein_audibert(survey(self.after[d])))
        before, after, square = (np.array([rank(x) for x in xs]) for xs in (self.before.values(), self.after.values(), squares))
        yield equal("rank before f: errors against d", before, self.d)
        yield equal("rank after tanh: errors against min(p, n)", after, np.full(len(self.d), self.n))
        expected = [min(self.n, math.comb(d + 2, 2)) for d in self.d]
        yield equal("rank after 1 + u + u²: errors against C(d + 2, 2)", square, expected)
        error, allowed = abs(np.array(self.ids) - self.d), np.maximum(1, np.array(self.d) / 5)
        yield headline(at_most("|Hein-Audibert - d|, against 1 or d/5", error, allowed))
        self.rho = np.linspace(-1, 1, 40)
        b, power, self.covariance = moments(self.rho)
        self.linear = b * b * self.rho
        bound = (power - b * b) * abs(self.rho) ** 3
        yield at_most("|Cov - b² ρ| over ρ in [-1, 1]", abs(self.covariance - self.linear), bound, rounding=1e-7)

    def sample(self, rng: Generator) -> Checks:
        d = self.d[-1]
        f = features(d, 12, rng)
        rho = np.clip(f.T @ f / d, -1, 1) * (1 - np.eye(12))
        x = hidden(rng.standard_normal((20 * self.p, d)), f)
        summed = np.einsum("si,ij,sj->s", x, rho, x) / np.sum(rho * moments(rho)[2])
        yield mean_is(f"Σ ρ x_i x_j of samples, over that of the formula, d = {d}", summed, 1)

    def control(self, rng: Generator) -> Checks:
        d = self.d[0]
        cubes = rank(self.before[d] ** 3)
        yield because("u³ is a polynomial", equal(f"rank after u³, d = {d}", cubes, self.n))
        x = self.after[d]
        noisy = hein_audibert(survey(x + 0.2 * rng.standard_normal(x.shape)))
        check = at_most(f"|Hein-Audibert - {d}| with noise", abs(noisy - d), 1)
        yield because("noise in all directions has all dimensions", check)

    def plots(self) -> list[Panel]:
        k, d = np.arange(1, self.n + 1), self.d[0]
        left = Panel("tanh fills all directions", "singular value", "size", log="y").limits(y=(1e-6, 1e4))
        after, before = (np.maximum(np.linalg.svd(x[d], compute_uv=False), 1e-12) for x in (self.after, self.before))
        left.curve(k, {"after tanh": after, "before": before}).mark(d, f"d = {d}")
        middle = Panel("The dimension stays", "latent dimension d", "Hein-Audibert").bound(self.d, self.d, "d")
        right = Panel("Covariances look linear", "ρ", "Cov").bound(self.rho, self.linear, "b² ρ")
        return [left, middle.series(self.d, self.ids, "X"), right.curve(self.rho, self.covariance, "tanh")]
