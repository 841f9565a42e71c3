"""Fixed features against features that adapt to the target."""

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from headway.core.config import require
from headway.lab import style
from headway.lab.barron.barron_subsample import Target, ball, squared_errors
from headway.lab.checks import Check, at_least, at_most, equal, loglog_slope, slope
from headway.lab.old import Experiment


@dataclass(frozen=True)
class Config:
    dimensions: tuple[int, ...] = (1, 2, 5, 10)  # the dimensions d, increasing
    norm: float = 10.0  # ‖w*‖ of the target cos<w*,x>
    spread: float = 5.0  # standard deviation of the random frequencies
    features: int = 200  # size M of the largest random-feature space
    candidates: int = 2000  # features that the greedy method chooses from
    chosen: int = 60  # how many it chooses
    points: int = 4000  # of the cube [-1, 1]^d for least squares

    def __post_init__(self) -> None:
        require((list(self.dimensions) == sorted(set(self.dimensions)), "dimensions are increasing"), (self.norm > 0, "norm > 0"))
        require((4 * self.features <= self.points, "features are at most a quarter of the points"))
        require((self.chosen <= min(self.features, self.candidates), "chosen is at most features and candidates"))


def cosines(x: np.ndarray, count: int, spread: float, rng: np.random.Generator) -> np.ndarray:
    """cos(<w_j,x> + b_j), w_j ~ N(0, spread² I), b_j uniform; single precision, as errors below 1e-6 are of no interest here."""
    w, b = rng.normal(0, spread, (count, x.shape[1])), rng.uniform(0, 2 * math.pi, count)
    return np.cos((x @ w.T + b).astype(np.float32))


