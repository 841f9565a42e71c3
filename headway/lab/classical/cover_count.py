"""How many ways of splitting points a hyperplane has."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import comb

import numpy as np

from headway.core.config import require
from headway.lab import style
from headway.lab.checks import Check, at_most, equal, printed, share_is
from headway.lab.old import Experiment

REFERENCE = {(4, 2): 8, (6, 3): 32, (7, 3): 44, (8, 3): 58, (8, 4): 128}


@dataclass(frozen=True)
class Config:
    s: int = 8  # points whose labellings are counted one by one
    n: int = 3  # dimension of those points
    large: int = 20  # dimension for random labellings
    ratios: tuple[float, ...] = (1.5, 1.8, 2.0, 2.2, 2.5)  # s/n for random labellings
    labellings: int = 200  # random labellings for each ratio and seed

    def __post_init__(self) -> None:
        require((1 <= self.s <= 14, "s is between 1 and 14, because 2^s labellings are tried"), (self.n >= 1, "n >= 1"))
        require((self.large >= 2 <= self.labellings // 10, "large >= 2 and labellings >= 20"), (all(r > 0 for r in self.ratios), "s/n > 0"))


def cover(s: int, n: int) -> int:
    """C(s, n) = 2 Σ_{i<n} binomial(s - 1, i)."""
    return 2 * sum(comb(s - 1, i) for i in range(n))


def separable(z: np.ndarray) -> bool:
    """Whether w·z_i > 0 for all rows and some w, with a certificate either way (Gordan): w, or weights λ >= 0 with Σ λ_i z_i = 0."""
    from scipy.optimize import linprog, nnls

    weights, _ = nnls(np.vstack([z.T, np.ones(len(z))]), np.append(np.zeros(z.shape[1]), 1.0))
    nearest = weights @ z  # of the points of the cone's section, the one closest to the origin
    if np.min(z @ nearest) > 1e-12:
        return True
    if np.max(np.abs(nearest)) < 1e-12 * np.sum(weights):
        return False
    return linprog(np.zeros(z.shape[1]), -z, -np.ones(len(z)), bounds=(None, None)).status == 0


def dichotomies(x: np.ndarray) -> int:
    """The labellings of the rows of x that a hyperplane through the origin realises, counted one by one (y and -y together)."""
    s = len(x)
    signs = 1 - 2 * ((np.arange(2 ** (s - 1))[:, None] >> np.arange(s)) & 1)
    return 2 * sum(separable(y[:, None] * x) for y in signs)


class CoverCount(Experiment):
    """A hyperplane through the origin splits s points in general position in exactly C(s, n) ways.

        C(s, n) = 2 Σ_{i=0}^{n-1} binomial(s-1, i),     C(s+1, n) = C(s, n) + C(s, n-1),     C(1, n) = C(s, 1) = 2

    All 2^s labellings are possible up to s = n, exactly half of them at s = 2n, and for large n the fraction C(s, n) / 2^s is a step at
    s/n = 2. The number itself keeps growing with s; only the fraction falls.
    """

    lecture = "C"
    kinds = ("EXACT", "STAT")
    cost = "M"
    source = "Cover 1965, https://doi.org/10.1109/PGEC.1965.264137"
    assumptions = ("general position: every n of the points are linearly independent", "no bias, or the points have been augmented by a 1")
    errata = ("C2",)
    aliases = ("Cover's theorem", "function counting theorem")
    panels = 2
    small = {"s": 6, "labellings": 40, "large": 10}
    full = {"labellings": 1000, "large": 30}

    def measure(self, c: Config, rng: np.random.Generator) -> Iterator[Check]:
        self.shares: dict[float, list[float]] = {ratio: [] for ratio in c.ratios}
        counted = {pair: dichotomies(rng.normal(size=pair)) for pair in REFERENCE | {(c.s, c.n): 0}}
        for (s, n), count in counted.items():
            yield equal(f"C({s}, {n}), counted", count, REFERENCE.get((s, n), cover(s, n)))
        grid = [(s, n) for s in range(1, 61) for n in range(2, 31)]
        wrong = sum(cover(s + 1, n) != cover(s, n) + cover(s, n - 1) for s, n in grid)
        yield equal("recursion violated, s <= 60, n <= 30", wrong, 0)
        yield equal("C(s, n) = 2^s violated, s <= n", sum(cover(s, n) != 2**s for s, n in grid if s <= n), 0)
        for n in (1, 5, 30, 500):
            yield equal(f"fraction at s = 2n, n = {n}", Fraction(cover(2 * n, n), 4**n), Fraction(1, 2))

    def sample(self, c: Config, rng: np.random.Generator) -> Iterator[Check]:
        """Uniform labels: the hits are binomial with p = C(s, n) / 2^s, so the standard error is sqrt(p (1-p) / labellings)."""
        for ratio in c.ratios:
            s = round(ratio * c.large)
            x, y = rng.normal(size=(s, c.large)), rng.choice([-1, 1], (c.labellings, s, 1))
            hits = sum(separable(labels * x) for labels in y)
            self.shares[ratio].append(hits / c.labellings)
            yield share_is(f"share at s/n = {ratio:g}, n = {c.large}", hits, c.labellings, cover(s, c.large) / 2**s)

    def control(self, c: Config, rng: np.random.Generator) -> Iterator[Check]:
        x = rng.normal(size=(6, 3))
        x[2] = x[0] + x[1]
        yield equal("C(6, 3) with three points in one plane through 0", dichotomies(x), cover(6, 3))
        n = c.large
        yield printed(at_most(f"the number at s = 3n is below that at s = 2n, n = {n}", cover(3 * n, n), cover(2 * n, n)), "C2")

    def plot(self, c: Config, axes: "style.Panels") -> None:
        for i, n in enumerate((5, c.large, 100)):
            s = np.arange(1, 4 * n + 1)
            look = style.CURVE | {"color": style.SERIES[i]}
            axes[0].plot(s / n, [cover(int(k), n) / 2 ** int(k) for k in s], **look, label=f"n = {n}")
            axes[1].semilogy(s / n, [float(cover(int(k), n)) for k in s], **look, label=f"C(s, {n})")
        for ratio, shares in self.shares.items():
            dot = style.series(1) | {"linestyle": "none", "label": f"random labels, n = {c.large}" if ratio == c.ratios[0] else None}
            axes[0].plot([ratio] * len(shares), shares, **dot)
        axes[0].axhline(0.5, **style.BOUND)
        axes[0].set(title="The fraction is one half at s = 2n …", xlabel="points per dimension s/n", ylabel="C(s, n) / 2^s")
        axes[1].set(title="… but the number keeps growing", xlabel="points per dimension s/n", ylabel="separable labellings C(s, n)")
        for panel in axes:
            panel.legend()
