from headway.lab.kit import Checks, Experiment, Generator, Panel, at_least, at_most, because, headline, math, mean_is, np, param, printed
from headway.models.classical.linear_regression import LinearRegression

RATIOS = np.array([0.1, 0.3, 0.6, 0.9, 1.0, 1.1, 1.5, 3, 10, 30])  # features for each example
PENALTIES = (0.0, 0.3, 3.0, 20.0)
TESTS = 300


class DoubleDescent(Experiment):
    """The test error of least squares peaks where features are as many as examples, and falls again beyond, below its first minimum.

    With m random features h = max(0, V x) and n examples, the solution of least norm

        w = argmin { ‖w‖ : w minimises ‖H w - y‖² },       H n x m,

    is unique; at m ≈ n the smallest singular value of H is near 0 and noise is divided by it. Beyond, w becomes smaller with every feature.
    The best ridge penalty removes the peak. For p Gaussian columns, targets βᵀx + σε and an intercept (n' = n - 1), exactly

        E‖w - β‖² = σ² p/(n' - p - 1)  for p < n' - 1,        ‖β‖² (1 - n'/p) + σ² n'/(p - n' - 1)  for p > n' + 1.

    Notes: D. Source: Belkin et al. 2019, https://arxiv.org/abs/1812.11118; Hastie et al. 2022, https://arxiv.org/abs/1903.08560
    Assumes: of all solutions the one of least norm is taken; noise in the labels; random features.
    Also: interpolation peak; benign overfitting.
    """

    cost = "M"
    n = param(100, "examples", least=50, most=150, small=50)
    d = param(20, "inputs", least=10, most=30)
    sigma = param(0.3, "of the noise", least=0.2, most=0.5)
    sets = param(9, "training sets, of which the median is taken", least=7, most=20, small=7)

    def errors(self, rng: Generator) -> np.ndarray:
        """Test error of one training set without and with the best penalty, and the training error without, for each m."""
        x, beta, found = rng.normal(size=(self.n + 2 * TESTS, self.d)), rng.normal(size=self.d), []
        y = x @ beta / np.linalg.norm(beta) + self.sigma * rng.normal(size=len(x))
        every = np.maximum(0, x @ rng.normal(size=(self.d, self.m[-1])) / math.sqrt(self.d))
        for h in (every[:, :m] for m in self.m):
            fits = [LinearRegression(penalty).fit(h[: self.n], y[: self.n]) for penalty in PENALTIES]
            train, choose, test = np.split(np.array([(f.predict(h) - y) ** 2 for f in fits]), [self.n, self.n + TESTS], axis=1)
            best = int(np.argmin(choose.mean(axis=1)))  # on examples that are not in the test
            found.append([test[0].mean(), test[best].mean(), train[0].max()])
        self.last = h, y, fits[0]
        return np.array(found).T

    def measure(self, rng: Generator) -> Checks:
        n = self.n
        self.m = np.where(RATIOS == 1, n - 1, np.rint(RATIOS * n)).astype(int)  # the intercept takes one of the n equations
        runs = np.array([self.errors(rng) for _ in range(self.sets)])
        self.plain, self.ridge, _ = np.median(runs, axis=0)
        peak, self.few = int(np.argmax(self.plain)), self.plain[self.m < n].min()
        yield headline(at_most(f"error of {self.m[-1]} features / the least of fewer than n", self.plain[-1] / self.few, 1))
        yield at_most("distance of the peak from m = n, of n", abs(self.m[peak] - n) / n, 0.1)
        yield at_least("error at the peak / the least of fewer than n", self.plain[peak] / self.few, 2)
        yield at_most("largest training error, m >= 1.5 n", runs[:, 2, RATIOS >= 1.5].max(), 1e-12)
        yield at_most("best penalty: error of m / of the m before", np.median(runs[:, 1, 1:] / runs[:, 1, :-1], axis=0), 1.1)

    def sample(self, rng: Generator) -> Checks:
        n, beta = self.n, np.eye(1, 3 * self.n)[0]
        for p in (n // 2, 3 * n):
            sets = [(x, x @ beta[:p] + self.sigma * rng.normal(size=n)) for x in rng.normal(size=(100, n, p))]
            found = [np.sum((LinearRegression().fit(*pair).coef_ - beta[:p]) ** 2) for pair in sets]
            under, over = self.sigma**2 * p / (n - 2 - p), 1 - (n - 1) / p + self.sigma**2 * (n - 1) / (p - n)
            yield mean_is(f"{p} Gaussian columns: E‖w - β‖²", found, under if p < n else over)

    def control(self, rng: Generator) -> Checks:
        h, y, fit = self.last
        centred, start = h[: self.n] - h[: self.n].mean(axis=0), rng.normal(size=h.shape[1]) * math.sqrt(20 / h.shape[1])
        other = start - np.linalg.pinv(centred) @ (centred @ start)  # does nothing on the training set
        wrong = fit.predict(h) + (h - h[: self.n].mean(axis=0)) @ other - y
        self.other = float(np.mean(wrong[self.n :] ** 2))
        claim = at_most(f"error of {self.m[-1]} features / the least of fewer than n", self.other / self.few, 1)
        yield because("it fits all labels, too, but has not the least norm", claim)
        yield printed(at_most(f"{self.m[-1]} features: error with best penalty / without", self.ridge[-1] / self.plain[-1], 0.5), "D7")

    def plots(self) -> list[Panel]:
        panel = Panel("The error falls, peaks at m = n, and falls again", "features m", "test error, median", log="xy")
        panel.series(self.m, {"least norm": self.plain, "best penalty": self.ridge}).level(self.sigma**2, "noise σ²").mark(self.n, "m = n")
        return [panel.control([self.m[-1]], [self.other], "another solution")]
