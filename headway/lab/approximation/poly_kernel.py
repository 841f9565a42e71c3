"""The features of the polynomial kernel."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import combinations_with_replacement
from math import comb, factorial, prod

import numpy as np

from headway.core.config import require
from headway.lab import style
from headway.lab.checks import Check, at_most, close, equal
from headway.lab.old import Experiment


@dataclass(frozen=True)
class Config:
    dimensions: int = 4  # d = 1 … dimensions
    degree: int = 5  # k = 1 … degree
    points: int = 150  # random points of [-1, 1]^d
    degrees: int = 8  # of the polynomial regression

    def __post_init__(self) -> None:
        require(
            (1 <= self.dimensions <= 5 and 2 <= self.degree <= 6, "d is 1 to 5 and k is 2 to 6"),
            (2 <= self.degrees <= 12, "degrees is 2 to 12"),
        )
        require((self.points > comb(self.dimensions + self.degree, self.degree), "more points than features"))


@cache
def exponents(d: int, k: int) -> tuple[tuple[int, ...], ...]:
    """All (a_0, a_1 … a_d) with sum k; a_0 belongs to the constant 1."""
    return tuple(tuple(chosen.count(j) for j in range(d + 1)) for chosen in combinations_with_replacement(range(d + 1), k))


def multinomial(a: tuple[int, ...]) -> int:
    return factorial(sum(a)) // prod(factorial(e) for e in a)


def monomials(x: np.ndarray, k: int) -> np.ndarray:
    """x^a for every exponent, without weights; integers stay integers."""
    a = np.array(exponents(x.shape[1], k))[:, 1:]
    return np.prod(x[:, None] ** a, axis=2)


def phi(x: np.ndarray, k: int) -> np.ndarray:
    """φ_a(x) = sqrt(multinomial(a)) x^a."""
    return monomials(x, k) * np.sqrt([multinomial(a) for a in exponents(x.shape[1], k)])


def kernel(x: np.ndarray, z: np.ndarray, k: int) -> np.ndarray:
    return (1 + x @ z.T) ** k


def rank(gram: np.ndarray) -> int:
    """Eigenvalues above rounding: the number of points times the largest, times the precision."""
    values = np.linalg.eigvalsh(gram)
    return int(np.sum(values > len(gram) * values[-1] * np.finfo(float).eps))


def residual(features: np.ndarray, y: np.ndarray) -> float:
    """Mean square of what least squares leaves."""
    return float(np.mean((y - features @ np.linalg.lstsq(features, y, rcond=None)[0]) ** 2))


class PolyKernel(Experiment):
    """The kernel (1 + ⟨x, z⟩)^k is an inner product of binomial(d + k, k) weighted monomials.

        (1 + ⟨x, z⟩)^k = ⟨φ(x), φ(z)⟩,      φ_a(x) = sqrt(k! / (a_0! a_1! … a_d!)) x_1^{a_1} … x_d^{a_d},      a_0 + … + a_d = k

    So a linear fit in feature space is a polynomial of degree k, the Gram matrix of many points has rank binomial(d + k, k), and ridge
    regression gives the same function from the features and from the kernel. The best linear fit of x_1 x_2 on a symmetric grid is 0;
    degree 2 is exact. A higher degree never has a larger residual.
    """

    lecture = "A"
    kinds = ("EXACT", "BOUND")
    cost = "S"
    source = "Schölkopf, Smola 2002, Learning with Kernels, ch. 2"
    assumptions = ("points in general position (for the rank)", "degree k is a whole number")
    aliases = ("polynomial kernel", "monomial feature map", "polynomial against linear regression")
    panels = 2
    small = {"dimensions": 3, "degree": 4, "points": 60}

    def measure(self, c: Config, rng: np.random.Generator) -> Iterator[Check]:
        sizes = [(d, k) for d in range(1, c.dimensions + 1) for k in range(1, c.degree + 1)]
        gaps, whole, counts, cauchy = [], 0, [], []
        for d, k in sizes:
            x, z, small = rng.uniform(-1, 1, (40, d)), rng.uniform(-1, 1, (40, d)), rng.integers(-4, 5, (30, d))
            gaps.append(np.max(np.abs(phi(x, k) @ phi(z, k).T - kernel(x, z, k))) / np.max(np.abs(kernel(x, z, k))))
            weights = np.array([multinomial(a) for a in exponents(d, k)])
            whole += int(np.sum((monomials(small, k) * weights) @ monomials(small[::-1], k).T != kernel(small, small[::-1], k)))
            counts.append(phi(x, k).shape[1])
            cauchy.append(np.max(kernel(x, z, k) ** 2 / np.outer(np.diag(kernel(x, x, k)), np.diag(kernel(z, z, k)))))
        yield close(f"features against kernel, of its largest value, d <= {c.dimensions}, k <= {c.degree}", gaps, np.zeros(len(gaps)))
        yield equal("whole numbers: entries of features and kernel that differ", whole, 0)
        yield equal("features are binomial(d + k, k)", np.array(counts), np.array([comb(d + k, k) for d, k in sizes]))
        yield at_most("k(x, z)² over k(x, x) k(z, z) (Cauchy-Schwarz)", cauchy, 1.0, rounding=1e-12)
        found = [rank(kernel(x, x, k)) for d, k in sizes for x in [rng.uniform(-1, 1, (c.points, d))]]
        yield equal(f"rank of the Gram matrix of {c.points} points", np.array(found), np.array(counts))
        yield from self._regression(c, rng)

    def _regression(self, c: Config, rng: np.random.Generator) -> Iterator[Check]:
        t = np.linspace(-1, 1, 15)
        grid = np.stack([a.ravel() for a in np.meshgrid(t, t)], axis=1)
        y = grid[:, 0] * grid[:, 1]
        yield close("x₁x₂ on a grid: the linear fit explains nothing", residual(phi(grid, 1), y), np.mean(y**2))
        yield close("x₁x₂ on a grid: residual of degree 2", residual(phi(grid, 2), y), 0.0)
        self.x = np.sort(rng.uniform(-1, 1, 80))[:, None]
        self.y = np.sin(4 * self.x[:, 0]) + 0.1 * rng.normal(size=80)
        self.residuals = np.array([residual(phi(self.x, k), self.y) for k in range(1, c.degrees + 1)])
        yield at_most("residuals of sin 4x + noise fall with the degree", self.residuals[1:], self.residuals[:-1], rounding=1e-9)
        new, ridge = np.linspace(-1, 1, 50)[:, None], 1e-2
        k, F = c.degree, phi(self.x, c.degree)
        primal = phi(new, k) @ np.linalg.solve(F.T @ F + ridge * np.eye(F.shape[1]), F.T @ self.y)
        dual = kernel(new, self.x, k) @ np.linalg.solve(kernel(self.x, self.x, k) + ridge * np.eye(80), self.y)
        yield close(f"ridge regression from features and from the kernel, k = {k}", primal, dual, 1e-9)

    def control(self, c: Config, rng: np.random.Generator) -> Iterator[Check]:
        d, k = c.dimensions, c.degree
        x, z = rng.uniform(-1, 1, (c.points, d)), rng.uniform(-1, 1, (40, d))
        yield close("monomials without their weights", monomials(x, k) @ monomials(z, k).T, kernel(x, z, k))
        yield equal("⟨x, z⟩^k without the 1: rank of the Gram matrix", rank((x @ x.T) ** k), comb(d + k, k))
        yield at_most("sin 4x: linear fit as good as degree 5", self.residuals[0], residual(phi(self.x, 5), self.y))

    def plot(self, c: Config, axes: "style.Panels") -> None:
        t = np.linspace(-1, 1, 300)[:, None]
        axes[0].plot(self.x[:, 0], self.y, color=style.SOFT, marker=".", linestyle="none", label="data")
        for colour, k in ((style.ORANGE, 1), (style.GREEN, 3), (style.BLUE, 5)):
            fit = np.linalg.lstsq(phi(self.x, k), self.y, rcond=None)[0]
            axes[0].plot(t[:, 0], phi(t, k) @ fit, **style.CURVE | {"color": colour}, label=f"degree {k}")
        axes[0].set(title="Linear fits in feature space", xlabel="x", ylabel="y", xticks=[-1, -0.5, 0, 0.5, 1], ylim=(-2.2, None))
        axes[1].semilogy(range(1, c.degrees + 1), self.residuals, **style.MEASURED, label="least squares")
        axes[1].axhline(0.01, **style.BOUND, label="variance of the noise")
        axes[1].set(title="A higher degree never fits worse", xlabel="degree k", ylabel="mean squared residual")
        axes[0].legend(loc="lower left", ncols=2)
        axes[1].legend()
