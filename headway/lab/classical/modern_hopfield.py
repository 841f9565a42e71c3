from headway.lab.kit import Checks, Experiment, Generator, Panel, at_least, at_most, because, close, equal, headline, math, np, param
from headway.lab.tools.retrieval import energy, kernel, on_sphere, one_step, recalled, retrieve, update

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
        M, hot = math.sqrt(self.d), 0.5 / self.d
        self.stored = {N: on_sphere(N, self.d, self.queries, self.noise, rng) for N in self.sizes}
        pairs = list(self.stored.values())
        cases = {f"N = {len(X)}, β = {b:g}": (X, xi, b) for X, xi in pairs for b in self.betas}
        once = [update(X, xi, b) - retrieve(X, xi, b) for X, xi, b in cases.values()]
        twice = [update(X, update(X, xi, b), b) - retrieve(X, xi, b, 2) for X, xi, b in cases.values()]
        yield headline(close("`hopfield` less X softmax(βXᵀξ), 1 and 2 updates", [once, twice], 0.0, 1e-12))
        gaps = [kernel(X, xi) - retrieve(X, xi, None) for X, xi in pairs]
        yield close("β = 1/√d: torch's attention less `hopfield`", gaps, 0.0, 1e-12)
        path = [[energy(X, retrieve(X, xi, b, k) if k else xi, b) for X, xi, b in cases.values()] for k in range(6)]
        yield at_most("energy after a step", path[1:], path[:-1], rounding=1e-12)
        found = {name: one_step(*case) for name, case in cases.items()}
        misses, bounds = ({name: pair[i] for name, pair in found.items()} for i in (0, 1))
        yield headline(at_most("distance from the pattern after one step", misses, bounds))
        errors = {len(X): np.linalg.norm(retrieve(X, xi, 1.0) - X[: len(xi)], axis=1) for X, xi in pairs}
        yield at_most("β = 1: median relative error after one step", {N: np.median(e) / M for N, e in errors.items()}, 1e-10)
        ends = [retrieve(X, xi, hot, 60) for X, xi in pairs]
        yield close("β = ½/M²: all states meet", [end - end[0] for end in ends], 0.0, 1e-9)
        away = [np.linalg.norm(end[0] - X.mean(axis=0)) for (X, _), end in zip(pairs, ends, strict=True)]
        limits = [M * math.expm1(2 * hot * M * float(np.linalg.norm(end[0]))) for end in ends]
        yield at_most("β = ½/M²: distance of that point from the mean", away, limits)
        self.signs, self.softmax = np.array([recalled(N, self.d, self.noise, rng) for N in BINARY]).T
        yield equal("share of 2 … 10000 patterns ±1 that one step retrieves", self.softmax, np.ones(len(BINARY)))

    def control(self, rng: Generator) -> Checks:
        X, xi = self.stored[max(self.sizes)]
        yield because("a sign, not a softmax", at_least(f"share of {BINARY[-1]} patterns retrieved", self.signs[-1], 1.0))
        far = np.linalg.norm(retrieve(X, xi, 1.0, 60) - X.mean(axis=0), axis=1)
        yield because("β = 1 is more than 1/M²", at_most("distance from the mean", far, 0.5 * math.sqrt(self.d)))
        gap = close("torch's attention less `hopfield`", kernel(X, xi, 1.0) - retrieve(X, xi, None), 0.0, 1e-12)
        yield because("1/√d is left out", gap)
        before, after = (energy(X, z, 1.0) for z in (X[:4], retrieve(X, X[:4], 1.0, V=1.5 * X)))
        yield because("values are 1.5 times the keys", at_most("energy after a step", after, before))

    def plots(self) -> list[Panel]:
        left = Panel("A softmax retrieves far more", "stored ±1 patterns N", "retrieved (%)", log="x")
        left.series(BINARY, 100 * self.softmax, "softmax, β = 1, one step")
        left.control(BINARY, 100 * self.signs, "sign, until it rests").mark(0.138 * self.d, "0.138 d")
        right = Panel("From the mean to a pattern", "inverse temperature β", "overlap after 10 steps", log="x")
        for N, (X, xi) in self.stored.items():
            right.series(GRID, [(retrieve(X, xi, b, 10) * X[: len(xi)]).sum() / xi.size for b in GRID], f"N = {N}")
        return [left.limits(y=(-4, 112)), right.mark(self.d**-0.5, "1/√d").limits(y=(-0.04, 1.12))]
