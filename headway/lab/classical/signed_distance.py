"""The geometry of a linear unit."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from headway.core.config import require
from headway.lab import style
from headway.lab.checks import Check, at_least, close, equal
from headway.lab.old import Experiment


@dataclass(frozen=True)
class Config:
    dimensions: tuple[int, ...] = (2, 5, 50)  # of the space
    points: int = 500  # random units, each with its point, in every dimension

    def __post_init__(self) -> None:
        require((all(d >= 2 for d in self.dimensions), "every dimension is at least 2"), (self.points >= 10, "points >= 10"))


@dataclass(frozen=True)
class Units:
    """Many units (w, b), each with one point x and its label y."""

    w: np.ndarray
    b: np.ndarray
    x: np.ndarray
    y: np.ndarray

    @property
    def score(self) -> np.ndarray:
        return np.sum(self.w * self.x, axis=1) + self.b

    @property
    def gamma(self) -> np.ndarray:
        """γ = y (wᵀx + b) / ‖w‖."""
        return self.y * self.score / np.linalg.norm(self.w, axis=1)

    def scaled(self, c: np.ndarray) -> "Units":
        return Units(c[:, None] * self.w, c * self.b, self.x, self.y)


def draw(d: int, points: int, rng: np.random.Generator) -> Units:
    return Units(rng.normal(size=(points, d)), rng.normal(size=points), rng.normal(size=(points, d)), rng.choice([-1, 1], points))


def projected(u: Units) -> np.ndarray:
    """The points of the hyperplanes nearest to x, without the formula: least squares over x_0 + N t, N a basis orthogonal to w."""
    _, _, rows = np.linalg.svd(u.w[:, None, :])  # the rows after the first are orthogonal to w
    start = -u.b[:, None] * np.linalg.pinv(u.w[:, None, :])[:, :, 0]  # one solution of wᵀx = -b
    t = rows[:, 1:] @ (u.x - start)[:, :, None]
    return start + (rows[:, 1:].transpose(0, 2, 1) @ t)[:, :, 0]


class SignedDistance(Experiment):
    """The margin of a linear unit is the signed distance of the point to its hyperplane.

        γ(x, y) = y (wᵀx + b) / ‖w‖

    |γ| is the Euclidean distance of x to {wᵀx + b = 0}; γ > 0 exactly if sgn(wᵀx + b) = y; γ does not change under (w, b) -> (cw, cb),
    c > 0. The hyperplane lies at -b/‖w‖ along the unit normal w/‖w‖, so the origin itself is at the signed distance +b/‖w‖.
    """

    lecture = "C"
    kinds = ("EXACT",)
    cost = "S"
    source = "Rosenblatt 1958, https://doi.org/10.1037/h0042519; notes C, section 1.2"
    assumptions = ("w is not zero", "sgn(0) = 0, so a point on the hyperplane is not classified correctly")
    aliases = ("margin of a linear unit", "Hesse normal form")
    panels = 2
    small = {"points": 50}

    def measure(self, c: Config, rng: np.random.Generator) -> Iterator[Check]:
        self.pairs = []
        for d in c.dimensions:
            u = draw(d, c.points, rng)
            length, p = np.linalg.norm(u.w, axis=1), projected(u)
            unit = u.w / length[:, None]
            yield close(f"d = {d}: the projection is on the hyperplane", np.sum(u.w * p, axis=1) + u.b, np.zeros(c.points), 1e-12)
            distance = np.linalg.norm(u.x - p, axis=1)
            yield close(f"d = {d}: distance to the projection", np.abs(u.gamma), distance, 1e-12)
            others = p + np.einsum("nij,nj->ni", np.eye(d) - unit[:, :, None] * unit[:, None, :], rng.normal(size=(c.points, d)))
            yield at_least(f"d = {d}: other points of it are further", np.linalg.norm(u.x - others, axis=1), distance, 1e-12, kind="EXACT")
            yield close(f"d = {d}: x = projection + yγ w/‖w‖", p + (u.y * u.gamma)[:, None] * unit, u.x, 1e-12)
            yield equal(f"d = {d}: γ > 0 where the label is right", u.gamma > 0, np.sign(u.score) == u.y)
            factors = 10 ** rng.uniform(-6, 6, c.points)
            yield close(f"d = {d}: scaled by 1e-6 … 1e6", u.scaled(factors).gamma, u.gamma, 1e-12)
            powers = 2.0 ** rng.integers(-20, 21, c.points)
            yield equal(f"d = {d}: scaled by powers of two, bit for bit", u.scaled(powers).gamma, u.gamma)
            foot = projected(Units(u.w, u.b, np.zeros_like(u.x), u.y))
            yield close(f"d = {d}: the hyperplane lies at -b/‖w‖ along w", np.sum(foot * unit, axis=1), -u.b / length, 1e-12)
            self.pairs.append((d, distance, np.abs(u.gamma)))
        whole = Units(*(rng.integers(-3, 4, shape).astype(float) for shape in ((4000, 3), 4000, (4000, 3))), rng.choice([-1, 1], 4000))
        whole = Units(*(part[whole.w.any(axis=1)] for part in (whole.w, whole.b, whole.x, whole.y)))
        yield at_least("whole numbers: points on their hyperplane", int(np.sum(whole.score == 0)), 1, kind="EXACT")
        yield equal("whole numbers: γ > 0 where the label is right", whole.gamma > 0, np.sign(whole.score) == whole.y)
        self.unit = Units(np.array([[1.2, 1.6]]), np.array([-1.0]), np.zeros((1, 2)), np.ones(1))  # ‖w‖ = 2, offset ½
        self.x = np.array([[-1.4, -1.1], [-0.9, 2.1], [1.5, 0.6], [0.1, -0.7], [1.7, -1.3], [-1.5, 0.9]])

    def control(self, c: Config, rng: np.random.Generator) -> Iterator[Check]:
        u = draw(c.dimensions[0], c.points, rng)
        minus = -np.ones(c.points)
        yield close("scaled by c = -1", u.scaled(minus).gamma, u.gamma, 1e-12)
        yield close("without division by ‖w‖", np.abs(u.score), np.linalg.norm(u.x - projected(u), axis=1), 1e-12)
        origin = Units(u.w, u.b, np.zeros_like(u.x), np.ones(c.points))
        yield close("the origin's signed distance is -b/‖w‖", origin.gamma, -u.b / np.linalg.norm(u.w, axis=1), 1e-12)

    def plot(self, c: Config, axes: "style.Panels") -> None:
        (w,), (b,), n = self.unit.w, self.unit.b, len(self.x)
        u = Units(np.tile(w, (n, 1)), np.full(n, b), self.x, np.ones(n))
        feet, t = projected(u), np.array([-2.4, 3.8])
        axes[0].plot(t, -(b + w[0] * t) / w[1], color=style.INK, linewidth=1.8, label="wᵀx + b = 0")
        axes[0].annotate("", w / np.linalg.norm(w) * -b / np.linalg.norm(w), (0, 0), arrowprops={"arrowstyle": "->", "color": style.GREEN})
        axes[0].plot([], [], color=style.GREEN, label="-b/‖w‖ along w/‖w‖")
        for point, foot, gamma in zip(self.x, feet, u.gamma, strict=True):
            axes[0].plot(*np.array([point, foot]).T, color=style.SOFT, linewidth=1)
            shift, side = ((6, 4), "left") if gamma > 0 else ((-6, -10), "right")
            axes[0].annotate(f"{gamma:+.2f}", point, xytext=shift, ha=side, textcoords="offset points", fontsize=9)
        for sign, look in ((1, style.series(0)), (-1, style.series(1))):
            name = f"γ(x, +1) {'>' if sign > 0 else '<'} 0"
            axes[0].plot(*self.x[np.sign(u.gamma) == sign].T, **look | {"linestyle": "none"}, label=name)
        axes[0].set(title="Signed distances", xlabel="x₁", ylabel="x₂", xlim=(-2.4, 3.8), ylim=(-1.9, 2.7), aspect="equal")
        axes[0].legend(loc="upper right")
        for i, (d, distance, gamma) in enumerate(self.pairs):
            axes[1].loglog(distance[:100], gamma[:100], **style.series(i) | {"linestyle": "none"}, label=f"d = {d}")
        ends = np.array([1e-3, 1e1])
        axes[1].loglog(ends, ends, **style.BOUND, label="equal")
        axes[1].set(title="Formula against projection", xlabel="distance to the projection", ylabel="|γ|")
        axes[1].legend()
