from scipy.optimize import minimize_scalar

from headway.lab.kit import Checks, Experiment, Generator, Panel, at_least, at_most, because, close, headline, np, param, published
from headway.lab.tools.linear_fits import descent_matrices, ridge_matrices, shares

TIMES, ETA = np.unique(np.geomspace(1, 1024, 31).round().astype(int)), 0.02


class EarlyStopping(Experiment):
    """Stopping gradient descent after t steps is nearly ridge regression with λ = 1/(ηt): its risk is at most 1.69 times as large.

    Least squares from w = 0 is fitted along the singular direction i of X, of size σ_i, to the shares

        1 - (1 - ησ_i²)^t   after t steps,        σ_i²/(σ_i² + λ)   by ridge,        E|w_t - w|² <= 1.69 E|w_λ - w|²  at λ = 1/(ηt),

    for small η and any w and noise: the bias is smaller, and the variance is larger by at most sup_x ((1 - e^{-x})(1 + x)/x)² = 1.686.
    Strong directions are fitted first, noise in weak ones late; |w_t| grows with t, so a number of epochs is a strength of regularisation.

    Notes: D. Source: Ali, Kolter and Tibshirani 2019, A continuous-time view of early stopping, https://arxiv.org/abs/1810.10082
    Assumes: squared error; start at 0; a small step η, as the theorem is about gradient flow; uncorrelated noise.
    Deviates: the t that further rows choose is compared with the best ridge by a median over problems: single ones lose more.
    Also: epochs as regularisation; early stopping and ridge.
    """

    problems = param(20, "random problems", least=10, most=50)
    rows = param(40, "n, of each X", least=30, most=60)
    columns = param(8, "d, of each X", least=4, most=12)
    further = param(2000, "rows that choose t", least=1000, most=20_000)

    def measure(self, rng: Generator) -> Checks:
        scale = np.geomspace(1, 0.2, self.columns)
        X = rng.normal(size=(self.problems, self.rows, self.columns)) * scale
        size = np.linalg.norm(X, 2, axis=(1, 2))[:, None, None]
        self.X = X = X / size  # the largest singular value is 1
        w, self.noise = rng.normal(size=(self.problems, self.columns)), np.geomspace(0.1, 1.5, self.problems)
        A, R = descent_matrices(X, ETA, TIMES), ridge_matrices(X, 1 / (ETA * TIMES))
        self.s, t = np.linalg.svd(X, compute_uv=False), TIMES[:, None, None]
        yield close("share of direction i after t steps, 1 - (1 - ησ²)^t", shares(A, X), 1 - (1 - ETA * self.s**2) ** t)
        yield close("share of direction i by ridge, σ²/(σ² + λ)", shares(R, X), self.s**2 / (self.s**2 + 1 / (ETA * t)))

        bias = [M @ (X @ w[..., None]) - w[..., None] for M in (A, R)]  # the risk is E|My - w|² for y = Xw + noise
        self.stopped, self.shrunk = (np.sum(b**2, (2, 3)) + self.noise**2 * np.sum(M**2, (2, 3)) for b, M in zip(bias, (A, R), strict=True))
        yield headline(at_most("risk after t steps / of ridge at λ = 1/(ηt)", self.stopped / self.shrunk, 1.69))
        worst = minimize_scalar(lambda x: -(((1 - np.exp(-x)) * (1 + x) / x) ** 2), bounds=(0.1, 10)).fun
        yield published("that bound, sup ((1 - e^{-x})(1 + x)/x)²", -worst, 1.69, 0.005)
        eye = np.eye(self.columns)  # w ~ N(0, I) and noise of variance 1/(ηt): there ridge at λ = 1/(ηt) is the best of all
        mean = [np.sum((M @ X - eye) ** 2, axis=(2, 3)) + np.sum(M**2, axis=(2, 3)) / (ETA * t[..., 0]) for M in (A, R)]
        yield at_most("the same on average over w ~ N(0, I), where ridge is the best", mean[0] / mean[1], 1.22)
        y = np.einsum("knd,kd->kn", X, w) + self.noise[:, None] * rng.normal(size=(self.problems, self.rows))
        fits = np.einsum("tkdn,kn->tkd", A, y)
        yield at_least("growth of |w_t| between two t", np.diff(np.linalg.norm(fits, axis=2), axis=0), 0.0)
        Z = rng.normal(size=(self.problems, self.further, self.columns)) * scale / size
        z = np.einsum("knd,kd->kn", Z, w) + self.noise[:, None] * rng.normal(size=(self.problems, self.further))
        self.chosen = np.argmin([np.mean((z - np.einsum("knd,kd->kn", Z, fit)) ** 2, axis=1) for fit in fits], axis=0)
        cost = self.stopped[self.chosen, range(self.problems)] / self.shrunk.min(axis=0)
        yield at_most("risk at the t that further rows choose / of the best ridge, median", np.median(cost), 1.25)

    def control(self, rng: Generator) -> Checks:
        one = np.linalg.qr(rng.normal(size=(1, self.rows, self.columns)))[0]  # σ_i = 1 for all i, and w = 0: only noise
        jump = np.sum(descent_matrices(one, 1.0, TIMES[:1]) ** 2) / np.sum(ridge_matrices(one, np.ones(1)) ** 2)
        yield because("the step η = 1 is not small", at_most("risk after t = 1 step / of ridge at λ = 1/(ηt)", jump, 1.69))
        found = shares(descent_matrices(self.X[:1], ETA, TIMES, rng.normal(size=(self.columns, 1))), self.X[:1])
        wanted = 1 - (1 - ETA * self.s[:1] ** 2) ** TIMES[:, None, None]
        yield because("the descent does not start at 0", close("share of direction i after t steps", found, wanted))

    def plots(self) -> list[Panel]:
        s, left = np.geomspace(0.02, 1, 100), Panel("Both fit strong directions first", "σ", "share that is fitted", log="x")
        for t in (16, 128, 1024):
            left.curve(s, 1 - (1 - ETA * s**2) ** t, f"t = {t}").bound(s, s**2 / (s**2 + 1 / (ETA * t)), "ridge" * (t == 128))
        right = Panel("The risks of both paths are close", "ηt, or 1/λ", "risk", log="xy")
        for k in (0, self.problems // 2, self.problems - 1):
            right.curve(ETA * TIMES, self.stopped[:, k], f"noise {self.noise[k]:.2g}")
            right.bound(ETA * TIMES, self.shrunk[:, k], "ridge" * (k == 0))
        return [left, right]
