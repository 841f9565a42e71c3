"""The mistake bound of the perceptron."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from headway.core.config import require
from headway.lab import style
from headway.lab.checks import Check, at_least, at_most, close, equal, printed
from headway.lab.classical.perceptron_run import collinear, labelled, perceptron, widest, widest_by_slsqp
from headway.lab.old import Experiment

KNOWN = {"orthonormal": "*", "nearly collinear": "P"}  # sets whose number of updates is known, with their markers


@dataclass(frozen=True)
class Config:
    dimensions: tuple[int, ...] = (2, 5, 20)  # of the points
    margins: tuple[float, ...] = (0.05, 0.2, 0.5)  # points closer than this to the true hyperplane are dropped
    points: int = 100  # in each set
    orders: int = 20  # random orders of each set
    peer: bool = False  # compare with the perceptron of scikit-learn too (its import takes a second)

    def __post_init__(self) -> None:
        require((all(d >= 2 for d in self.dimensions), "every dimension is at least 2"), (all(m > 0 for m in self.margins), "margins > 0"))
        require((self.points >= 4 and self.orders >= 1, "points >= 4 and orders >= 1"))


class PerceptronNovikoff(Experiment):
    """On data that a unit vector w* separates with margin γ, the perceptron makes at most ⌊R²/γ²⌋ updates, in any order.

    With R = max ‖x‖ and no bias, after t updates from w_0 = 0

        w*ᵀw_t >= tγ,     ‖w_t‖ <= R √t,     so     1 >= cos ∠(w*, w_t) >= √t γ/R     and     t <= ⌊R²/γ²⌋.

    n orthonormal points attain it: R²/γ² = n updates. Nearly collinear points need more than half of it at any margin. With a bias the
    points become (x, 1), R² becomes R² + 1 and γ is the margin of those. (The instance behind the reference value, 6 updates against 279,
    is not specified, so it is not asserted.)
    """

    lecture = "C"
    kinds = ("BOUND",)
    cost = "S"
    source = "Novikoff 1962, On convergence proofs on perceptrons, Symposium on the Mathematical Theory of Automata, pp. 615-622"
    assumptions = ("a hyperplane through the origin separates the data", "updates where y wᵀx <= 0, from w = 0, without a bias")
    errata = ("C1",)
    aliases = ("Novikoff's theorem", "perceptron convergence theorem")
    panels = 2
    small = {"dimensions": (2, 5), "margins": (0.2, 0.5), "orders": 3}
    full = {"orders": 100, "peer": True}

    def measure(self, c: Config, rng: np.random.Generator) -> Iterator[Check]:
        self.scatter: dict[str, list[tuple[float, int]]] = {}
        self.longest = perceptron(np.eye(2), np.ones(2)), 0.0, 0.0  # the longest run on random points, with γ and R
        for d in c.dimensions:
            yield from self.lemmas(f"d = {d}", [labelled(d, m, c.points, rng) for m in c.margins], c.margins, c.orders, rng)
        biased = [labelled(c.dimensions[0], m, c.points, rng, bias=0.7) for m in c.margins]
        yield from self.lemmas(f"d = {c.dimensions[0]} and a bias", biased, (), c.orders, rng)
        z = labelled(3, 0.2, c.points, rng)
        best, gamma, _ = widest(z)
        yield close("margin by SLSQP instead of the dual, d = 3", widest_by_slsqp(z), gamma, 1e-6)
        for n in (1, 10, 100):
            run = perceptron(np.eye(n), np.full(n, n**-0.5))
            yield equal(f"{n} orthonormal point{'s' * (n > 1)}: updates = R²/γ²", run.t.size, n)
            self.scatter.setdefault("orthonormal", []).append((n, run.t.size))
        for k in (2, 4, 6):
            a = 2.0**-k
            run, bound = perceptron(collinear(a), np.array([1.0, 0.0])), (1 + a * a) / (a * a)
            yield equal(f"nearly collinear, γ = 1/{2**k}: updates", run.t.size, 2 ** (2 * k - 1) + 1)
            yield at_most(f"nearly collinear, γ = 1/{2**k}: bound", run.t.size, math.floor(bound))
            self.scatter.setdefault("nearly collinear", []).append((bound, run.t.size))
        if c.peer:
            from sklearn.linear_model import Perceptron

            y = np.where(np.arange(len(z)) % 2, 1, -1)
            theirs = Perceptron(fit_intercept=False, shuffle=False, tol=None, max_iter=200).fit(y[:, None] * z, y)
            yield close("weights of scikit-learn's perceptron, d = 3", theirs.coef_[0], perceptron(z, best).w, 1e-12)

    def lemmas(self, name: str, sets: list[np.ndarray], known: tuple[float, ...], orders: int, rng: np.random.Generator) -> Iterator[Check]:
        """Both lemmas at every update, and the bound, for all sets and orders."""
        updates, bounds, along, norm, gammas, duals = [], [], [], [], [], []
        for z in sets:
            best, gamma, dual = widest(z)
            R = float(np.max(np.linalg.norm(z, axis=1)))
            gammas.append(gamma)
            duals.append(dual)
            for run in (perceptron(rng.permutation(z), best) for _ in range(orders)):
                along.append(run.along / (run.t * gamma))
                norm.append(run.norm / (R * np.sqrt(run.t)))
                updates.append(run.t.size)
                bounds.append(math.floor(R * R / (gamma * gamma)))
                if run.t.size > self.longest[0].t.size:
                    self.longest = run, gamma, R
        self.scatter[name] = list(zip(bounds, updates, strict=True))
        yield close(f"{name}: the margin is the largest (dual)", gammas, duals)
        if known:
            yield at_least(f"{name}: margin, at least that of the teacher", gammas, known)
        yield at_least(f"{name}: w*ᵀw_t / tγ at every t", np.concatenate(along), 1.0, rounding=1e-12)
        yield at_most(f"{name}: ‖w_t‖ / R√t at every t", np.concatenate(norm), 1.0, rounding=1e-12)
        yield at_least(f"{name}: cos ∠ / (√t γ/R) at every t", np.concatenate(along) / np.concatenate(norm), 1.0, rounding=1e-12)
        yield at_most(f"{name}: updates in every order", updates, bounds)

    def control(self, c: Config, rng: np.random.Generator) -> Iterator[Check]:
        updates = perceptron(np.eye(10), np.full(10, 10**-0.5)).t.size
        yield printed(at_most('"less than ⌊R²/γ²⌋": 10 orthonormal points', updates, 10 - 1), "C1")
        z = labelled(2, 0.2, c.points, rng)
        best, gamma, _ = widest(z)
        bound = math.floor(float(np.max(np.sum(z * z, axis=1))) / gamma**2)
        middle = int(np.argmax(z @ best / np.linalg.norm(z, axis=1)))  # inside the cone of the others, so its opposite cannot be separated
        z[middle] *= -1
        yield at_most("one label flipped: updates, stopped above the bound", perceptron(z, best, bound + 1).t.size, bound)
        pair = np.array([[0.1, 1.0], [0.1, -1.0]])  # x = ±0.1 with labels ±1, and the bias
        yield at_most("with a bias, but R and γ of the points without their 1", perceptron(pair, np.array([1.0, 0.0])).t.size, 1)

    def plot(self, c: Config, axes: "style.Panels") -> None:
        for i, (name, pairs) in enumerate(self.scatter.items()):
            look = style.series(i) | {"linestyle": "none", "markersize": 4}
            if name in KNOWN:
                look |= {"marker": KNOWN[name], "color": style.VERMILION, "markersize": 9}
            axes[0].loglog(*np.array(pairs).T, **look, label=name)
        ends = np.array([1, max(b for pairs in self.scatter.values() for b, _ in pairs)])
        axes[0].loglog(ends, ends, **style.BOUND, label="t = R²/γ²")
        axes[0].set(title="Updates against the bound", xlabel="bound R²/γ²", ylabel="updates t")
        axes[0].legend(loc="upper left", fontsize=8.5)
        run, gamma, R = self.longest
        axes[1].plot(run.t, R * np.sqrt(run.t), **style.BOUND, label="R√t")
        axes[1].plot(run.t, run.norm, **style.series(0) | {"markersize": 3}, label="‖w_t‖")
        axes[1].plot(run.t, run.along, **style.series(1) | {"markersize": 3}, label="w*ᵀw_t")
        axes[1].plot(run.t, run.t * gamma, **style.BOUND | {"color": style.GREEN}, label="tγ")
        title = f"One run: {run.t.size} updates, bound {math.floor((R / gamma) ** 2)}"
        axes[1].set(title=title, xlabel="update t", ylabel="length")
        axes[1].legend(loc="upper left")
