"""Functions that are constant on boxes."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from headway.core.config import require
from headway.lab import style
from headway.lab.approximation.boxes import LINEAR, TERMS, Boxes, Term, extremes, random_tree, sup_error, uniform, value
from headway.lab.certified import certified_sup
from headway.lab.checks import Check, at_most, close, equal
from headway.lab.old import Experiment


@dataclass(frozen=True)
class Config:
    deltas: tuple[float, ...] = (0.5, 0.25, 0.1)  # the longest side δ of a box
    dimensions: int = 3  # d = 1 … dimensions, at most 3
    points: int = 500  # random points at which h is evaluated

    def __post_init__(self) -> None:
        require(
            (all(0.05 <= d <= 1 for d in self.deltas) and self.deltas[-1] <= 0.25, "δ is 0.05 to 1, the last at most 0.25"),
            (1 <= self.dimensions <= 3, "d <= 3"),
        )


class PartitionLemma(Experiment):
    """A function that varies by at most ε within a distance δ is constant on boxes of side δ, up to ε.

    If |g(x) - g(x')| <= ε whenever max_j |x_j - x'_j| <= δ, then for every partition of [0, 1]^d into boxes R_i with sides at most δ,

        h = Σ_i α_i 1_{R_i},   α_i = g at any point of R_i:                    sup |g - h| <= ε,
                               α_i = (max_{R_i} g + min_{R_i} g) / 2:          sup |g - h| <= ε/2,

    and both are attained by linear functions. Here g(x) = sin 3x_1 + cos 4x_2 + 2|x_3 - 0.3| (the first d terms), ε = 3δ, 7δ, 9δ. As
    g is a sum over the axes, its extremes on a box, and so the supremum, are exact.
    """

    lecture = "A"
    kinds = ("BOUND",)
    cost = "S"
    source = "Telgarsky, Deep Learning Theory lecture notes, ch. 2, https://mjt.cs.illinois.edu/dlt/"
    assumptions = ("g has the modulus of continuity ε at δ, in the max norm", "no side of a box is longer than δ")
    aliases = ("piecewise constant on a partition", "box partition lemma")
    panels = 3
    small = {"deltas": (0.5, 0.25), "points": 100}

    def measure(self, c: Config, rng: np.random.Generator) -> Iterator[Check]:
        epsilon = np.array(c.deltas)
        for d in range(1, c.dimensions + 1):
            terms, rho, x = TERMS[:d], sum(t.rho for t in TERMS[:d]), rng.random((c.points, d))
            trees = [random_tree(d, s, rng) for s in c.deltas]
            for name, made in (("equal boxes", [uniform(d, s) for s in c.deltas]), ("random tree", trees)):
                inside = [b._replace(alpha=value(terms, rng.uniform(b.lo, b.hi))) for b in made]
                worst = [b._replace(alpha=extremes(terms, b)[1]) for b in made]
                middle = [b._replace(alpha=np.mean(extremes(terms, b), axis=0)) for b in made]
                errors = [[sup_error(terms, b) for b in boxes] for boxes in (inside, worst)]
                yield at_most(f"d = {d}, {name}: g at random and at worst points", errors, rho * epsilon, rounding=1e-12)
                yield at_most(f"d = {d}, {name}: mid-range", [sup_error(terms, b) for b in middle], rho * epsilon / 2, rounding=1e-12)
            yield equal(f"d = {d}: boxes of the tree that contain a point", trees[-1].member(x).sum(axis=1), np.ones(c.points, dtype=int))
            gap = np.abs(value(terms, x) - inside[-1].member(x) @ inside[-1].alpha)
            yield at_most(f"d = {d}: |g - h| at points against the supremum", gap, sup_error(terms, inside[-1]))
            flat = uniform(d, c.deltas[-1])
            exact = [sup_error(LINEAR[:d], flat._replace(alpha=value(LINEAR[:d], flat.lo + s * (flat.hi - flat.lo)))) for s in (0, 0.5)]
            yield close(f"d = {d}, linear g: the errors are ε and ε/2", exact, rho * flat.hi[0, 0] * np.array([1, 0.5]), 1e-12)
        self.shown = random_tree(2, c.deltas[-1], rng)
        self.shown = self.shown._replace(alpha=np.mean(extremes(TERMS[:2], self.shown), axis=0))
        found = []  # branch and bound knows only the Lipschitz constant
        for lo, hi, a in list(zip(*self.shown, strict=True))[:5]:
            certified = certified_sup(lambda x, a=a: value(TERMS[:2], x) - a, 7.0, lo, hi, rtol=1e-3)
            found.append(certified.high / sup_error(TERMS[:2], Boxes(lo[None], hi[None], np.array([a]))))
        yield close("certified suprema over the exact ones, 5 boxes, d = 2", found, np.ones(len(found)), 2e-3)

    def control(self, c: Config, rng: np.random.Generator) -> Iterator[Check]:
        delta, cells = c.deltas[-1], uniform(1, c.deltas[-1])
        large = Boxes(np.zeros((1, 2)), np.full((1, 2), 3 * delta), np.ones(1))
        yield at_most("a box with sides 3δ, α = g(0), d = 2: sup error", sup_error(TERMS[:2], large), 7 * delta)
        yield at_most(
            "g at a corner reaches ε/2, d = 1", sup_error(TERMS[:1], cells._replace(alpha=value(TERMS[:1], cells.lo))), 1.5 * delta
        )
        step = (Term(lambda x: (x >= 1 / np.pi).astype(float), (1 / np.pi, 1 / np.pi - 1e-12), 3.0),)
        middle = cells._replace(alpha=np.mean(extremes(step, cells), axis=0))
        yield at_most("a step has no modulus of continuity: mid-range", sup_error(step, middle), 1.5 * delta)

    def plot(self, c: Config, axes: "style.Panels") -> None:
        x = np.stack(np.meshgrid(*[(np.arange(200) + 0.5) / 200] * 2, indexing="ij"), axis=-1)
        g, h = value(TERMS[:2], x), (self.shown.member(x.reshape(-1, 2)) @ self.shown.alpha).reshape(200, 200)
        bound = 3.5 * c.deltas[-1]
        titles = ("g = sin 3x₁ + cos 4x₂", f"h on {len(self.shown.lo)} boxes", f"|g - h| (ε/2 = {bound:.2g})")
        for panel, title, z in zip(axes, titles, (g, h, np.abs(g - h)), strict=True):
            low, high = (0, bound) if panel is axes[2] else (g.min(), g.max())
            picture = panel.imshow(z.T, origin="lower", extent=(0, 1, 0, 1), vmin=low, vmax=high)
            panel.set(title=title, xlabel="x₁", ylabel="x₂")
            panel.grid(False)
            panel.figure.colorbar(picture, ax=panel, location="bottom", label="value", shrink=0.85)
