from scipy.special import softmax

from headway.lab.kit import (
    Checks, Experiment, Generator, Panel, at_least, at_most, because, close, equal, headline, math, np, param,
)
from headway.lab.tools.hopfield import hebb, patterns, settle
from headway.lab.tools.retrieval import energy, kernel, retrieve

GRID = np.geomspace(0.02, 2, 11)
BINARY = (2, 4, 6, 8, 12, 16, 24, 32, 64, 128, 1000, 10000)  # numbers of ±1 patterns


class ModernHopfield(Experiment):
    """Retrieval from a modern Hopfield network is attention: the state is the query, the patterns are keys and values.

        ξ⁺ = X softmax(β Xᵀξ)        E(ξ) = -β⁻¹ log Σ_j exp(β x_j·ξ) + ½|ξ|² + const never increases

    With β = 1/√d_k this is scaled dot-product attention. One step retrieves what is well separated (M = max |x_j|, N patterns):

        |ξ⁺ - x_i| <= 2M (N-1) exp(-β min_{j≠i} (x_i - x_j)·ξ).

    For β < 1/M² the update is a contraction: all states go to one point near the mean, |ξ - mean| <= M (exp(2βM|ξ|) - 1).

    Notes: C. Source: Ramsauer et al. 2020, https://arxiv.org/abs/2008.02217
    Assumes: keys are values; a softmax, with 1/√d; patterns on a sphere of radius √d, the query near one of them.
    Also: modern Hopfield retrieval is attention; Hopfield networks is all you need.
    """

    d = param(64, "dimension of states and patterns", least=64, most=128)
    sizes = param((100, 1000, 10000), "stored patterns N", least=50, most=20_000, small=(100, 1000))
    betas = param((0.05, 0.125, 1.0), "inverse temperature β; 1/√d is attention's", least=0.01, most=4.0)
    queries = param(20, "noisy patterns to start from", least=4, most=20, small=10)
    noise = param(0.5, "standard deviation of the noise", least=0.0, most=0.5)

    def measure(self, rng: Generator) -> Checks:
        q, M, hot = self.queries, math.sqrt(self.d), 0.5 / self.d
        gaps, kernels, traces, misses, bounds, spread, means, limits, median = [], [], [], {}, {}, [], {}, {}, {}
        self.stored, zero = {}, np.zeros((self.queries, self.d))
        for N in self.sizes:
            X = rng.normal(size=(N, self.d))
            X *= M / np.linalg.norm(X, axis=1, keepdims=True)
            xi = X[:q] + self.noise * rng.normal(size=(q, self.d))
            self.stored[N] = X, xi
            kernels.append(kernel(X, xi) - retrieve(X, xi, None))
            for b in self.betas:
                p = softmax(b * (xi @ X.T), axis=1)
                gaps.append(p @ X - retrieve(X, xi, b))
                gaps.append(softmax(b * (p @ X @ X.T), axis=1) @ X - retrieve(X, xi, b, 2))
                traces.append([energy(X, retrieve(X, xi, b, k) if k else xi, b) for k in range(6)])
                gap = (X[:q] * xi).sum(axis=1, keepdims=True) - xi @ X.T
                np.fill_diagonal(gap, np.inf)
                np.fill_diagonal(p, 0)  # ξ⁺ - x_i = Σ_{j≠i} p_j (x_j - x_i), without cancellation
                misses[f"N = {N}, β = {b:g}"] = np.linalg.norm(p @ X - p.sum(axis=1, keepdims=True) * X[:q], axis=1)
                bounds[f"N = {N}, β = {b:g}"] = 2 * M * (N - 1) * np.exp(-b * gap.min(axis=1))
            end = retrieve(X, xi, hot, 60)
            spread.append(end - end[0])
            means[N] = np.linalg.norm(end[0] - X.mean(axis=0))
            limits[N] = M * math.expm1(2 * hot * M * float(np.linalg.norm(end[0])))
            median[N] = np.median(np.linalg.norm(retrieve(X, xi, 1.0) - X[:q], axis=1)) / M
        yield headline(close("`hopfield` less X softmax(βXᵀξ), 1 and 2 updates", gaps, [zero] * len(gaps), 1e-12))
        yield close("β = 1/√d: torch's attention less `hopfield`", kernels, [zero] * len(kernels), 1e-12)
        yield at_most("energy after a step", np.array(traces)[:, 1:], np.array(traces)[:, :-1], rounding=1e-12)
        yield headline(at_most("distance from the pattern after one step", misses, bounds))
        yield at_most("β = 1: median relative error after one step", median, 1e-10)
        yield close("β = ½/M²: all states meet", spread, [zero] * len(spread), 1e-9)
        yield at_most("β = ½/M²: distance of that point from the mean", means, limits)
        self.rates = {name: [self.rate(name, N, rng) for N in BINARY] for name in ("sign", "softmax")}
        yield equal(f"share of {BINARY[-1]} patterns ±1 that one step retrieves", self.rates["softmax"][-1], 1.0)

    def rate(self, name: str, N: int, rng: Generator) -> float:
        """The share of 20 noisy ±1 patterns that a net with N of them retrieves."""
        x = patterns(max(N, 20), self.d, rng)[:N]
        target = x[np.arange(20) % N]
        start = (target + self.noise * rng.normal(size=target.shape)).astype(np.float32)
        if name == "softmax":
            return float(np.mean(np.linalg.norm(retrieve(x, start, 1.0) - target, axis=1) < 1e-3))
        end = settle(hebb(x)[None], np.zeros(20, dtype=int), np.sign(start), rng)
        return float(np.mean((end == target).all(axis=1)))

    def control(self, rng: Generator) -> Checks:
        X, xi = self.stored[max(self.sizes)]
        share = at_least(f"share of {BINARY[-1]} patterns retrieved", self.rates["sign"][-1], 1.0)
        yield because("a sign takes the place of the softmax", share)
        far = np.linalg.norm(retrieve(X, xi, 1.0, 60) - X.mean(axis=0), axis=1)
        yield because("β = 1 is more than 1/M²", at_most("distance from the mean", far, 0.5 * math.sqrt(self.d)))
        gap = kernel(X, xi, 1.0) - retrieve(X, xi, None)
        yield because("1/√d is left out", close("torch's attention less `hopfield`", gap, np.zeros_like(gap), 1e-12))
        before, after = (energy(X, z, 1.0) for z in (X[:4], retrieve(X, X[:4], 1.0, V=1.5 * X)))
        yield because("values are 1.5 times the keys", at_most("energy after a step", after, before))

    def plots(self) -> list[Panel]:
        left = Panel("The softmax retrieves far beyond 0.138 d", "stored ±1 patterns N", "retrieved (%)", log="x")
        left.series(BINARY, 100 * np.array(self.rates["softmax"]), "softmax, β = 1, one step")
        left.control(BINARY, 100 * np.array(self.rates["sign"]), "sign, until it rests").mark(0.138 * self.d, "0.138 d")
        right = Panel("From the mean to a pattern", "inverse temperature β", "overlap after 10 steps", log="x")
        for N, (X, xi) in self.stored.items():
            right.series(GRID, [(retrieve(X, xi, b, 10) * X[: len(xi)]).sum() / xi.size for b in GRID], f"N = {N}")
        return [left.limits(y=(-4, 108)), right.mark(self.d**-0.5, "1/√d")]