def fixed(columns: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Mean squared residual of y after projection on the first 1, 2, ... columns."""
    q, _ = np.linalg.qr(columns.astype(float))
    return np.maximum(y @ y - np.cumsum((q.T @ y) ** 2), 0) / y.size


def matching_pursuit(columns: np.ndarray, y: np.ndarray, steps: int) -> np.ndarray:
    """Orthogonal matching pursuit: take the column that correlates most with the residual, project again."""
    size = np.linalg.norm(columns, axis=0)
    basis, rest, errors = np.zeros((steps, y.size)), y.astype(float), []
    for i in range(steps):
        v = columns[:, int(np.argmax(np.abs(rest.astype(np.float32) @ columns) / size))].astype(float)
        for _ in range(2):  # twice, so that rounding does not matter
            v = v - (basis[:i] @ v) @ basis[:i]
        basis[i] = v / max(np.linalg.norm(v), 1e-12)
        rest = rest - (basis[i] @ rest) * basis[i]
        errors.append(rest @ rest / y.size)
    return np.array(errors)


def no_space_is_better(d: int, M: int) -> float:
    """max_N a_N (1 - M/N)^½: N cosines orthogonal on the cube, the k-th of size 1/‖πk‖ (so C = 1), and any space of dimension M.

    The squared lengths of the projections of N orthonormal functions add to at most M, so one of them keeps 1 - M/N of its square.
    """
    side = math.ceil((8 * M) ** (1 / d) * 1.7) + 1
    length = np.sort(np.sqrt(sum(np.meshgrid(*[np.arange(side) ** 2] * d, indexing="ij"))).ravel())
    length = length[(length > 0) & (length < side)]  # complete up to this radius
    N = np.arange(1, length.size + 1)
    return float(np.max(np.sqrt(np.maximum(1 - M / N, 0)) / (math.pi * length)))


class LinearVsNonlinear(Experiment):
    """Features that adapt to the target escape the curse of dimension; fixed features do not.

    Σ_j β_j φ(<w_j,x> + b_j) with fixed (w_j, b_j) is a linear space. For functions with Barron constant C the best M adapted units have

        squared error  O(C²/M)  in every dimension,      any fixed M-dimensional space has worst-case error  >=  κ (C/d) M^{-1/d}

    (not squared; Barron 1993, theorems 1 and 6). One adapted cosine is cos<w*,x> itself; random features of N(0, 25 I) are not enough in
    ten dimensions, and choosing the best of many helps only a little. From d = 5 on their error has saturated near the variance, so that
    it increases with d only up to the noise of the fit.
    """

    lecture = "D"
    kinds = ("STAT", "RATE")
    cost = "M"
    source = "Barron 1993, theorem 6, https://doi.org/10.1109/18.256500"
    assumptions = ("fixed features do not depend on the target", "the frequency of the target has a random direction")
    aliases = ("fixed versus adapted features", "random features")
    panels = 2
    small = {"dimensions": (1, 2, 10), "points": 800, "candidates": 400, "chosen": 30}

    def measure(self, c: Config, rng: np.random.Generator) -> Iterator[Check]:
        self.curves: dict[tuple[str, int], list[np.ndarray]] = {(s, d): [] for s in ("random", "greedy") for d in c.dimensions}
        M = np.array([20, 40, 80, 160, 320, 640])
        self.M, self.widths = M, {}
        for d in (1, 2, 3):
            self.widths[d] = np.array([no_space_is_better(d, int(m)) for m in M])
            yield slope(f"any fixed space: lower bound against M, d = {d}", M, self.widths[d], -1 / d, 0.1)
        self.sizes = (10, 20, 40, 80, 160)
        self.adapted = squared_errors(Target(10), ball(500, 10, rng), self.sizes, 30, rng).mean(axis=(0, 1))
        yield slope("adapted (Barron's draw, Gaussian, d = 10): squared error against M", self.sizes, self.adapted, -1.0, 0.1)
        t = (np.arange(24) + 0.5) / 24  # on this grid the cosines below are orthogonal: the discrete cosine transform
        family = [np.outer(np.cos(math.pi * i * t), np.cos(math.pi * j * t)).ravel() for i, j in itertools.product(range(12), repeat=2)]
        e = np.array([f / np.linalg.norm(f) for f in family])
        x = np.stack(np.meshgrid(t, t, indexing="ij"), axis=-1).reshape(-1, 2)
        for m in (20, 70):
            q, _ = np.linalg.qr(cosines(x, m, 2 * c.spread, rng).astype(float))
            kept = 1 - np.sum((e @ q) ** 2, axis=1)
            yield at_least(f"{m} random features, 144 cosines: one keeps 1 - M/N", float(kept.max()), 1 - m / len(e))

    def sample(self, c: Config, rng: np.random.Generator) -> Iterator[Check]:
        shares = []
        for d in c.dimensions:
            x, w = rng.uniform(-1, 1, (c.points, d)), rng.normal(size=d)
            w *= c.norm / np.linalg.norm(w)
            y = np.cos(x @ w)
            adapted = np.cos(x @ w[:, None])[:, 0] - y
            yield equal(f"one adapted cosine: error, d = {d}", float(np.max(np.abs(adapted))) < 1e-12, True)
            columns = cosines(x, max(c.candidates, c.features), c.spread, rng)
            self.curves["random", d].append(fixed(columns[:, : c.features], y) / y.var())
            self.curves["greedy", d].append(matching_pursuit(columns, y, c.chosen) / y.var())
            shares.append(self.curves["random", d][-1][-1])
            if d > 1:  # on the line both reach the rounding of single precision
                greedy, random = self.curves["greedy", d][-1][-1], self.curves["random", d][-1][c.chosen - 1]
                yield at_most(f"greedy against random, M = {c.chosen}, d = {d}", greedy, random, kind="STAT")
        noise = math.sqrt(4 * c.features) / c.points  # standard error of a difference: a fit to noise explains M/n ± √(2M)/n
        yield at_least(f"random features, M = {c.features}: error increases with d", np.diff(shares), -4 * noise, kind="STAT")
        yield at_least(f"random features, M = {c.features}: error / Var, d = {c.dimensions[-1]}", shares[-1], 0.1, kind="STAT")

    def control(self, c: Config, rng: np.random.Generator) -> Iterator[Check]:
        yield at_most("fixed features reach 1/M in d = 3: slope of the bound", loglog_slope(self.M, self.widths[3])[0], -0.5, kind="RATE")
        d = c.dimensions[-1]
        x, w = rng.uniform(-1, 1, (c.points, d)), rng.normal(size=d)
        y = np.cos(x @ w * (c.norm / np.linalg.norm(w)))
        told = np.append(y[:, None], cosines(x, 9, c.spread, rng), axis=1)  # a space that knows the target is not fixed
        yield at_least(f"ten features that know the target: error / Var, d = {d}", fixed(told, y)[-1] / y.var(), 0.1, kind="STAT")

    def plot(self, c: Config, axes: "style.Panels") -> None:
        for i, d in enumerate(c.dimensions):
            random, greedy = (np.maximum(np.mean(self.curves[s, d], axis=0), 1e-8) for s in ("random", "greedy"))
            look = style.CURVE | {"color": style.SERIES[i % 5]}
            axes[0].loglog(np.arange(1, random.size + 1), random, **look, label=f"random, d = {d}")
            axes[0].loglog(np.arange(1, greedy.size + 1), greedy, **look | {"linestyle": ":"}, label=f"greedy, d = {d}")
        axes[0].plot([1], [1e-8], color=style.VERMILION, marker="*", markersize=13, linestyle="none", clip_on=False, label="adapted: 0")
        axes[0].set(title="Fits of cos<w*,x>, ‖w*‖ = 10", xlabel="features M", ylabel="squared error / variance", ylim=(1e-8, 1e6))
        axes[0].legend(fontsize=8, loc="upper right", ncols=2)
        for i, (d, width) in enumerate(self.widths.items()):
            axes[1].loglog(self.M, width**2, **style.series(i), label=f"no fixed space is better, d = {d}")
        axes[1].loglog(self.sizes, self.adapted / Target(10).C ** 2, **style.BOUND, label="adapted, Gaussian in d = 10")
        axes[1].set(title="Worst case, C = 1", xlabel="dimension of the space, or units M", ylabel="squared error", ylim=(1e-8, 30))
        axes[1].legend(fontsize=8.5, loc="upper right")
