from headway.lab.kit import (
    Checks, Experiment, Generator, Panel, at_least, at_most, because, close, headline, linear_slope, monotone, np, param,
)
from headway.lab.tools.differences import differences
from headway.lab.tools.logistic import descend, gradient, hessian, loss, offsets, plane
from headway.lab.tools.programs import max_margin
from headway.models.classical.logistic_regression import LogisticRegression


class Logistic(Experiment):
    """Cross-entropy of a logistic model is convex and smooth; on separable data gradient descent turns to the largest margin.

        ℓ(w) = -log σ((2y-1) w·x),     ∇ℓ = (σ(w·x) - y) x,     ∇²ℓ = σ(1-σ) x xᵀ ⪯ ¼ x xᵀ,

    so the mean over s samples, the columns of X, is L-smooth with L = λ_max(XXᵀ)/(4s). On separable data it has no minimiser: with
    ŵ = u/γ, where u is the direction of the largest margin γ and ŵ = Σ α_i z_i over the support vectors z_i,

        w_t = ŵ log t + w̃ + o(1),     (η/s) exp(-w̃·z_i) = α_i,     so the angle to u falls like 1 / log t.

    Notes: C. Source: Soudry, Hoffer, Nacson, Gunasekar, Srebro 2018, https://arxiv.org/abs/1710.10345
    Assumes: labels are 0 or 1; for the direction: separable data, no bias, gradient descent with step at most 1/L.
    Deviates: not a small angle, but w̃ is asserted. Also: logistic regression; implicit bias of gradient descent on separable data.
    """

    d = param(5, "features of 8d samples, for gradient and Hessian", least=2, most=20)
    points = param(20, "of each separable set in the plane", least=4, most=30)
    sets = param(3, "separable sets that gradient descent runs on at once", least=1, most=8, small=2)
    gamma = param(0.4, "their margin γ", least=0.2, most=1.0)
    steps = param(50_000, "of gradient descent", least=10_000, most=1_000_000, small=10_000)

    def measure(self, rng: Generator) -> Checks:
        s = 8 * self.d  # so many that no plane separates them
        self.X, y = X, y = rng.normal(size=(self.d, s)), rng.integers(0, 2, s).astype(float)
        points, most = rng.normal(size=(10, self.d)), X @ X.T / (4 * s)
        numeric = [differences(lambda v: loss(X, y, v), w) for w in points]
        yield close("gradient, by differences", [gradient(X, y, w) for w in points], numeric, 1e-7)
        numeric = [differences(lambda v: gradient(X, y, v), w) for w in points]
        yield close("Hessian, by differences", [hessian(X, w) for w in points], numeric, 1e-7)
        found = np.array([hessian(X, scale * w) for scale in (0.01, 0.1, 1, 5) for w in points])
        least = {"Hessian": np.linalg.eigvalsh(found)[:, 0], "XXᵀ/4s - Hessian": np.linalg.eigvalsh(most - found)[:, 0]}
        yield at_least("least eigenvalue of the Hessian and of XXᵀ/4s - Hessian", least, 0)
        model, one = LogisticRegression().fit(X.T, y), np.vstack([X, np.ones(s)])
        there = gradient(one, y, np.append(model.coef_, model.intercept_))
        yield close("gradient at the weights of `logistic-regression`", there, 0.0, 1e-7)
        self.z = z = np.stack([plane(self.points, self.gamma, rng) for _ in range(self.sets)])
        best = [max_margin(rows) for rows in z]
        yield close("largest margin, by its program", [b.size for b in best], self.gamma)
        self.marks = np.unique(np.geomspace(1, self.steps, 60).astype(int))
        path, late, log_t = descend(z, self.marks), self.marks >= self.steps / 10, np.log(self.marks)
        losses = [[loss(rows.T, np.ones(self.points), v) for rows, v in zip(z, w, strict=True)] for w in path]
        yield at_most("loss after more steps", losses[1:], losses[:-1])
        self.norms, self.limit, u = np.linalg.norm(path, axis=2), offsets(z, best), np.array([b.direction for b in best])
        self.rest = np.linalg.norm(path - log_t[:, None, None] * (u / self.gamma) - self.limit, axis=2)
        self.angles = np.degrees(np.arccos(np.clip((path * u).sum(axis=2) / self.norms, -1, 1)))
        yield headline(at_most(f"|w_t - ŵ log t - w̃| / |w_t|, t = {self.steps}", self.rest[-1] / self.norms[-1], 0.03))
        yield monotone("its largest value, over the last decade of steps", self.rest[late].max(axis=1), "falls")
        yield at_most("angle to u, degrees", self.angles[-1], 10)
        yield linear_slope("γ |w_t| in log t", log_t[late], (self.norms * self.gamma).mean(axis=1)[late], 1, 0.2)

    def control(self, rng: Generator) -> Checks:
        z, marks = self.z[:1].copy(), self.marks[self.marks >= self.steps / 10]
        z[0, : self.points // 4 + 1] *= -1
        self.bounded = np.linalg.norm(descend(z, marks), axis=2)[:, 0] * self.gamma
        yield because("a quarter of labels is wrong", linear_slope("γ |w_t| in log t", np.log(marks), self.bounded, 1, 0.2))

    def resolution(self, rng: Generator) -> Checks:
        top, found = (np.linalg.eigvalsh(m)[-1] for m in (self.X @ self.X.T, hessian(self.X, np.zeros(self.d))))
        yield at_most("Hessian at 0 against λ_max(XXᵀ)/5s", found, top / (5 * self.X.shape[1]))
        yield at_most("|w_t - ŵ log t| / |w_t|, without w̃", np.linalg.norm(self.limit, axis=1) / self.norms[-1], 0.03)

    def plots(self) -> list[Panel]:
        left = Panel("w turns to the margin", "steps t", "angle to u (degrees)", log="x")
        middle = Panel("Its norm: log t / γ", "steps t", "γ |w|", log="x")
        right = Panel("The rest tends to w̃", "steps t", "|w - ŵ log t - w̃|", log="xy")
        for k in range(min(self.sets, 5)):
            left.curve(self.marks[3:], self.angles[3:, k], f"set {k + 1}")
            middle.curve(self.marks, self.norms[:, k] * self.gamma, f"set {k + 1}")
            right.curve(self.marks, self.rest[:, k], f"set {k + 1}")
        middle.control(self.marks[-len(self.bounded) :: 3], self.bounded[::3], "not separable")
        return [left, middle.bound(self.marks, np.log(self.marks), "log t"), right]
