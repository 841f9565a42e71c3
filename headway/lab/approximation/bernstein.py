"""Bernstein's polynomials, and the ways that do not work."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import comb, pi

import numpy as np

from headway.core.config import require
from headway.lab import style
from headway.lab.certified import certified_sup
from headway.lab.checks import Check, at_most, close, printed, published
from headway.lab.old import Experiment

Function = Callable[[np.ndarray], np.ndarray]
PUBLISHED = {10: 0.12305, 40: 0.06269, 160: 0.03149}  # sup error for |x - 1/2|


@dataclass(frozen=True)
class Config:
    degrees: tuple[int, ...] = (10, 20, 40, 80, 160, 320, 640)  # n of the Bernstein polynomials
    nodes: tuple[int, ...] = (10, 20, 30, 40)  # degrees of the interpolants of 1/(1 + 25x²)

    def __post_init__(self) -> None:
        require((all(2 <= n <= 2000 and n % 2 == 0 for n in self.degrees), "degrees are even and at most 2000"))
        require(
            (all(4 <= n <= 60 for n in self.nodes), "interpolants have degrees between 4 and 60"), (len(self.degrees) >= 2, "two degrees")
        )


def polynomial(f: Function, n: int) -> Function:
    """B_n f(x) = Σ_k f(k/n) binomial(n, k) x^k (1-x)^{n-k}, with logarithms against overflow."""
    from scipy.special import gammaln, xlog1py, xlogy

    k = np.arange(n + 1)
    logs, values = gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1), f(k / n)
    return lambda x: np.exp(logs + xlogy(k, x[:, None]) + xlog1py(n - k, -x[:, None])) @ values


def runge(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + 25 * x**2)


def interpolant(x: np.ndarray) -> Function:
    """The polynomial through (x_j, runge(x_j)), by the barycentric formula."""
    scaled = (x[:, None] - x) * 2 + np.eye(x.size)  # the factor 2 keeps products of differences on [-1, 1] near 1
    weights = 1 / np.prod(scaled, axis=1)

    def value(t: np.ndarray) -> np.ndarray:
        gap = t[:, None] - x
        exact = np.abs(gap) < 1e-15
        q = weights / np.where(exact, 1.0, gap)
        return np.where(exact.any(axis=1), runge(t), (q @ runge(x)) / np.sum(q, axis=1))

    return value


class Bernstein(Experiment):
    """Bernstein's polynomials converge uniformly to every continuous function on [0, 1]; Taylor's need not.

        B_n f(x) = Σ_k f(k/n) binomial(n, k) x^k (1-x)^{n-k} = E f(Bin(n, x)/n)

        sup |B_n f - f| <= (3/2) ω_f(n^{-1/2})      any continuous f with modulus of continuity ω_f
                        <= ρ / (2 √n)               f ρ-Lipschitz
                        <= max |f''| / (8 n)        f twice differentiable

    On [-1, 1] the Taylor series of 1/(1 + 25x²) diverges for |x| > 1/5 and interpolation at equal distances diverges too (Runge);
    interpolation at Chebyshev's nodes errs by at most 4 M r^{-n} / (r - 1), M the maximum on the Bernstein ellipse of radius r.
    """

    lecture = "A, C"
    kinds = ("BOUND",)
    cost = "S"
    source = "Bernstein 1912; Trefethen, Approximation Theory and Approximation Practice, thm 8.2"
    assumptions = ("f is continuous", "the interval is compact")
    errata = ("A1",)
    aliases = ("Weierstrass approximation", "Bernstein polynomials", "Runge's phenomenon")
    panels = 2
    small = {"degrees": (10, 20, 40), "nodes": (10, 20)}

    def measure(self, c: Config, rng: np.random.Generator) -> Iterator[Check]:
        n = np.array(c.degrees)
        roots = [lambda t, n=k: polynomial(np.sqrt, n)(t * t) - t for k in c.degrees]  # x = t², where √x is Lipschitz; B_n' <= √n
        self.errors = {
            "|x - ½|": [_error(_bend, k, 1.0) for k in c.degrees],
            "sin 2πx": [_error(_wave, k, 2 * pi) for k in c.degrees],
            "√x": [certified_sup(d, 2 * k**0.5 + 1, 0, 1, rtol=0.5).high for d, k in zip(roots, c.degrees, strict=True)],
        }
        self.bounds = {"|x - ½|": 0.5 / n**0.5, "sin 2πx": 4 * pi**2 / (8 * n), "√x": 1.5 * n**-0.25}
        for (name, errors), law in zip(self.errors.items(), ("ρ/(2√n)", "max|f''|/(8n)", "(3/2)ω(n^-½)"), strict=True):
            for k, error, bound in list(zip(c.degrees, errors, self.bounds[name], strict=True))[:: max(1, n.size - 1)]:
                yield at_most(f"{name}, n = {k}: sup error against {law}", error, bound)
            yield at_most(f"{name}: all degrees", errors, self.bounds[name])
        middle = [float(polynomial(_bend, k)(np.array([0.5]))[0]) for k in c.degrees]
        yield close("|x - ½| at ½ is binomial(n, n/2) / 2^{n+1}", middle, [comb(k, k // 2) / 2 ** (k + 1) for k in c.degrees])
        for k in sorted(set(c.degrees) & set(PUBLISHED)):
            yield published(f"|x - ½|, n = {k}: reference value", middle[c.degrees.index(k)], PUBLISHED[k], 1e-5)
        r = 1.2  # inside the poles ±i/5, which lie on the ellipse of radius (1 + √26)/5 = 1.2198
        M = 1 / (1 - 25 * ((r - 1 / r) / 2) ** 2)
        self.ellipse = 4 * M * r ** -np.array(c.nodes, dtype=float) / (r - 1)
        self.chebyshev = []
        for k in c.nodes:  # in x = cos θ the interpolant is a trigonometric polynomial: its slope is at most n max|p| (Bernstein)
            p = interpolant(np.cos((np.arange(k + 1) + 0.5) * pi / (k + 1)))
            lip = k * (1 + 2 / pi * np.log(k + 1)) + 3.3
            self.chebyshev.append(certified_sup(_on_circle(p), lip, 0, pi, rtol=4.0).high)
        yield at_most(f"1/(1 + 25x²) at Chebyshev nodes, n <= {c.nodes[-1]}", self.chebyshev, self.ellipse)

    def control(self, c: Config, rng: np.random.Generator) -> Iterator[Check]:
        x, k = np.linspace(-1, 1, 2001), c.nodes
        self.equal = [float(np.max(np.abs(interpolant(np.linspace(-1, 1, n + 1))(x) - runge(x)))) for n in k]  # a lower bound of the sup
        yield at_most(f"the same with equal distances, n = {k[-1]}", self.equal[-1], self.ellipse[-1])
        self.taylor = [25.0 ** (n // 2 + 1) / 26 for n in k]  # |remainder at x = 1|, a geometric series
        yield printed(at_most(f"Taylor, degree {k[-1]}: error at x = 1 below that of degree {k[0]}", self.taylor[-1], self.taylor[0]), "A1")
        n, near = c.degrees[-1], np.array([0.5 - 1e-9, 0.5 + 1e-9])
        step = np.max(np.abs(polynomial(_step, n)(near) - _step(near)))
        yield printed(at_most(f'"any function", here a step, n = {n}: sup error', step, 1.5 * n**-0.5), "A1")

    def plot(self, c: Config, axes: "style.Panels") -> None:
        for i, (name, errors) in enumerate(self.errors.items()):
            axes[0].loglog(c.degrees, errors, **style.series(i), label=name)
            axes[0].loglog(c.degrees, self.bounds[name], **style.BOUND | {"color": style.SERIES[i]}, label="its bound")
        axes[0].set(title="Bernstein polynomials", xlabel="degree n", ylabel="sup |B_n f - f|")
        axes[1].semilogy(c.nodes, self.chebyshev, **style.MEASURED, label="Chebyshev nodes")
        axes[1].semilogy(c.nodes, self.ellipse, **style.BOUND, label="4 M r^-n / (r - 1)")
        axes[1].semilogy(c.nodes, self.equal, **style.CONTROL, label="equal distances")
        axes[1].semilogy(c.nodes, self.taylor, **style.CONTROL | {"marker": "+", "color": style.PURPLE}, label="Taylor at 0")
        axes[1].set(title="1/(1 + 25x²) on [-1, 1]", xlabel="degree n", ylabel="largest error")
        axes[0].legend(ncols=2)
        axes[1].legend()


def _on_circle(p: Function) -> Function:
    return lambda angle: p(np.cos(angle)) - runge(np.cos(angle))


def _bend(x: np.ndarray) -> np.ndarray:
    return np.abs(x - 0.5)


def _wave(x: np.ndarray) -> np.ndarray:
    return np.sin(2 * pi * x)


def _step(x: np.ndarray) -> np.ndarray:
    return (x >= 0.5).astype(float)


def _error(f: Function, n: int, rho: float) -> float:
    """Certified: B_n f is as Lipschitz as f, so the difference is 2ρ-Lipschitz."""
    b = polynomial(f, n)
    return certified_sup(lambda x: b(x) - f(x), 2 * rho, 0, 1, rtol=0.1).high
