"""Polynomials of several variables as sums of powers of linear forms."""

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from headway.core.config import require
from headway.lab import style
from headway.lab.certified import certified_sup
from headway.lab.checks import Check, at_most, close, equal
from headway.lab.old import Experiment
from headway.lab.relu_net import ReluNet


@dataclass(frozen=True)
class Config:
    variables: tuple[int, ...] = (2, 3)  # the numbers n of variables
    degree: int = 5  # the largest degree k
    knots: tuple[int, ...] = (9, 17, 33, 65)  # knots M of each interpolant
    points: int = 2000  # random points of the cube [-1, 1]^n

    def __post_init__(self) -> None:
        require((all(2 <= n <= 4 for n in self.variables), "variables are 2, 3 or 4"), (2 <= self.degree <= 6, "degree is 2 to 6"))
        require((min(self.knots) >= 3, "at least 3 knots"), (self.points >= 50, "points >= 50"))


def exponents(n: int, k: int) -> np.ndarray:
    """All α with α_1 + ... + α_n = k: the monomials x^α of degree k."""
    return np.array([alpha for alpha in itertools.product(range(k + 1), repeat=n) if sum(alpha) == k])


def monomials(x: np.ndarray, alpha: np.ndarray) -> np.ndarray:
    return np.prod(x[:, None, :] ** alpha, axis=2)


def ridge_matrix(w: np.ndarray, alpha: np.ndarray) -> np.ndarray:
    """Column i: the coefficients k!/α! w_i^α of <w_i,x>^k."""
    k = int(alpha[0].sum())
    multinomial = [math.factorial(k) / math.prod(math.factorial(int(e)) for e in a) for a in alpha]
    return np.array(multinomial)[:, None] * monomials(w, alpha).T


def directions(n: int, k: int, rng: np.random.Generator) -> np.ndarray:
    """binomial(n+k-1, k) random unit vectors."""
    w = rng.normal(size=(math.comb(n + k - 1, k), n))
    return w / np.linalg.norm(w, axis=1, keepdims=True)


def interpolant(k: int, T: float, M: int) -> tuple[np.ndarray, np.ndarray, float]:
    """t^k at M knots of [-T, T] as (-T)^k + Σ_j jump_j (t - knot_j)_+: M - 1 knots, their jumps, and the constant."""
    t = np.linspace(-T, T, M)
    return t[:-1], np.diff(np.diff(t**k) / np.diff(t), prepend=0.0), float((-T) ** k)


def ridge_net(w: np.ndarray, coefficients: np.ndarray, k: int, M: int) -> ReluNet:
    """Σ_i c_i <w_i,x>^k with every power replaced by its interpolant: one hidden layer of N (M - 1) units."""
    knots, jumps, shift = interpolant(k, math.sqrt(w.shape[1]), M)
    first = (np.repeat(w, knots.size, axis=0), np.tile(-knots, len(w)))
    return ReluNet((first, (np.outer(coefficients, jumps).ravel()[None], [shift * float(coefficients.sum())])))


