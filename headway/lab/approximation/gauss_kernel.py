"""The features of the Gaussian kernel, and how fast its spans converge."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln

from headway.core.config import require
from headway.lab import style
from headway.lab.checks import Check, at_most, close, loglog_slope, published, slope
from headway.lab.old import Experiment

Function = Callable[[np.ndarray], np.ndarray]
SMOOTH = {10: 1.2e-2, 20: 9.6e-5, 30: 1.1e-7}  # largest error for sin 5x by number of nodes
KINK = {10: 0.127, 20: 0.048, 30: 0.033}  # for |x|


@dataclass(frozen=True)
class Config:
    truncations: int = 20  # K = 0 … truncations
    shapes: tuple[float, ...] = (0.5, 1.0, 2.0)  # γ of the truncated series on [-1, 1]
    gamma: float = 10.0  # γ of the kernel ridge regression
    ridge: float = 1e-12  # λ
    nodes: tuple[int, ...] = (5, 10, 15, 20, 25, 30, 40, 60, 80)  # Chebyshev nodes n

    def __post_init__(self) -> None:
        require((5 <= self.truncations <= 60, "truncations is 5 to 60"), (all(0 < g <= 5 for g in self.shapes), "γ is between 0 and 5"))
        require((self.gamma > 0 and self.ridge > 0, "γ and λ are positive"), (all(2 <= n <= 200 for n in self.nodes), "n is 2 to 200"))


def kernel(x: np.ndarray, z: np.ndarray, gamma: float) -> np.ndarray:
    return np.exp(-gamma * (x[:, None] - z) ** 2)


def phi(x: np.ndarray, K: int, gamma: float) -> np.ndarray:
    """φ_k(x) = e^{-γx²} sqrt((2γ)^k / k!) x^k for k = 0 … K."""
    k = np.arange(K + 1)
    return np.exp(-gamma * x[:, None] ** 2 + (k * np.log(2 * gamma) - gammaln(k + 1)) / 2) * x[:, None] ** k


def bound(K: np.ndarray, t: float) -> np.ndarray:
    """t^{K+1} / (K+1)! / (1 - t/(K+2)) where K + 2 > t."""
    return np.exp((K + 1) * np.log(t) - gammaln(K + 2)) / (1 - t / (K + 2))


def sine(x: np.ndarray) -> np.ndarray:
    return np.sin(5 * x)


def chebyshev(n: int) -> np.ndarray:
    return np.cos((np.arange(n) + 0.5) * np.pi / n)


@dataclass(frozen=True)
class Ridge:
    """Kernel ridge regression at the nodes x, and its norm in the kernel's space."""

    x: np.ndarray
    weights: np.ndarray
    gamma: float

    def __call__(self, t: np.ndarray) -> np.ndarray:
        return kernel(t, self.x, self.gamma) @ self.weights

    def norm(self) -> float:
        return float(np.sqrt(self.weights @ kernel(self.x, self.x, self.gamma) @ self.weights))


def ridge(f: Function, n: int, gamma: float, penalty: float) -> Ridge:
    x = chebyshev(n)
    return Ridge(x, np.linalg.solve(kernel(x, x, gamma) + penalty * np.eye(n), f(x)), gamma)


def on_grid(fit: Function, f: Function, points: int = 4001) -> float:
    t = np.linspace(-1, 1, points)
    return float(np.max(np.abs(fit(t) - f(t))))


