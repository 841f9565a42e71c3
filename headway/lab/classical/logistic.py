"""Logistic regression: its gradient, its smoothness, and where gradient descent goes on separable data."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize, nnls
from scipy.special import expit, log_expit

from headway.core.config import require
from headway.lab import style
from headway.lab.checks import Check, at_least, at_most, close
from headway.lab.old import Experiment


@dataclass(frozen=True)
class Config:
    d: int = 5  # features, for gradient and Hessian
    s: int = 40  # samples, for gradient and Hessian
    points: int = 20  # of each separable set in the plane
    sets: int = 3  # separable sets that gradient descent runs on at once
    steps: int = 100_000  # of gradient descent

    def __post_init__(self) -> None:
        require(
            (2 <= self.d < self.s <= 500, "2 <= d < s <= 500"),
            (4 <= self.points <= 200 and 1 <= self.sets <= 20, "4 to 200 points, 1 to 20 sets"),
        )
        require((1000 <= self.steps <= 1_000_000, "steps are 1000 to 1000000"))


def loss(X: np.ndarray, y: np.ndarray, w: np.ndarray) -> float:
    """(1/s) Σ -log σ((2y_i - 1) w·x_i); the columns of X are the samples."""
    return float(-np.mean(log_expit((2 * y - 1) * (w @ X))))


def gradient(X: np.ndarray, y: np.ndarray, w: np.ndarray) -> np.ndarray:
    return X @ (expit(w @ X) - y) / y.size


def hessian(X: np.ndarray, w: np.ndarray) -> np.ndarray:
    p = expit(w @ X)
    return X * (p * (1 - p)) @ X.T / X.shape[1]


def max_margin(z: np.ndarray) -> tuple[np.ndarray, float]:
    """Direction and size of the largest margin; rows z_i = (2y_i - 1) x_i. It points to the hull's point next to 0."""
    weights, _ = nnls(np.vstack([z.T, np.ones(len(z))]), np.append(np.zeros(z.shape[1]), 1.0))
    u = weights @ z / np.linalg.norm(weights @ z)
    return u, float(np.min(z @ u))


def descend(z: np.ndarray, steps: int, marks: np.ndarray) -> np.ndarray:
    """Gradient descent from 0 with step 1/L on several sets "set, point, 2" at once; w after the steps in `marks`."""
    rate = 4 / np.linalg.norm(z, 2, axis=(1, 2)) ** 2  # 1/(Ls), with L = λ_max(ZᵀZ) / 4s
    push, pull, w = z.swapaxes(1, 2) * rate[:, None, None], -z, np.zeros((len(z), 2, 1))
    kept, wanted = [], set(marks.tolist())
    for t in range(1, steps + 1):
        e = np.exp(pull @ w)
        w += push @ (e / (1 + e))
        if t in wanted:
            kept.append(w[:, :, 0].copy())
    return np.array(kept)


