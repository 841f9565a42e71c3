from functools import partial

from headway.lab.kit import Checks, Experiment, Generator, Panel, at_most, because, close, headline, np, param
from headway.lab.tools.given_gradients import Rule, follow
from headway.training.optimizers.adam import Adam
from headway.training.optimizers.gradient_descent import GradientDescent
from headway.training.optimizers.heavy_ball import HeavyBall
from headway.training.optimizers.nesterov import Nesterov
from headway.training.optimizers.sgd import SGD


class MinNorm(Experiment):
    """Gradient descent from 0 on fewer equations than unknowns finds the solution of least norm, without any penalty.

    For f(x) = ½‖A x - b‖², A m x n of full row rank m < n, each gradient Aᵀ(A x - b) is in the row space of A, so that from x_0

        x_t -> x* + (I - A⁺A) x_0,      x* = Aᵀ(AAᵀ)^{-1} b,      <v_i, x_t - x*> = (1 - ησ_i²)^t <v_i, x_0 - x*>

    for each right singular vector v_i, if η < 2/σ_1². Every other solution is x* + z with A z = 0, and ‖x* + z‖² = ‖x*‖² + ‖z‖². Momentum
    and batches of rows keep to the row space, too; Adam, which divides each coordinate by a number of its own, does not.

    Notes: D. Source: Zhang et al. 2017, section 5, https://arxiv.org/abs/1611.03530
    Assumes: full row rank; η < 2/σ_1²; steps are sums of gradients; (for x*) a start in the row space.
    Also: implicit regularisation; minimum-norm solution; implicit bias of gradient descent.
    """

    m = param(10, "equations", least=2, most=25)
    ratio = param(4, "unknowns for each equation, n/m; with fewer the steps do not suffice", least=4, most=20)

    def path(self, rule: Rule, start: np.ndarray, draw: Generator | None = None) -> np.ndarray:
        """The points "t n" of an optimizer on f, or with `draw` on m times the part of one equation, drawn anew for each step."""

        def gradient(t: int, x: np.ndarray) -> np.ndarray:
            use = draw.integers(self.m, size=1) if draw else np.arange(self.m)
            return self.A[use].T @ (self.A[use] @ x - self.b[use]) * self.m / len(use)

        return follow(rule, gradient, start, 1000 if draw is None else 150 * max(self.m, 10))

    def measure(self, rng: Generator) -> Checks:
        n = self.m * self.ratio
        self.A, self.b, self.start = rng.normal(size=(self.m, n)), rng.normal(size=self.m), rng.normal(size=n)
        _, s, V = np.linalg.svd(self.A)
        self.rows, self.null = V[: self.m], V[self.m :]  # bases of the row space and of the null space
        self.eta, self.zero, one = 1 / s[0] ** 2, np.zeros(n), 1 / (self.m * np.max(np.sum(self.A**2, axis=1)))
        self.best, kept = np.linalg.lstsq(self.A, self.b)[0], self.null.T @ self.null @ self.start
        self.paths = {
            "gradient descent": self.path(partial(GradientDescent, lr=self.eta), self.start),
            "heavy ball": self.path(partial(HeavyBall, lr=self.eta / 2, momentum=0.5), self.start),
            "Nesterov": self.path(partial(Nesterov, lr=self.eta / 2, momentum=0.5), self.start),
            "SGD": self.path(partial(SGD, lr=one), self.start, rng),
        }
        self.plain = self.path(partial(GradientDescent, lr=self.eta), self.zero)
        least = [self.best, self.A.T @ np.linalg.solve(self.A @ self.A.T, self.b)]
        yield headline(close("from 0: the end; the least norm by LAPACK, and Aᵀ(AAᵀ)^{-1}b", [self.plain[-1]] * 2, least, 1e-8))
        ends = {name: np.abs(path[-1] - self.best - kept).max() for name, path in self.paths.items()}
        yield at_most("from x_0: distance of the end from x* + (I - A⁺A)x_0", ends, 1e-8)
        moved = {name: np.abs((path - self.start) @ self.null.T).max() for name, path in self.paths.items()}
        yield at_most("change of the part in the null space, any step", moved, 1e-12)
        part, t = (self.paths["gradient descent"] - self.best) @ self.rows.T, np.arange(len(self.plain))[:, None]
        yield close("part in the row space, (1 - ησ_i²)^t of the first", part, (1 - self.eta * s**2) ** t * part[0])

    def control(self, rng: Generator) -> Checks:
        self.adam = self.path(partial(Adam, lr=0.01), self.zero)
        part = np.linalg.norm(self.null @ self.adam[-1]) / np.linalg.norm(self.adam[-1])
        yield because("Adam divides each coordinate by its own size", at_most("from 0: part of the end in the null space", part, 1e-8))
        end = self.paths["gradient descent"][-1]
        yield because("the start is not in the row space", close("the end, least norm", end, self.best, 1e-8))
        far = self.path(partial(GradientDescent, lr=2.05 * self.eta), self.zero)[-1]
        yield because("η = 2.05/σ_1²", close("from 0: the end, least norm", far, self.best, 1e-8))

    def plots(self) -> list[Panel]:
        t, size = np.arange(400), lambda path, basis: np.maximum(np.linalg.norm(path[:400] @ basis.T, axis=1), 1e-16)
        left = Panel("The row space is solved", "step", "distance from x* in the row space", log="y")
        left.curve(t, {name: size(path - self.best, self.rows) for name, path in self.paths.items()})
        right = Panel("The null space is not touched", "step", "part in the null space, ‖z‖")
        right.curve(t, size(self.paths["SGD"], self.null), "all four from x₀").curve(t, size(self.plain, self.null), "descent from 0")
        return [left, right.control(t, size(self.adam, self.null), "Adam from 0")]