class GaussKernel(Experiment):
    """The Gaussian kernel has infinitely many features that die out fast, and its spans approximate smooth functions very fast.

        exp(-γ(x-z)²) = Σ_k φ_k(x) φ_k(z),      φ_k(x) = e^{-γx²} sqrt((2γ)^k / k!) x^k

    For |x|, |z| <= R and t = 2γR² the remainder after K is largest at x = z = R, where it is P(Poisson(t) > K), and

        P(Poisson(t) > K) <= t^{K+1} / (K+1)! · 1/(1 - t/(K+2)),      K + 2 > t.

    So the eigenvalues of a Gram matrix fall like that too. Ridge regression at n Chebyshev nodes of [-1, 1] approaches sin 5x faster than
    any power of 1/n until rounding; for |x| the error falls about like 1/n. Errors are the largest on 4001 points; for sin 5x and n = 30
    it is certified by |u''| <= √12 γ ‖u‖ in the kernel's space. For |x| the slope on n = 10 … 40 was measured, -1.16, before -1 ± 0.25
    was fixed; beyond, the penalty levels the error (-0.90 with R² 0.94 on n = 10 … 80).
    """

    lecture = "A"
    kinds = ("EXACT", "BOUND")
    cost = "S"
    source = "Steinwart, Hush, Scovel 2006, https://doi.org/10.1109/TIT.2006.881713; Micchelli, Xu, Zhang 2006, Universal Kernels"
    assumptions = ("a compact interval", "K + 2 > t", "the target is smooth (for the fast rate)")
    aliases = ("Gaussian kernel", "RBF kernel features", "universal kernel")
    panels = 2
    small = {"nodes": (10, 20, 30, 40)}

    def measure(self, c: Config, rng: np.random.Generator) -> Iterator[Check]:
        from scipy.stats import poisson

        K, x, one = np.arange(c.truncations + 1), rng.uniform(-1, 1, 100), np.ones(1)
        for gamma in c.shapes:
            terms, edge, t = phi(x, 60, gamma), phi(one, 60, gamma)[0] ** 2, 2 * gamma
            yield close(f"γ = {gamma:g}: sixty features against the kernel", terms @ terms.T, kernel(x, x, gamma))
            tail = np.array([edge[k + 1 :].sum() for k in K])  # the remainder at x = z = 1, summed without cancellation
            yield close(f"γ = {gamma:g}: largest remainder over scipy's Poisson tail", tail / poisson.sf(K, t), np.ones(K.size), 1e-9)
            rest = np.array([np.max(np.abs(terms[:, k + 1 :] @ terms[:, k + 1 :].T)) for k in K])
            yield at_most(f"γ = {gamma:g}: remainder at random points against that at x = z = 1", rest, tail)
            valid = t < K + 2
            yield at_most(f"γ = {gamma:g}: remainder against the bound, K <= {K[-1]}", tail[valid], bound(K[valid], t))
        self.tail, self.K = tail, K
        x = chebyshev(40)
        self.spectrum = np.linalg.eigvalsh(kernel(x, x, c.gamma))[::-1]
        k, feature = np.arange(1, 40), phi(x, 150, c.gamma)
        self.limit = np.array([np.sum(feature[:, j:] ** 2) for j in k])  # the trace of the rest after j features bounds eigenvalue j + 1
        yield at_most("eigenvalues of a Gram matrix against the rest of the features", self.spectrum[1:], self.limit)
        self.errors = {
            name: np.array([on_grid(ridge(f, n, c.gamma, c.ridge), f) for n in c.nodes]) for name, f in (("sin 5x", sine), ("|x|", np.abs))
        }
        default = (c.gamma, c.ridge) == (10.0, 1e-12)
        for n in sorted(set(c.nodes) & set(SMOOTH)) if default else ():
            i = c.nodes.index(n)
            yield published(f"sin 5x, n = {n}: reference value", self.errors["sin 5x"][i], SMOOTH[n], 0.05 * SMOOTH[n])
            yield published(f"|x|, n = {n}: reference value", self.errors["|x|"][i], KINK[n], 1e-3)
        fit, points = ridge(sine, 30, c.gamma, c.ridge), 80_001
        spacing, curvature = 2 / (points - 1), np.sqrt(12) * c.gamma * fit.norm() + 25
        self.certified = on_grid(fit, sine, points) + spacing**2 / 8 * curvature
        yield at_most("sin 5x, n = 30: sup error, certified", self.certified, 1e-6)
        n = (10, 20, 30)
        steep = [on_grid(ridge(sine, m, c.gamma, c.ridge), sine) for m in n]
        yield at_most(
            "sin 5x: slope from n = 20 to 30 below that from 10 to 20", loglog_slope(n[1:], steep[1:])[0], loglog_slope(n[:2], steep[:2])[0]
        )
        even = (10, 20, 30, 40)  # an odd number has a node at the kink
        yield slope("|x|: error in n = 10 … 40", even, [on_grid(ridge(np.abs, m, c.gamma, c.ridge), np.abs) for m in even], -1, 0.25)

    def control(self, c: Config, rng: np.random.Generator) -> Iterator[Check]:
        yield at_most("the bound with t = γR² in place of 2γR²", self.tail[5:], bound(self.K[5:], c.shapes[-1]))
        yield at_most("|x| is not smooth: largest error at n = 30", on_grid(ridge(np.abs, 30, c.gamma, c.ridge), np.abs), 1e-6)
        x = chebyshev(30)
        few = np.linalg.lstsq(phi(x, 5, c.gamma), sine(x), rcond=None)[0]
        yield at_most("six features only: largest error at n = 30", on_grid(lambda s: phi(s, 5, c.gamma) @ few, sine), 1e-6)

    def plot(self, c: Config, axes: "style.Panels") -> None:
        for i, (name, errors) in enumerate(self.errors.items()):
            axes[0].loglog(c.nodes, errors, **style.series(i), label=name)
        axes[0].loglog(c.nodes, 1 / np.array(c.nodes), **style.BOUND, label="1/n")
        axes[0].set(title=f"Kernel ridge regression, γ = {c.gamma:g}", xlabel="nodes n", ylabel="largest error on 4001 points")
        axes[1].semilogy(np.arange(1, 41), np.where(self.spectrum > 1e-17, self.spectrum, np.nan), **style.MEASURED, label="eigenvalues")
        axes[1].semilogy(np.arange(2, 41), self.limit, **style.BOUND, label="rest of the features")
        axes[1].set(title="Gram matrix of 40 nodes", xlabel="number", ylabel="eigenvalue", ylim=(1e-18, 1e3))
        for panel in axes:
            panel.legend(loc="lower left")
