from headway.lab.kit import Checks, Experiment, Generator, Panel, at_least, at_most, because, close, headline, math, np, param, published
from headway.lab.tools.trajectories import Draw, growth, patterns, pruned, random_stretch, sparse, z_score


def kept_norm(u: np.ndarray, share: float) -> np.ndarray:
    """E √(Σ_j s_j u_j²) for independent s_j that are 1 with probability `share`; `u` is (..., n)."""
    rows, weight = patterns((0, 1), (1 - share, share), u.shape[-1])
    return np.sqrt(u**2 @ rows.T) @ weight


class TrajectorySparse(Experiment):
    """If a weight is 0 with probability 1 - α, a ReLU layer stretches curves by between α σ_w/√(2π) and σ_w √(α/2).

    For s_j = 1 with probability α, else 0, and w_j = s_j N(0, σ_w^2/n),

        α  <=  E √(Σ_j s_j u_j²)  <=  √α   for |u| = 1,
        α σ_w/√(2π)  <=  E length(z)/length(x)  <=  σ_w √(α/2),

    because t <= √t on [0, 1], and √ is concave. u = e_1 attains the left side. Length can only grow where α σ_w^2 > 2.

    Notes: B. Source: Price, Tanner 2019, Trajectory growth lower bounds for random sparse deep ReLU networks, https://arxiv.org/abs/1911.10651
    Assumes: zeros are independent of each other and of the weights; Gaussian weights with variance σ_w^2/n before; symmetric biases.
    Also: sparse random networks; trajectory length of sparse networks.
    """

    shares = param((0.05, 0.1, 0.2, 0.5, 0.9), "of weights that are not zero, α", least=0.02, most=0.95)
    sigma_w = param(2.0, "standard deviation of the others, times √n", least=0.1, most=10.0)
    n = param(100, "width of the layers", least=20, most=300, small=60)
    depth = param(6, "layers", least=2, most=12, small=4)
    draws = param(60, "networks for each seed and share", least=40, most=500)

    def through(self, rng: Generator, weights: Draw) -> np.ndarray:
        return growth(random_stretch(rng, self.n, self.depth, self.draws, [self.sigma_w], 0.5, weights))[0]

    def measure(self, rng: Generator) -> Checks:
        a, some = np.array(self.shares), rng.standard_normal((20, 12)) ** 3
        units = np.vstack([np.eye(12)[0], some / np.linalg.norm(some, axis=1, keepdims=True)])
        first, *norms = np.stack([kept_norm(units, share) for share in a], axis=1)
        yield headline(at_least("E √(Σ s u²) by all 2¹² patterns, 20 random u, against α", norms, a, rounding=1e-12))
        yield at_most("the same, against √α", norms, np.sqrt(a), rounding=1e-12)
        yield close("u = e_1: E √(Σ s u²) is α", first, a)

    def sample(self, rng: Generator) -> Checks:
        ratios = [self.through(rng, sparse(share)) for share in self.shares]
        self.means = np.array([np.nanmean(r) for r in ratios])
        away = {f"α = {a:g}": z_score(r**2, a * self.sigma_w**2 / 2) for a, r in zip(self.shares, ratios, strict=True)}
        yield at_most("mean square of the growth: away from α σ_w^2/2, in s.e.", away, 4, kind="STAT")
        yield at_least("mean growth, against α σ_w/√(2π)", self.means, np.array(self.shares) * self.sigma_w / math.sqrt(2 * math.pi))
        if self.sigma_w == 2 and self.n == 100 and 0.1 in self.shares:
            yield published("mean growth at α = 0.1", float(self.means[self.shares.index(0.1)]), 0.443, 0.01)

    def control(self, rng: Generator) -> Checks:
        share = self.shares[0]
        self.pruned = float(np.nanmean(self.through(rng, pruned(share))))
        check = at_most(f"only the {share:.0%} largest weights: growth", self.pruned, self.sigma_w * math.sqrt(share / 2))
        yield because("which weights are 0 depends on the weights", check)

    def plots(self) -> list[Panel]:
        a = np.array(self.shares)
        low, high = a * self.sigma_w / math.sqrt(2 * math.pi), self.sigma_w * np.sqrt(a / 2)
        panel = Panel("Sparse layers stretch less; pruned ones do not", "share α of weights, not zero", "mean growth", log="xy")
        panel.bound(a, high, "$σ_w$ √(α/2)").bound(a, low, "α $σ_w$/√(2π)").series(a, self.means, f"n = {self.n}")
        panel.points([a[0]], [self.pruned], "largest weights kept", "#d55e00", 50)
        return [panel.mark(min(1.0, 2 / self.sigma_w**2), "$α σ_w^2 = 2$")]