class Logistic(Experiment):
    """Cross-entropy of a logistic model is convex and smooth; on separable data gradient descent turns to the largest margin.

        ℓ(w) = -log σ((2y-1) w·x),     ∇ℓ = (σ(w·x) - y) x,     ∇²ℓ = σ(1-σ) x xᵀ ⪯ ¼ x xᵀ,

    so the mean over s samples, the columns of X, is L-smooth with L = λ_max(XXᵀ)/(4s). On separable data it has no minimiser: w_t grows
    like log t / γ, where γ is the largest margin, and w_t/|w_t| tends to the direction of that margin, with an error of order 1/log t.

    The specification asserts only that |w_t| grows with log t; any growth would do, so the slope is asserted to be 1/γ within 25 % over the
    last two decades as well. The largest margin is found here, by non-negative least squares, and checked by trying directions.
    """

    lecture = "C"
    kinds = ("EXACT", "BOUND")
    cost = "S"
    source = "Soudry, Hoffer, Nacson, Gunasekar, Srebro 2018, https://arxiv.org/abs/1710.10345"
    assumptions = ("labels are 0 or 1", "for the direction: separable data, no bias, gradient descent with step at most 1/L")
    aliases = ("logistic regression", "implicit bias of gradient descent on separable data")
    panels = 2
    small = {"steps": 20000, "sets": 2}

    def measure(self, c: Config, rng: np.random.Generator) -> Iterator[Check]:
        X, y = rng.normal(size=(c.d, c.s)), rng.integers(0, 2, c.s).astype(float)
        h, eye = 1e-5, np.eye(c.d)
        points = rng.normal(size=(10, c.d))
        numeric = [[(loss(X, y, w + h * e) - loss(X, y, w - h * e)) / (2 * h) for e in eye] for w in points]
        yield close("gradient, by differences", [gradient(X, y, w) for w in points], numeric, 1e-7)
        numeric = [[(gradient(X, y, w + h * e) - gradient(X, y, w - h * e)) / (2 * h) for e in eye] for w in points]
        yield close("Hessian, by differences", [hessian(X, w) for w in points], numeric, 1e-7)
        self.L = float(np.linalg.eigvalsh(X @ X.T)[-1]) / (4 * c.s)
        spread = np.concatenate([points * scale for scale in (0.01, 0.1, 1, 5)])
        values = np.array([np.linalg.eigvalsh(hessian(X, w)) for w in spread])
        yield at_least("least eigenvalue of the Hessian (convex)", values[:, 0], 0)
        yield at_most("largest eigenvalue of the Hessian, against L", values[:, -1], self.L)
        yield close("the same at w = 0, where σ(1-σ) = ¼", float(np.linalg.eigvalsh(hessian(X, np.zeros(c.d)))[-1]), self.L)
        excess = [np.linalg.eigvalsh(X @ X.T / (4 * c.s) - hessian(X, w))[0] for w in spread]
        yield at_least("least eigenvalue of XXᵀ/4s - Hessian", excess, 0)
        ends = [minimize(lambda w: loss(X, y, w), w0, jac=lambda w: gradient(X, y, w), tol=1e-12).x for w0 in points[:3]]
        newton = np.zeros(c.d)
        for _ in range(30):
            newton -= np.linalg.solve(hessian(X, newton), gradient(X, y, newton))
        yield close("minimiser by Newton and by scipy from three starts", ends, np.broadcast_to(newton, (3, c.d)), 1e-5)
        self.X, self.marks = X, np.unique(np.geomspace(1, c.steps, 60).astype(int))
        x = [self.plane(c.points, rng) for _ in range(c.sets)]
        self.margins = [max_margin(z) for z in x]
        angle = np.linspace(0, 2 * math.pi, 20001)
        widest = [float(np.max(np.min(z @ np.stack([np.cos(angle), np.sin(angle)]), axis=0))) for z in x]
        gammas = np.array([gamma for _, gamma in self.margins])
        yield close("largest margin, by trying 20000 directions", widest, gammas, 1e-3)
        path = descend(np.stack(x), c.steps, self.marks)
        losses = np.array([[-np.mean(log_expit(x[k] @ w[k])) for k in range(c.sets)] for w in path])
        yield at_most("loss after more steps", losses[1:], losses[:-1])
        self.norms = np.linalg.norm(path, axis=2)
        u = np.array([direction for direction, _ in self.margins])
        self.angles = np.degrees(np.arccos(np.clip((path * u).sum(axis=2) / self.norms, -1, 1)))
        yield at_most(f"angle to the largest margin after {c.steps} steps, degrees", self.angles[-1], 10)
        late = self.marks >= c.steps / 100
        self.slopes = np.polyfit(np.log(self.marks[late]), self.norms[late], 1)[0]
        yield at_least("slope of |w| in log t", self.slopes, 0)
        yield at_most("that slope off 1/γ, relative", np.abs(self.slopes * gammas - 1), 0.25)
        yield at_most(
            "loss of 2w, against that of w", [float(-np.mean(log_expit(2 * z @ w))) for z, w in zip(x, path[-1], strict=True)], losses[-1]
        )
        self.x = x[0]

    @staticmethod
    def plane(points: int, rng: np.random.Generator) -> np.ndarray:
        """Points (2y - 1) x of the plane, at least 0.3 from a random line through 0."""
        t = rng.uniform(0, 2 * math.pi)
        x = rng.normal(size=(20 * points, 2))
        side = x @ [math.cos(t), math.sin(t)]
        return (np.sign(side)[:, None] * x)[np.abs(side) > 0.3][:points]

    def control(self, c: Config, rng: np.random.Generator) -> Iterator[Check]:
        yield at_most("Hessian at 0 against λ_max(XXᵀ)/5s", float(np.linalg.eigvalsh(hessian(self.X, np.zeros(c.d)))[-1]), 0.8 * self.L)
        z = self.x.copy()
        z[: c.points // 4] *= -1  # a quarter of the labels is wrong
        self.bounded = np.linalg.norm(descend(z[None], 4000, np.array([40, 400, 4000])), axis=2)[:, 0]
        growth = float(np.polyfit(np.log([40, 400, 4000]), self.bounded, 1)[0])
        yield at_least("slope of |w| in log t against 1/2γ, a quarter of the labels wrong", growth, 1 / (2 * self.margins[0][1]))

    def plot(self, c: Config, axes: "style.Panels") -> None:
        for k in range(min(c.sets, 5)):
            look = style.series(k) | {"marker": ""}
            axes[0].semilogx(self.marks, self.angles[:, k], **look, label=f"set {k + 1}, γ = {self.margins[k][1]:.2f}")
            axes[1].semilogx(self.marks, self.norms[:, k] * self.margins[k][1], **look, label=f"set {k + 1}")
        axes[0].axhline(10, **style.BOUND, label="10°")
        axes[0].set(title="The direction turns to the largest margin", xlabel="steps t", ylabel="angle (degrees)", ylim=(-0.5, 18))
        axes[1].semilogx(self.marks, np.log(self.marks), **style.BOUND, label="log t")
        axes[1].semilogx([40, 400, 4000], self.bounded * self.margins[0][1], **style.CONTROL, label="not separable")
        axes[1].set(title="The norm grows like log t / γ", xlabel="steps t", ylabel="γ |w|")
        axes[0].legend(ncols=2)
        axes[1].legend()
