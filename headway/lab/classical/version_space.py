"""What data leave of the space of weights."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise, product

import numpy as np

from headway.core.config import require
from headway.lab import style
from headway.lab.checks import Check, at_least, equal, share_is, within
from headway.lab.classical.cone_share import cone_share, consistent, program, sphere
from headway.lab.classical.cover_count import cover
from headway.lab.old import Experiment

XOR = np.array([[0, 0, 1], [1, 1, 1], [0, -1, -1], [-1, 0, -1.0]])  # rows y (x₁, x₂, 1)
SHOWN = (1, 2, 3, 5, 8)  # numbers of points k whose share is compared with the exact one


@dataclass(frozen=True)
class Config:
    directions: int = 200000  # random directions on the sphere
    points: int = 8  # labelled by a teacher
    few: int = 6  # points in three dimensions whose labellings are all tried

    def __post_init__(self) -> None:
        require((self.directions >= 1000, "directions >= 1000"), (self.points >= 3, "points >= 3"), (4 <= self.few <= 9, "few is 4 to 9"))


class VersionSpace(Experiment):
    """Every labelled point can only shrink the set of weights that are still possible, and separable data leave some.

        V(S) = {w : y wᵀx > 0 for all (x, y) ∈ S},     V(S ∪ {z}) ⊆ V(S),     V(S) = ∅  if and only if  S is not separable

    Random directions are counted against the exact size of V(S): an arc on the circle, a polygon on the sphere (Girard). A direction
    proves that a linear program is feasible; the solution of a feasible program is a direction. Sampling misses a part of share v with
    probability (1 - v)^N, so the number of labellings it misses has a known expectation.
    """

    lecture = "C"
    kinds = ("EXACT", "STAT")
    cost = "S"
    source = "Mitchell 1982, https://doi.org/10.1016/0004-3702(82)90040-6; notes C, section 1.2"
    assumptions = ("a bias is part of w, with points (x, 1)", "a point on the hyperplane is not classified correctly")
    aliases = ("data shrink the version space", "consistent weights")
    panels = 2
    small = {"directions": 20000, "points": 5, "few": 4}

    def measure(self, c: Config, rng: np.random.Generator) -> Iterator[Check]:
        self.curves: dict[int, tuple[list[float], list[float]]] = {}
        self.wedge = np.empty((0, 2))
        w = sphere(c.directions, 3, rng)
        self.xor = [int(consistent(w, XOR[:k]).sum()) for k in range(1, 5)]
        yield at_least("XOR: by how much the count falls", -np.diff(self.xor), 0, kind="EXACT")
        yield equal("XOR: directions left after all four points", self.xor[-1], 0)
        yield equal("XOR: a linear program finds one", program(XOR) is not None, False)
        for k in (1, 2, 3):
            exact = cone_share(XOR[:k], np.linalg.pinv(XOR[:k]) @ np.ones(k))
            yield share_is(f"XOR: share after {k} point{'s' * (k > 1)}", self.xor[k - 1], c.directions, exact)

    def sample(self, c: Config, rng: np.random.Generator) -> Iterator[Check]:
        """Directions fall into V(S) independently with the exact share p, so the standard error is sqrt(p (1-p) / directions)."""
        for n in (2, 3):
            teacher = sphere(1, n, rng)[0]
            x = rng.normal(size=(c.points, n))
            z, w = np.sign(x @ teacher)[:, None] * x, sphere(c.directions, n, rng)
            inside = [consistent(w, z[:k]) for k in range(1, c.points + 1)]
            exact = [cone_share(z[:k], teacher) for k in range(1, c.points + 1)]
            entered = sum(int(np.sum(later & ~earlier)) for earlier, later in pairwise(inside))
            yield equal(f"n = {n}: directions that enter V(S) with a new point", entered, 0)
            falls = -np.diff([i.sum() for i in inside])
            yield at_least(f"n = {n}: by how much the count falls", falls, 0, kind="EXACT")
            for k in (k for k in SHOWN if k <= c.points):
                yield share_is(f"n = {n}: share after {k} point{'s' * (k > 1)}", int(inside[k - 1].sum()), c.directions, exact[k - 1])
            if n not in self.curves:
                self.curves[n] = [float(i.mean()) for i in inside], exact
                self.wedge = z if n == 2 else self.wedge
        yield from self.labellings(x[: c.few] if c.few <= c.points else rng.normal(size=(c.few, 3)), w)

    def labellings(self, x: np.ndarray, w: np.ndarray) -> Iterator[Check]:
        """All labellings of x: those that directions realise against those whose linear program is feasible (y and -y are one program)."""
        bits = 1 << np.arange(len(x))
        realised = {tuple((code & bits > 0).tolist()) for code in np.unique(bits @ (x @ w.T > 0))}
        solved: dict[tuple[bool, ...], np.ndarray] = {}
        for rest in product((True, False), repeat=len(x) - 1):
            found = program(np.where([True, *rest], 1, -1)[:, None] * x)
            if found is not None:
                solved |= {(True, *rest): found, (False, *(not r for r in rest)): -found}
        yield equal(f"{len(x)} points: feasible programs", len(solved), cover(len(x), 3))
        yield equal(f"{len(x)} points: a direction exists, the program is infeasible", len(realised - set(solved)), 0)
        rows = {y: np.where(y, 1, -1)[:, None] * x for y in solved}
        kept = sum(bool(consistent(v[None], rows[y])[0]) for y, v in solved.items())
        yield equal(f"{len(x)} points: solutions that lie in their V(S)", kept, len(solved))
        miss = np.array([(1 - cone_share(rows[y], v)) ** len(w) for y, v in solved.items()])  # the chance that no direction falls into V(S)
        missed, spread = len(solved) - len(realised & set(solved)), math.sqrt(float(np.sum(miss * (1 - miss))))
        yield within(f"{len(x)} points: feasible labellings without a direction", missed, float(miss.sum()), spread)

    def control(self, c: Config, rng: np.random.Generator) -> Iterator[Check]:
        w = sphere(c.directions, 4, rng)
        lifted = np.column_stack([XOR, [0, 1, 0, 0]])  # with the product x₁x₂ as a fourth input (y = +1 at (1, 1))
        yield equal("XOR with the input x₁x₂: directions left", int(consistent(w, lifted).sum()), 0)
        x = rng.normal(size=(4, 4))
        x[:, 0] = np.abs(x[:, 0])  # labels +1, separated by the first axis
        changed = x * np.array([[-1], [1], [1], [1]])
        entered = int(np.sum(consistent(w, changed) & ~consistent(w, x)))
        yield equal("a label changed instead of a point added: directions that enter", entered, 0)

    def plot(self, c: Config, axes: "style.Panels") -> None:
        k = np.arange(1, c.points + 1)
        for i, (n, (measured, exact)) in enumerate(self.curves.items()):
            axes[0].semilogy(k, measured, **style.series(i) | {"linestyle": "none"}, label=f"n = {n}, random directions")
            axes[0].semilogy(k, exact, **style.BOUND | {"color": style.SERIES[i]}, label=f"n = {n}, exact")
        axes[0].semilogy([1, 2, 3], np.array(self.xor[:3]) / c.directions, **style.CONTROL, label="XOR: none left at k = 4")
        axes[0].set(title="The share of weights that is left", xlabel="points k", ylabel="share of the sphere")
        axes[0].set(xticks=k, ylim=(None, 2.5))
        axes[0].legend(loc="upper right")
        t = np.linspace(0, 2 * np.pi, 2001)
        circle = np.stack([np.cos(t), np.sin(t)], axis=1)
        shades = [count for count in (1, 2, 3, c.points) if count <= c.points]
        for i, count in enumerate(shades):
            left = consistent(circle, self.wedge[:count])
            wedge = np.where(left[:, None], circle, np.nan) * (1 - 0.06 * i)
            axes[1].plot(*wedge.T, color=style.SERIES[i], linewidth=5, solid_capstyle="butt", label=f"V after {count}")
        for point in self.wedge:
            normal = np.array([-point[1], point[0]]) / np.linalg.norm(point)
            axes[1].plot(*np.stack([-normal, normal]).T * 1.08, color=style.SOFT, linewidth=0.8)
        axes[1].set(title="n = 2: what each line leaves of the circle", xlabel="w₁", ylabel="w₂", xlim=(-1.3, 2.6), ylim=(-1.25, 1.25))
        axes[1].set(aspect="equal", xticks=[-1, 0, 1], yticks=[-1, 0, 1])
        axes[1].legend(loc="upper right")
