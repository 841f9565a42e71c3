from functools import partial

from scipy.optimize import lsq_linear, minimize
from scipy.stats import norm

from headway.lab.kit import Checks, Experiment, Generator, Panel, because, close, headline, np, param
from headway.lab.tools.linear_fits import descend
from headway.training.optimizers.adam import Adam
from headway.training.optimizers.adamw import BETAS, AdamW
from headway.training.optimizers.sgd import SGD
from headway.training.penalties import l1, l2


class WeightDecay(Experiment):
    """Weight decay shrinks least squares along each singular direction, as a Gaussian prior does; beside Adam's update it does not.

    Gradient descent on ½|y - Xθ|² + ½λ|θ|² is θ <- (1 - ηλ)θ - η∇R. It ends at ridge regression,

        (XᵀX + λI)⁻¹ Xᵀ y = Σ_i σ_i²/(σ_i² + λ) <v_i, θ_OLS> v_i = E[θ | y]   for noise N(0, s²) and the prior θ ~ N(0, s²/λ).

    A Laplace prior is an L1 penalty. Adam with λθ inside its gradient ends at ridge, too: where the gradient is 0. AdamW shrinks beside the
    update, whose size does not depend on that of the gradient: it ends at least squares in the box |θ_j| <= 1/λ.

    Notes: D. Source: Loshchilov and Hutter 2019, https://arxiv.org/abs/1711.05101; for the box Xie and Li 2024, https://arxiv.org/abs/2404.04454
    Assumes: the loss is the sum ½|y - Xθ|²; a Gaussian prior; the decay is inside of the gradient; η < 2/(σ_1² + λ).
    Also: ridge shrinkage; decay and the Gaussian prior.
    """

    rows = param(30, "of X", least=20, most=60)
    columns = param(5, "of X", least=2, most=8)
    decay = param(4.0, "λ", least=3.0, most=15.0)
    noise = param(0.5, "s, standard deviation of the noise", least=0.1, most=1.0)
    steps = param(1500, "of each descent", least=1500, most=20_000)

    def measure(self, rng: Generator) -> Checks:
        d, lam, noise = self.columns, self.decay, self.noise
        self.X = X = rng.normal(size=(self.rows, d)) * np.linspace(0.5, 1.5, d)
        truth = rng.choice([-1, 1], d) * rng.uniform(0.5, 1.5, d)
        self.y = y = X @ truth + noise * rng.normal(size=self.rows)
        U, self.s, V = np.linalg.svd(X, full_matrices=False)
        eta, self.least = 1 / (self.s[0] ** 2 + lam), np.linalg.lstsq(X, y, rcond=None)[0]
        self.ridge = np.linalg.solve(X.T @ X + lam * np.eye(d), X.T @ y)
        path = descend(X, y, self.steps, partial(SGD, lr=eta, weight_decay=lam))
        yield headline(close("gradient descent with decay ends at ridge", path[-1], self.ridge, 1e-8))
        shrunk = (1 - eta * lam) * path[:-1] - eta * (path[:-1] @ X.T - y) @ X
        penalised = descend(X, y, self.steps, partial(SGD, lr=eta), l2, lam)[1:]
        yield close("each step is (1 - ηλ)θ - η∇R, and that of the penalty `l2`", [path[1:]] * 2, [shrunk, penalised])
        self.factors = V @ path[-1] / (V @ self.least)
        yield close("shrinkage along v_i, σ_i²/(σ_i² + λ)", self.factors, self.s**2 / (self.s**2 + lam), 1e-8)

        fall = lambda t: 1 - (t + 1) / self.steps  # noqa: E731
        surprise = lambda v: -norm.logpdf(y, X @ v, noise).sum() - norm.logpdf(v, 0, noise / lam**0.5).sum()  # noqa: E731
        mode, mean = minimize(surprise, 0 * truth, tol=1e-9).x, X.T @ np.linalg.solve(X @ X.T + lam * np.eye(len(y)), y)
        yield close("mode and mean of the Gaussian posterior, ridge", [mode, mean], [self.ridge, self.ridge], 1e-6)
        self.z = z = U.T @ y  # least squares for the orthonormal columns of U: each weight for itself
        weak = float(np.median(np.abs(z)))
        self.laplace = np.sign(z) * np.maximum(np.abs(z) - weak, 0)  # argmin ½(z - θ)² + weak |θ|
        lasso = descend(U, y, self.steps, partial(SGD, lr=0.1), l1, weak, fall)[-1]
        yield close("the penalty `l1` and the soft threshold, the mode under a Laplace prior", lasso, self.laplace, 0.01)
        adam = descend(X, y, self.steps, partial(Adam, lr=0.1), l2, lam, fall)[-1]
        yield close("Adam with λθ in the gradient ends at ridge", adam, self.ridge, 1e-6)
        self.adamw = descend(X, y, self.steps, partial(AdamW, lr=0.1, betas=BETAS, weight_decay=lam), factor=fall)[-1]
        yield close("AdamW ends at least squares with |θ_j| <= 1/λ", self.adamw, lsq_linear(X, y, (-1 / lam, 1 / lam)).x, 0.01)

    def control(self, rng: Generator) -> Checks:
        yield because("the decay is beside the update, not in the gradient", close("AdamW ends at ridge", self.adamw, self.ridge, 0.01))
        shrunk = self.z @ self.laplace / (self.z @ self.z) * self.z
        claim = close("orthonormal X: the mode is one factor times θ_OLS", self.laplace, shrunk, 0.01)
        yield because("the prior is Laplace, not Gaussian", claim)

    def plots(self) -> list[Panel]:
        x, names = np.geomspace(0.01, 100, 100), range(1, self.columns + 1)
        left = Panel("Weak directions shrink most", "σ²/λ", "shrinkage", log="x").bound(x, x / (1 + x), "σ²/(σ² + λ)")
        left.points(self.s**2 / self.decay, self.factors, "gradient descent, each direction", size=40)
        right = Panel("AdamW is no ridge", "weight", "value").ticks(x={i: f"θ{i}" for i in names})
        return [left, right.series(names, {"least squares": self.least, "ridge": self.ridge}).control(names, self.adamw, "AdamW")]
