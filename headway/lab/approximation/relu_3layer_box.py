"""Boxes built from ReLUs in several dimensions."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from headway.core.config import require
from headway.lab import style
from headway.lab.approximation.box_net import evaluate, separate, shared
from headway.lab.approximation.boxes import TERMS, middles, uniform, value
from headway.lab.checks import Check, at_least, at_most, close, equal, published, vacuous
from headway.lab.old import Experiment
from headway.lab.pwl1d import Pwl, l1_distance, pwl1d
from headway.lab.relu_net import ReluNet

Function = Callable[[np.ndarray], np.ndarray]
RHO, PEAK = (3.0, 7.0, 9.0), (1.0, 2.0, 3.4)  # modulus ρδ and maximum of |g| for d = 1, 2, 3
PUBLISHED = {5: 0.158, 10: 0.086, 20: 0.050}  # L1 error for d = 2, γ/h = 0.01


@dataclass(frozen=True)
class Config:
    sides: tuple[int, ...] = (5, 10, 20)  # n boxes for each side, δ = h = 1/n
    ramps: tuple[float, ...] = (0.1, 0.01, 0.001)  # γ/h
    dimensions: int = 3  # d = 1 … dimensions
    log_points: int = 15  # Sobol points for an integral: 8 scrambles of 2^log_points

    def __post_init__(self) -> None:
        require((all(2 <= n <= 40 for n in self.sides), "n is between 2 and 40"), (1 <= self.dimensions <= 3, "d is at most 3"))
        require((all(0 < r <= 0.5 for r in self.ramps), "γ/h is between 0 and 1/2"), (6 <= self.log_points <= 17, "log_points is 6 to 17"))


def quadrature(net: ReluNet, g: Function) -> float:
    """∫_0^1 |net - g|: Gauss-Legendre on 8 parts of every piece of the net."""
    knots = pwl1d(net).knots
    ends = np.unique(np.concatenate([[0.0, 1.0], knots[(knots > 0) & (knots < 1)]]))
    ends = np.append((ends[:-1, None] + np.diff(ends)[:, None] * np.arange(8) / 8).ravel(), 1.0)
    t, w = np.polynomial.legendre.leggauss(8)
    x = ends[:-1, None] + np.diff(ends)[:, None] * (t + 1) / 2
    return float(np.sum(np.abs(net.at(x) - g(x)) @ w * np.diff(ends) / 2))


class Integral:
    """Means of |f - g| over [0, 1]^d and their standard errors: quadrature for d = 1, else 8 independent scrambles of Sobol points."""

    def __init__(self, d: int, log_points: int, rng: np.random.Generator) -> None:
        from scipy.stats import qmc

        self.d = d
        self.points = [qmc.Sobol(d, seed=rng).random_base2(log_points) for _ in range(8)] if d > 1 else []
        self.exact = [value(TERMS[:d], x) for x in self.points]

    def __call__(self, n: int, gamma: float) -> tuple[float, float]:
        alpha = middles(n, self.d)
        if self.d == 1:
            return quadrature(shared(alpha, n, 1, gamma), TERMS[0].g), 0.0
        means = [np.mean(np.abs(evaluate(alpha, n, gamma, x) - g)) for x, g in zip(self.points, self.exact, strict=True)]
        return float(np.mean(means)), float(np.std(means, ddof=1)) / np.sqrt(len(means))


class Relu3LayerBox(Experiment):
    """A ReLU net with two hidden layers approximates a continuous function on [0, 1]^d on average, with N(4d + 1) units.

    Let |g(x) - g(x')| <= ε whenever max_j |x_j - x'_j| <= δ, and N = ⌈1/δ⌉^d boxes ×[a_j, b_j] of side h, α_i = g at the middle, ramps of
    width γ:

        q_j(z) = relu((z-a_j+γ)/γ) - relu((z-a_j)/γ) - relu((z-b_j)/γ) + relu((z-b_j-γ)/γ)
        f(x) = Σ_i α_i relu(Σ_j q_j(x_j) - (d-1)),      ∫ |f - g| <= ε + max|g| N ((h+2γ)^d - h^d),

    which is 2ε for γ small enough. With a shared first layer there are N + 4dn units, n = 1/h. The supremum does not fall: near a face
    two boxes add up. Here g(x) = sin 3x_1 + cos 4x_2 + 2|x_3 - 0.3| (the first d terms), and for d >= 2 the integral is by Sobol points.
    The printed bound ε exists (mid-range values, narrow ramps), so it is not refuted; but the proof does not give it (a control).
    """

    lecture = "A"
    kinds = ("BOUND",)
    cost = "M"
    source = "Telgarsky, Deep Learning Theory lecture notes, ch. 2, https://mjt.cs.illinois.edu/dlt/"
    assumptions = ("g has the modulus of continuity ε at δ; it need not be Lipschitz", "the error is an average over [0, 1]^d", "γ <= h/2")
    errata = ("A2",)
    aliases = ("3-layer ReLU approximation", "multivariate approximation by boxes")
    panels = 3
    small = {"sides": (5, 10), "ramps": (0.1, 0.01), "dimensions": 2, "log_points": 10}
    full = {"log_points": 17}

    def measure(self, c: Config, rng: np.random.Generator) -> Iterator[Check]:
        n, self.l1, self.sup, accuracy = np.array(c.sides), {}, {}, {}
        for d in range(1, c.dimensions + 1):
            epsilon, integral = RHO[d - 1] / n, Integral(d, c.log_points, rng)
            yield from self._nets(c, d, rng)
            for r in c.ramps:
                mean, error = np.array([integral(k, r / k) for k in c.sides]).T
                self.l1[d, r], accuracy[d, r] = mean, 5e-4 + 4 * error  # of a reference value with three decimals
                excess = PEAK[d - 1] * ((1 + 2 * r) ** d - 1)
                yield at_most(f"d = {d}, γ/h = {r:g}: L1 error + 4 s.e. against ε + excess", mean + 4 * error, epsilon + excess)
                self.sup[d, r] = [vertex_error(k, d, r / k) for k in c.sides]  # a lower bound of the supremum
            chosen = ((1 + epsilon / PEAK[d - 1]) ** (1 / d) - 1) / 2
            mean, error = np.array([integral(k, r / k) for k, r in zip(c.sides, chosen, strict=True)]).T
            yield at_most(f"d = {d}, γ with excess ε: L1 error + 4 s.e. against 2ε", mean + 4 * error, 2 * epsilon)
            yield at_most(f"d = {d}: L1 error of n boxes per side falls with n", mean[1:], mean[:-1])
            yield at_least(f"d = {d}: sup error stays above max|g|/2", [self.sup[d, r] for r in c.ramps], PEAK[d - 1] / 2)
        for k in sorted(set(c.sides) & set(PUBLISHED)) if (2, 0.01) in self.l1 else ():
            i = c.sides.index(k)
            yield published(f"d = 2, γ/h = 0.01, n = {k}: reference value", self.l1[2, 0.01][i], PUBLISHED[k], accuracy[2, 0.01][i])
        roots = [quadrature(shared(np.sqrt((np.arange(k) + 0.5) / k), k, 1, k**-1.5 / 2), np.sqrt) for k in c.sides]
        yield at_most("√x is not Lipschitz, ε = √h, excess ε: L1 error against 2ε", roots, 2 * n**-0.5)
        self.spiky = spikes(c.sides[-1])
        yield at_most("spikes with α at their tips, excess ε: L1 error over ε", self.spiky, 2)

    def _nets(self, c: Config, d: int, rng: np.random.Generator) -> Iterator[Check]:
        """Both nets are built (the first where its matrix fits), counted and compared with the evaluator at points near vertices."""
        wide, few, gaps = [], [], []
        for k in c.sides:
            gamma, alpha = 0.1 / k, middles(k, d)
            x = np.clip(rng.integers(0, k + 1, (60, d)) / k + rng.uniform(-1.5, 1.5, (60, d)) * gamma, 0, 1)
            made = [shared(alpha, k, d, gamma)] + ([separate(alpha, k, d, gamma)] if 4 * d * k ** (2 * d) < 2e6 else [])
            gaps += [np.max(np.abs(net(x)[:, 0] - evaluate(alpha, k, gamma, x))) for net in made]
            few.append(made[0].nodes - (k**d + 4 * d * k))
            wide += [net.nodes - k**d * (4 * d + 1) for net in made[1:]]
        yield equal(f"d = {d}: units minus N(4d + 1), and minus N + 4dn when shared", np.array(wide + few), np.zeros(len(wide + few)))
        yield close(f"d = {d}: nets against the evaluator of at most 2^d boxes", gaps, np.zeros(len(gaps)), 1e-9)

    def control(self, c: Config, rng: np.random.Generator) -> Iterator[Check]:
        yield vacuous(at_most("spikes with α at their tips, excess ε: L1 error over ε is at most 1", self.spiky, 1), "A2")
        yield at_most("d = 1, n = 40, ramps half as wide as boxes: L1 error against 2ε", Integral(1, 6, rng)(40, 1 / 80)[0], 6 / 40)
        d, k = c.dimensions, c.sides[-1]
        yield at_most(f"d = {d}, n = {k}: the supremum against 2ε", self.sup[d, c.ramps[-1]][-1], 2 * RHO[d - 1] / k)

    def plot(self, c: Config, axes: "style.Panels") -> None:
        d = min(2, c.dimensions)
        for i, r in enumerate(c.ramps):
            axes[0].loglog(c.sides, self.l1[d, r], **style.series(i), label=f"γ/h = {r:g}")
        axes[0].loglog(c.sides, 2 * RHO[d - 1] / np.array(c.sides), **style.BOUND, label="bound 2ε")
        axes[0].set(title=f"L1 error, d = {d}", xlabel="boxes per side n", ylabel="∫ |f - g|", ylim=(0.003, None))
        for i in range(c.dimensions):
            axes[1].loglog(c.sides, self.sup[i + 1, c.ramps[0]], **style.series(i), label=f"d = {i + 1}, every γ")
        axes[1].set(title="The supremum stays", xlabel="boxes per side n", ylabel="largest |f - g| at vertices", ylim=(0.05, None))
        t = np.linspace(0, 1, 240)
        z = evaluate(middles(5, 2), 5, 0.02, np.stack(np.meshgrid(t, t, indexing="ij"), axis=-1).reshape(-1, 2))
        picture = axes[2].imshow(z.reshape(240, 240).T, origin="lower", extent=(0, 1, 0, 1), aspect="auto")
        axes[2].set(title="f, n = 5, γ/h = 0.1", xlabel="x₁", ylabel="x₂")
        axes[2].grid(False)
        axes[2].figure.colorbar(picture, ax=axes[2], label="value")
        for panel in axes[:2]:
            panel.legend(loc="lower left")


def vertex_error(n: int, d: int, gamma: float) -> float:
    """The largest |f - g| at inner corners of boxes, where 2^d boxes add up."""
    x = uniform(d, 1 / n).lo
    x = x[np.all(x > 0, axis=1)]
    return float(np.max(np.abs(evaluate(middles(n, d), n, gamma, x) - value(TERMS[:d], x))))


def spikes(n: int) -> float:
    """L1 error over ε = 1 for g = 10 at the middle of each interval, 9 outside a spike of width h/10, α = 10, γ with excess ε: exact."""
    t = (np.arange(n) + 0.5) / n
    g = Pwl((t[:, None] + np.array([-0.05, 0, 0.05]) / n).ravel(), np.tile([9.0, 10.0, 9.0], n), 0.0, 0.0)
    return l1_distance(pwl1d(shared(np.full(n, 10.0), n, 1, 0.05 / n)), g)
