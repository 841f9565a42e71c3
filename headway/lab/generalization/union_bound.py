from scipy.stats import binom

from headway.lab.kit import Checks, Experiment, Generator, Panel, at_least, at_most, because, headline, np, param, share_is, slope

DELTAS, NOISE = np.array([0.2, 0.05, 0.01, 1e-4]), 0.2  # share of wrong labels


def bound(n: np.ndarray | int, K: np.ndarray | int, delta: np.ndarray | float) -> np.ndarray:
    """t(δ)"""
    return np.sqrt(np.log(2 * K / delta) / (2 * np.asarray(n)))


def probability(n: int, K: int, t: np.ndarray, risk: float) -> np.ndarray:
    """P(max_i |L̂_i - L_i| > t) for K independent classifiers of this risk, exactly."""
    one = binom.sf(np.floor(n * (risk + t)), n, risk) + binom.cdf(np.ceil(n * (risk - t)) - 1, n, risk)
    return -np.expm1(K * np.log1p(-one))


class UnionBound(Experiment):
    """The training errors of all K classifiers of a class are near their risks at once, at the price of a logarithm of K.

    Hoeffding's inequality for one classifier, times K (the union bound), and the same with t solved for:

        P(max_i |L̂_i - L_i| > t) <= 2K exp(-2nt²),        max_i |L̂_i - L_i| <= t(δ) = √(ln(2K/δ) / (2n))  with probability 1 - δ.

    The minimiser of L̂ then has a risk of at most min_i L_i + 2t. The bound is pessimistic: it takes the classifiers to err on different
    examples. Nested ones, 1{x >= i/K}, err on almost the same. With K = e^P for P parameters it is above 1, and says nothing, if P > 2n.

    Notes: E. Source: Shalev-Shwartz and Ben-David 2014, Understanding machine learning, section 4.2, https://doi.org/10.1017/CBO9781107298019
    Assumes: n independent examples; the class is chosen before they are seen; losses are in [0, 1].
    Also: Hoeffding and union bound; finite class bound; uniform convergence.
    """

    sizes = param((100, 300, 1000, 3000, 10_000), "examples n", least=50, most=10_000, count=4, small=(100, 200, 500, 1000))
    K = param(1000, "classifiers of a class", least=1000, most=10_000)
    delta = param(0.05, "δ, the probability of a larger gap", least=0.01, most=0.3)
    trials = param(200, "training sets", least=100, most=400)

    def independent(self, n: int, K: int, rng: Generator, sets: int = 1) -> np.ndarray:
        """The largest gap of K classifiers that guess, for each training set."""
        return np.max(np.abs(rng.binomial(n, 0.5, (sets * self.trials, K)) / n - 0.5), axis=1)

    def nested(self, n: int, K: int, rng: Generator) -> tuple[np.ndarray, np.ndarray]:
        """The largest gap of 1{x >= i/K}, i < K, and the excess risk of the best on each set; y = 1{x >= ½}, some of them wrong."""
        x = rng.random((self.trials, n))
        y = (x >= 0.5) ^ (rng.random(x.shape) < NOISE)
        cells = np.floor(x * K).astype(int) + K * np.arange(self.trials)[:, None]
        signs = np.bincount(cells.ravel(), np.where(y, 1.0, -1.0).ravel(), K * self.trials).reshape(-1, K)
        wrong = np.cumsum(signs, axis=1) - signs + np.sum(~y, axis=1, keepdims=True)  # ones on the left, zeros on the right
        risk = NOISE + (1 - 2 * NOISE) * np.abs(np.arange(K) / K - 0.5)
        return np.max(np.abs(wrong / n - risk), axis=1), risk[np.argmin(wrong, axis=1)] - risk.min()

    def measure(self, rng: Generator) -> Checks:
        self.n, few, seed = np.array(sorted(self.sizes)), min(self.sizes), rng.integers(2**32)
        self.classes = classes = np.array([2, 10, 30, 100, self.K])
        exact = {r: [probability(n, K, bound(n, K, DELTAS), r) for n in self.n for K in classes] for r in (0.5, 0.1)}
        yield headline(at_most("P(gap > t(δ)) of independent classifiers, δ", exact, DELTAS))
        gaps, excess = np.swapaxes([self.nested(n, self.K, rng) for n in self.n], 0, 1)
        self.means = {"independent": [self.independent(n, self.K, rng).mean() for n in self.n], "nested": gaps.mean(axis=1)}
        yield at_most("nested: excess risk of the best on the sample, 2 gap", excess, 2 * gaps)
        yield slope("nested: mean gap in n", self.n, self.means["nested"], -0.5, 0.05)
        guess = [self.independent(few, K, rng).mean() for K in classes]
        thresholds = [self.nested(few, K, np.random.default_rng(seed))[0].mean() for K in classes]  # on the same sets
        self.found = {"independent": guess, "nested": thresholds}
        yield at_least(f"independent: mean gap, K = {self.K} / K = 100", guess[-1] / guess[-2], 1.1)
        yield at_most(f"nested: mean gap, K = {self.K} / K = 100", thresholds[-1] / thresholds[-2], 1.1)

    def sample(self, rng: Generator) -> Checks:
        n, t = min(self.sizes), bound(min(self.sizes), 100, 1.0)
        hits = int(np.sum(self.independent(n, 100, rng, 10) > t))
        yield share_is("100 independent: share of sets with gap > t(1)", hits, 10 * self.trials, float(probability(n, 100, t, 0.5)))
        wide = np.mean(self.nested(n, self.K, rng)[0] > bound(n, self.K, self.delta))
        yield at_most("nested: share of sets with gap > t(δ), δ", wide, self.delta, kind="STAT")

    def control(self, rng: Generator) -> Checks:
        n = min(self.sizes)
        chosen = np.mean(self.independent(n, self.K, rng) > bound(n, 1, self.delta))
        yield because("it was chosen by its errors on the sample", at_most("one classifier: share with gap > t(δ)", chosen, self.delta))
        copied = np.mean(self.independent(n // 10, self.K, rng) > bound(n, self.K, self.delta))
        yield because("each example is there ten times", at_most("independent: share with gap > t(δ)", copied, self.delta))

    def plots(self) -> list[Panel]:
        K, n, d = self.classes, min(self.sizes), self.delta
        left = Panel(f"The gap of {self.K} classifiers", "examples n", "mean of the largest gap", log="xy").series(self.n, self.means)
        right = Panel("Nested ones cost no logarithm", "classifiers K", f"mean of the largest gap, n = {n}", log="x").series(K, self.found)
        return [left.bound(self.n, bound(self.n, self.K, d), "bound"), right.bound(K, bound(n, K, d), "bound")]
