"""Least squares, with samples as columns."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from headway.core.config import require
from headway.lab import style
from headway.lab.checks import Check, at_least, at_most, close, equal, printed
from headway.lab.old import Experiment


@dataclass(frozen=True)
class Config:
    d: int = 3  # features
    s: int = 25  # samples
    sigma: float = 0.5  # standard deviation of the noise
    draws: int = 30000  # of the noise, for the covariance of the estimate

    def __post_init__(self) -> None:
        require((2 <= self.d < self.s <= 1000, "2 <= d < s <= 1000"), (self.sigma > 0, "sigma > 0"), (self.draws >= 1000, "draws >= 1000"))


def loss(X: np.ndarray, y: np.ndarray, w: np.ndarray) -> float:
    """½ |Xᵀw - y|², a sum and not a mean."""
    return float(np.sum((X.T @ w - y) ** 2)) / 2


def gradient(X: np.ndarray, y: np.ndarray, w: np.ndarray) -> np.ndarray:
    return X @ X.T @ w - X @ y


def solve(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    return np.linalg.solve(X @ X.T, X @ y)


def differences(X: np.ndarray, y: np.ndarray, w: np.ndarray, h: float = 1e-4) -> np.ndarray:
    """The gradient of the loss by central differences, exact for a quadratic up to rounding."""
    return np.array([(loss(X, y, w + h * e) - loss(X, y, w - h * e)) / (2 * h) for e in np.eye(w.size)])


class Ols(Experiment):
    """The least-squares estimate is a projection: with samples as the columns of X it is w* = (XXᵀ)⁻¹ X y.

    For X ∈ ℝ^{d×s} and the loss ½ |Xᵀw - y|² = ½ Σ_i (w·x_i - y_i)²

        ∇ = XXᵀw - Xy,        w* = (XXᵀ)⁻¹ X y,        Xᵀw* = P y   with   P = Xᵀ(XXᵀ)⁻¹X = P² = Pᵀ,

    so the residual is orthogonal to the rows of X. With samples as rows, A = Xᵀ, it is the familiar (AᵀA)⁻¹Aᵀy. For y = Xᵀw + noise of
    variance σ² the estimate has covariance σ²(XXᵀ)⁻¹, the least of all linear unbiased estimates (Gauss and Markov). The specified 5 %
    takes 30000 draws: 5000 of them scatter by 2.8 %.
    """

    lecture = "C"
    kinds = ("EXACT",)
    cost = "S"
    source = "Gauss 1809; Markov 1900; Hastie, Tibshirani, Friedman 2009, The Elements of Statistical Learning, sec. 3.2"
    assumptions = ("XXᵀ is invertible", "for the covariance: noise of mean 0, variance σ², uncorrelated")
    errata = ("C7",)
    aliases = ("ordinary least squares", "OLSE", "linear regression")
    panels = 2
    small = {"draws": 2000}

    def measure(self, c: Config, rng: np.random.Generator) -> Iterator[Check]:
        X, w = rng.normal(size=(c.d, c.s)), rng.normal(size=c.d)
        y = X.T @ w + c.sigma * rng.normal(size=c.s)
        best = solve(X, y)
        for name, point in (("a random w", rng.normal(size=c.d)), ("w*", best)):
            yield close(f"gradient at {name}, by differences", gradient(X, y, point), differences(X, y, point), 1e-6)
        yield close("w* and numpy's lstsq", best, np.linalg.lstsq(X.T, y, rcond=None)[0])
        A = X.T
        yield close("w* with samples as rows", np.linalg.inv(A.T @ A) @ A.T @ y, best)
        yield close("residual times the rows of X", X @ (y - X.T @ best), np.zeros(c.d))
        P = X.T @ np.linalg.solve(X @ X.T, X)
        yield close("P is a projection: P² and Pᵀ", np.stack([P @ P, P.T]), np.stack([P, P]))
        yield close("rank of P", float(np.trace(P)), float(c.d))
        yield close("prediction P y", P @ y, X.T @ best)
        yield close("|y|² = |P y|² + |residual|²", float(np.sum((P @ y) ** 2) + 2 * loss(X, y, best)), float(y @ y))
        others = best + rng.normal(size=(200, c.d))
        yield at_least("loss elsewhere", [loss(X, y, z) for z in others], loss(X, y, best))
        self.X, self.y, self.w = X, y, w
        self.covariance = c.sigma**2 * np.linalg.inv(X @ X.T)
        noise = c.sigma * rng.normal(size=(c.draws, c.s))
        self.estimates = w + noise @ np.linalg.solve(X @ X.T, X).T
        found, size = np.cov(self.estimates.T), np.diagonal(self.covariance)
        # an entry of a covariance of Gaussian draws has variance (Σ_ii Σ_jj + Σ_ij²) / draws
        error = np.sqrt((np.outer(size, size) + self.covariance**2) / c.draws)
        yield at_most("covariance off σ²(XXᵀ)⁻¹, in standard errors", np.abs(found - self.covariance) / error, 4, kind="STAT")
        if 4 * math.sqrt((1 + c.d) / c.draws) <= 0.05:  # the most that the Frobenius norm scatters
            off = float(np.linalg.norm(found - self.covariance) / np.linalg.norm(self.covariance))
            yield at_most("covariance off σ²(XXᵀ)⁻¹, relative", off, 0.05, kind="STAT")
        least = []
        for _ in range(20):  # weighted least squares is linear and unbiased too
            B = X * rng.uniform(0.2, 2, c.s)
            L = np.linalg.solve(B @ X.T, B)
            least.append(np.linalg.eigvalsh(c.sigma**2 * L @ L.T - self.covariance)[0] / np.linalg.norm(self.covariance))
        yield at_least("covariance of other unbiased estimates less that of w*, least eigenvalue", least, -1e-12)

    def control(self, c: Config, rng: np.random.Generator) -> Iterator[Check]:
        X, y, w = self.X, self.y, self.w
        yield printed(equal("XᵀX w is defined: columns of XᵀX, entries of w", (X.T @ X).shape[1], w.size), "C7")
        square, target = rng.normal(size=(c.d, c.d)), rng.normal(size=c.d)
        wrong = square.T @ square @ w - square.T @ target
        yield printed(close("XᵀXw - Xᵀy as the gradient, d = s", wrong, differences(square, target, w), 1e-6), "C7")
        wrong = np.linalg.solve(square.T @ square, square.T @ target)
        yield printed(close("(XᵀX)⁻¹Xᵀy as w*, d = s", wrong, np.linalg.lstsq(square.T, target, rcond=None)[0]), "C7")
        yield close("gradient of the mean instead of ½ the sum", 2 / c.s * gradient(X, y, w), differences(X, y, w), 1e-6)

    def plot(self, c: Config, axes: "style.Panels") -> None:
        x, y = np.array([2.0, 1.0]), np.array([1.0, 2.2])  # d = 1, s = 2: the rows of X span a line in the space of answers
        foot = x * (x @ y) / (x @ x)
        axes[0].plot([0, 2.6], [0, 1.3], color=style.LINE, linewidth=4, label="all Xᵀw")
        for end, look, name in ((y, style.CURVE, "y"), (foot, style.CURVE | {"color": style.GREEN}, "P y = Xᵀw*")):
            axes[0].plot([0, end[0]], [0, end[1]], **look | {"marker": "o", "markevery": [1]}, label=name)
        axes[0].plot(*zip(foot, y, strict=True), **style.BOUND | {"color": style.VERMILION}, label="residual")
        u, v = 0.15 * x / np.linalg.norm(x), 0.15 * (y - foot) / np.linalg.norm(y - foot)
        axes[0].plot(*zip(foot + u, foot + u + v, foot + v, strict=True), color=style.INK, linewidth=1)
        axes[0].set(
            title="Least squares is a projection", xlabel="first answer", ylabel="second answer", xlim=(-0.1, 3.6), ylim=(-0.1, 2.5)
        )
        axes[0].set_aspect("equal")
        axes[0].legend(loc="upper right")
        shown, block = self.estimates[:1500, :2], self.covariance[:2, :2]
        axes[1].plot(*shown.T, ".", color=style.SKY, markersize=2.5, rasterized=True, label="w* for fresh noise")
        t = np.linspace(0, 2 * math.pi, 200)
        ring = self.w[:2, None] + math.sqrt(2 * math.log(20)) * np.linalg.cholesky(block) @ np.stack([np.cos(t), np.sin(t)])
        axes[1].plot(*ring, **style.BOUND, label="95 % of N(w, σ²(XXᵀ)⁻¹)")
        axes[1].plot(*self.w[:2], marker="x", color=style.VERMILION, linestyle="none", markersize=8, label="true w")
        axes[1].set(title="Its covariance", xlabel="first weight", ylabel="second weight")
        axes[1].margins(y=0.4)
        axes[1].legend(loc="upper right", fontsize=8.5)
