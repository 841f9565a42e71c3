from headway.lab import style
from headway.lab.kit import Checks, Experiment, Generator, Panel, at_least, at_most, because, close, equal, headline, np, param, printed
from headway.lab.tools.differences import differences
from headway.models.classical.linear_regression import LinearRegression


class Ols(Experiment):
    """The least-squares estimate is a projection: with samples as the columns of X it is w* = (XXᵀ)⁻¹ X y.

    For X ∈ ℝ^{d×s} and the loss ½ |Xᵀw - y|² = ½ Σ_i (w·x_i - y_i)²

        ∇ = XXᵀw - Xy,        w* = (XXᵀ)⁻¹ X y,        Xᵀw* = P y   with   P = Xᵀ(XXᵀ)⁻¹X = P² = Pᵀ,

    so the residual is orthogonal to the rows of X. With samples as rows, A = Xᵀ, it is the familiar (AᵀA)⁻¹Aᵀy. For noise of variance σ²
    the estimate has covariance σ²(XXᵀ)⁻¹, the least of all linear unbiased estimates (Gauss and Markov).

    Notes: C. Source: Hastie, Tibshirani, Friedman 2009, The Elements of Statistical Learning, sec. 3.2, https://hastie.su.domains/ElemStatLearn/
    Assumes: XXᵀ is invertible; noise of mean 0 and equal variance σ², uncorrelated. Also: ordinary least squares; linear regression.
    """

    d = param(3, "features", least=2, most=6)
    s = param(25, "samples", least=12, most=500)
    sigma = param(0.5, "standard deviation of the noise", least=0.01, most=100.0)
    draws = param(10_000, "of the noise, for each seed", least=1000, most=100_000, small=2000)

    def measure(self, rng: Generator) -> Checks:
        self.estimates: list[np.ndarray] = []
        self.X, self.w = X, w = rng.normal(size=(self.d, self.s)), rng.normal(size=self.d)
        self.y = y = X.T @ w + self.sigma * rng.normal(size=self.s)
        best = np.linalg.solve(X @ X.T, X @ y)
        yield headline(close("w* and numpy's lstsq", best, np.linalg.lstsq(X.T, y, rcond=None)[0]))
        self.numeric = differences(lambda v: float(np.sum((X.T @ v - y) ** 2)) / 2, w, 1e-4)
        yield close("∇ at w, by differences", X @ X.T @ w - X @ y, self.numeric, 1e-6)
        model, one = LinearRegression().fit(X.T, y), np.vstack([X, np.ones(self.s)])
        ours, theirs = np.linalg.solve(one @ one.T, one @ y), np.append(model.coef_, model.intercept_)
        yield close("w* of the points (x, 1) and the model `linear-regression`", ours, theirs)
        yield close("residual times the rows of X", X @ (y - X.T @ best), 0.0, 1e-9)
        Q = np.linalg.qr(X.T)[0]  # an orthonormal basis of the rows of X
        yield close("P is the projection onto the rows of X, QQᵀ", X.T @ np.linalg.solve(X @ X.T, X), Q @ Q.T)
        self.covariance = self.sigma**2 * np.linalg.inv(X @ X.T)
        B = X * rng.uniform(0.2, 2, (20, 1, self.s))  # weighted least squares is linear and unbiased, too
        L = np.linalg.solve(B @ X.T, B)
        least = np.linalg.eigvalsh(L @ L.swapaxes(1, 2) - np.linalg.inv(X @ X.T))[:, 0]
        yield at_least("covariance of weighted estimates less that of w*, least eigenvalue", least, 0)

    def off(self, noise: np.ndarray) -> np.ndarray:
        """How far the covariance of w* over these draws is from σ²(XXᵀ)⁻¹, in standard errors √((Σ_ii Σ_jj + Σ_ij²) / draws)."""
        size = np.diagonal(self.covariance)
        self.estimates.append(self.w + noise @ np.linalg.solve(self.X @ self.X.T, self.X).T)
        error = np.sqrt((np.outer(size, size) + self.covariance**2) / len(noise))
        return np.abs(np.cov(self.estimates[-1].T) - self.covariance) / error

    def sample(self, rng: Generator) -> Checks:
        noise = rng.spawn(1)[0].normal(size=(self.draws, self.s))  # a fresh stream: with one seed, `rng` repeats X
        yield at_most("covariance of w* off σ²(XXᵀ)⁻¹ in standard errors", self.off(self.sigma * noise), 4, kind="STAT")

    def control(self, rng: Generator) -> Checks:
        yield printed(equal("XᵀX w is defined: columns of XᵀX, entries of w", len(self.X.T @ self.X), self.w.size), "C7")
        square, target = rng.normal(size=(self.d, self.d)), rng.normal(size=self.d)
        wrong = np.linalg.solve(square.T @ square, square.T @ target)
        yield printed(close("(XᵀX)⁻¹Xᵀy as w*, d = s", wrong, np.linalg.lstsq(square.T, target, rcond=None)[0]), "C7")
        size = self.sigma * np.where(np.arange(self.s) < self.s // 2, 3.0, 0.3)
        off = self.off(size * rng.normal(size=(self.draws, self.s)))
        yield because("half of the noise is ten times larger", at_most("covariance off", off, 4, kind="STAT"))
        one, twice = (np.linalg.lstsq(Z.T, self.y, rcond=None)[0] for Z in (self.X, np.vstack([self.X, self.X[0]])))
        yield because("a feature is there twice: XXᵀ is singular", close("two minimisers", twice, np.append(one, 0)))

    def resolution(self, rng: Generator) -> Checks:
        mean = 2 / self.s * self.X @ (self.X.T @ self.w - self.y)
        yield close("∇ of the mean instead of ½ the sum", mean, self.numeric, 1e-6)

    def plots(self) -> list[Panel]:
        left = Panel("Least squares is a projection", "first answer", "second answer")  # the only row of X is (2, 1)
        left.target([0, 2.6], [0, 1.3], "Xᵀw").curve([0, 1], [0, 2.2], "y").curve([0, 1.68], [0, 0.84], "Py")
        left.bound([1.68, 1], [0.84, 2.2], "residual").custom(lambda axes: axes.set_aspect("equal"))
        t, (a, b), dots = np.linspace(0, 2 * np.pi, 200), self.w[:2], self.estimates[0][:1500]
        ring = 6**0.5 * np.linalg.cholesky(self.covariance[:2, :2]) @ np.stack([np.cos(t), np.sin(t)])  # 95 %
        right = Panel("Fresh noise gives the covariance", "first weight", "second weight")
        right.points(dots[:, 0], dots[:, 1], "w*", size=3).points([a], [b], "w", style.VERMILION, 40)
        return [left, right.bound(a + ring[0], b + ring[1], "95 % of N(w, σ²(XXᵀ)⁻¹)")]