class LiftingRidge(Experiment):
    """A polynomial of n variables is a sum of powers of linear forms, so what works on the line works in n dimensions.

    Every homogeneous polynomial of degree k is, for N = binomial(n+k-1, k) generic directions w_i,

        p(x) = Σ_{i=1}^{N} c_i <w_i,x>^k,          for example    xy = ((x+y)² - (x-y)²) / 4.

    With t^k interpolated at M knots, spacing h, on [-T, T], a ReLU net of N (M - 1) units errs by at most Σ |c_i| (h²/8) k(k-1) T^{k-2}.
    On the cube [-1, 1]^n unit vectors give |<w,x>| <= T = √n.
    """

    lecture = "C"
    kinds = ("BOUND",)
    cost = "S"
    source = "Pinkus 1999, section 3, https://doi.org/10.1017/S0962492900002919; ETH Deep Learning notes, section 2"
    assumptions = ("the directions are generic: their k-th powers are linearly independent",)
    aliases = ("lifting by ridge functions", "ridge function representation of polynomials")
    panels = 3
    small = {"degree": 3, "points": 300}

    def measure(self, c: Config, rng: np.random.Generator) -> Iterator[Check]:
        x = rng.uniform(-1, 1, (c.points, 2))
        product = ((x[:, 0] + x[:, 1]) ** 2 - (x[:, 0] - x[:, 1]) ** 2) / 4
        yield close("xy is ((x+y)² - (x-y)²)/4", product, x[:, 0] * x[:, 1], 1e-15)
        self.errors = {}
        for n in c.variables:
            x, worst, ranks, sizes = rng.uniform(-1, 1, (c.points, n)), [], [], []
            for k in range(1, c.degree + 1):
                alpha, w = exponents(n, k), directions(n, k, rng)
                A, p = ridge_matrix(w, alpha), rng.normal(size=len(alpha))
                coefficients = np.linalg.solve(A, p)
                worst.append(np.max(np.abs((x @ w.T) ** k @ coefficients - monomials(x, alpha) @ p)))
                ranks.append(np.linalg.matrix_rank(A, tol=1e-12))
                sizes.append(math.comb(n + k - 1, k))
            yield close(f"p is a sum of ridge powers, n = {n}, k = 1 … {c.degree}", worst, np.zeros(c.degree), 1e-9)
            yield equal(f"rank for generic directions, n = {n}", np.array(ranks), np.array(sizes))
            yield equal(f"nodes of the ReLU net, n = {n}, k = {k}", ridge_net(w, coefficients, k, 9).nodes, sizes[-1] * 8)
            T, total, h = math.sqrt(n), float(np.abs(coefficients).sum()), 2 * math.sqrt(n) / (np.array(c.knots) - 1)
            single = h**2 / 8 * k * (k - 1) * T ** (k - 2)
            one = []
            for M in c.knots:
                knots, jumps, shift = interpolant(k, T, M)
                gap = lambda t, s=shift, q=knots, j=jumps: t**k - s - np.maximum(t[:, None] - q, 0) @ j  # noqa: B023, E731
                one.append(certified_sup(gap, k * (k - 1) * T ** (k - 2) * 2 * T / (M - 1), -T, T, 1e-2).high)
            yield at_most(f"one interpolant of t^{k}: sup error, T = √{n}", one, single, rounding=0.011)  # certified to one per cent
            found = [np.max(np.abs(ridge_net(w, coefficients, k, M)(x)[:, 0] - monomials(x, alpha) @ p)) for M in c.knots]
            yield at_most(f"ReLU net: error at {c.points} points, n = {n}, k = {k}", found, total * single)
            self.errors[n] = (found, total * single)

    def control(self, c: Config, rng: np.random.Generator) -> Iterator[Check]:
        n, k = c.variables[-1], c.degree
        w = directions(n, k, rng)
        w[1] = w[0]
        found = int(np.linalg.matrix_rank(ridge_matrix(w, exponents(n, k)), tol=1e-12))
        yield equal(f"rank with one direction repeated, n = {n}, k = {k}", found, len(w))
        alpha, p = exponents(n, k), rng.normal(size=math.comb(n + k - 1, k))
        A = ridge_matrix(directions(n, k, rng)[:-1], alpha)
        rest = A @ np.linalg.lstsq(A, p, rcond=None)[0] - p
        yield close(f"one direction too few, n = {n}, k = {k}: coefficients that stay wrong", float(np.linalg.norm(rest)), 0.0, 1e-9)

    def plot(self, c: Config, axes: "style.Panels") -> None:
        t = np.linspace(-1, 1, 81)
        mesh = np.stack(np.meshgrid(t, t), axis=-1).reshape(-1, 2)
        w = np.array([[1.0, 1.0], [1.0, -1.0]]) / math.sqrt(2)
        chosen = ((w[:1], np.array([0.5])), (w[1:], np.array([-0.5])), (w, np.array([0.5, -0.5])))
        parts = [ridge_net(v, coefficients, 2, 9) for v, coefficients in chosen]
        titles = ("(x + y)²/4, 8 units", "-(x - y)²/4, 8 units", "the sum: nearly xy")
        for panel, net, title in zip(axes, parts, titles, strict=True):
            z = net(mesh).reshape(t.size, t.size)
            panel.imshow(z, origin="lower", extent=(-1, 1, -1, 1), vmin=-1, vmax=1, interpolation="nearest")
            lines = panel.contour(t, t, z, levels=[-0.5, -0.25, 0.25, 0.5], colors="white", linewidths=0.8)
            panel.clabel(lines, fontsize=7)
            panel.set(title=title, xlabel="x", ylabel="y", xticks=[-1, 0, 1], yticks=[-1, 0, 1])
            panel.grid(visible=False)
