from dataclasses import dataclass

from headway.lab.kit import Checks, Experiment, Generator, Panel, at_least, because, close, equal, headline, np, param

PICTURE = np.array([[-1.4, -1.1], [-0.9, 2.1], [1.5, 0.6], [0.1, -0.7], [1.7, -1.3], [-1.5, 0.9]])


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

    def projected(self) -> np.ndarray:
        """The points of the hyperplanes nearest to x, without the formula: least squares over x_0 + N t, N a basis orthogonal to w."""
        _, _, rows = np.linalg.svd(self.w[:, None, :])  # the rows after the first are orthogonal to w
        start = -self.b[:, None] * np.linalg.pinv(self.w[:, None, :])[:, :, 0]  # one solution of wᵀx = -b
        t = rows[:, 1:] @ (self.x - start)[:, :, None]
        return start + (rows[:, 1:].transpose(0, 2, 1) @ t)[:, :, 0]


class SignedDistance(Experiment):
    """The margin of a linear unit is the signed distance of the point to its hyperplane.

        γ(x, y) = y (wᵀx + b) / ||w||

    |γ| is the Euclidean distance of x to {wᵀx + b = 0}; γ > 0 exactly if sgn(wᵀx + b) = y; γ does not change under (w, b) -> (cw, cb),
    c > 0. The hyperplane lies at -b/‖w‖ along the unit normal w/‖w‖, so the origin itself is at the signed distance +b/‖w‖.

    Notes: C. Source: Rosenblatt 1958, https://doi.org/10.1037/h0042519; notes C, section 1.2
    Assumes: w is not zero, c > 0; the distance is Euclidean, along the normal; sgn(0) = 0, so a point on the hyperplane is not right.
    Also: margin of a linear unit; Hesse normal form.
    """

    dimensions = param((2, 5, 50), "of the space", least=2, most=100)
    points = param(500, "random units, each with its point, in every dimension", least=10, most=1000, small=50)

    def measure(self, rng: Generator) -> Checks:
        found, n = [], self.points
        for d in self.dimensions:
            u = Units(rng.normal(size=(n, d)), rng.normal(size=n), rng.normal(size=(n, d)), rng.choice([-1, 1], n))
            length, p, noise = np.linalg.norm(u.w, axis=1), u.projected(), rng.normal(size=(n, d))
            unit, foot = u.w / length[:, None], Units(u.w, u.b, np.zeros_like(u.x), u.y).projected()
            others = p + noise - np.sum(noise * unit, axis=1, keepdims=True) * unit  # of the same hyperplane
            back = np.abs(p + (u.y * u.gamma)[:, None] * unit - u.x).max(axis=1)
            shift, on = np.sum(foot * unit, axis=1) + u.b / length, np.sum(u.w * p, axis=1) + u.b
            away, nearest = np.linalg.norm(u.x - others, axis=1), np.linalg.norm(u.x - p, axis=1)
            big = u.scaled(10 ** rng.uniform(-6, 6, n)).gamma
            found.append((u.gamma, nearest, away, back, big, shift, on, np.sign(u.score) == u.y))
        gamma, nearest, away, back, big, shift, on, right = (np.concatenate(c) for c in zip(*found, strict=True))
        self.pairs = {d: (row[1], np.abs(row[0])) for d, row in zip(self.dimensions, found, strict=True)}
        yield headline(close("|γ| is the distance to the projection", np.abs(gamma), nearest, 1e-12))
        yield close("the projection is on the hyperplane", on, np.zeros_like(on), 1e-12)
        yield at_least("other points of the hyperplane are further", away, nearest, 1e-12, kind="EXACT")
        yield close("x = projection + yγ w/‖w‖", back, np.zeros_like(back), 1e-12)
        yield equal("γ > 0 where the label is right", gamma > 0, right)
        yield close("γ scaled by 1e-6 … 1e6", big, gamma, 1e-12)
        yield close("the hyperplane lies at -b/‖w‖ along w", shift, np.zeros_like(on), 1e-12)
        w, x, b = rng.integers(1, 4, (2000, 3)), rng.integers(-3, 4, (2000, 3)), rng.integers(-3, 4, 2000)
        whole = Units(w, b, x, rng.choice([-1, 1], 2000))
        yield at_least("whole numbers: points on their hyperplane", int(np.sum(whole.score == 0)), 1, kind="EXACT")
        yield equal("whole numbers: γ > 0 where the label is right", whole.gamma > 0, np.sign(whole.score) == whole.y)

    def control(self, rng: Generator) -> Checks:
        n, d = self.points, self.dimensions[0]
        u = Units(rng.normal(size=(n, d)), rng.normal(size=n), rng.normal(size=(n, d)), np.ones(n))
        yield because("c = -1 is not positive", close("γ scaled by -1", u.scaled(-np.ones(n)).gamma, u.gamma, 1e-12))
        flat = close("|γ| as the distance", np.abs(u.gamma), np.abs(u.score) / np.abs(u.w).max(axis=1), 1e-12)
        yield because("the distance is Σ|x_i - p_i|, not Euclidean", flat)

    def plots(self) -> list[Panel]:
        u = Units(np.tile([1.2, 1.6], (6, 1)), np.full(6, -1.0), PICTURE, np.ones(6))  # ‖w‖ = 2, offset ½
        left = Panel("Signed distances γ(x, +1)", "x₁", "x₂").bound([-2.4, 3.0], [2.425, -1.625], "wᵀx + b = 0")
        for point, foot, gamma in zip(PICTURE, u.projected(), u.gamma, strict=True):
            left.target(*np.array([point, foot]).T)
            left.note(point[0] + 0.08, point[1] + (0.08 if gamma > 0 else -0.25), f"{gamma:+.2f}")
        x, y, good = PICTURE[:, 0], PICTURE[:, 1], u.gamma > 0
        left.points(x[good], y[good], "γ > 0", size=30).points(x[~good], y[~good], "γ < 0", size=30)
        right = Panel("Formula and projection agree", "distance to the projection", "|γ|", log="xy")
        for d, (distance, gamma) in self.pairs.items():
            right.points(distance[:100], gamma[:100], f"d = {d}")
        right.bound([1e-4, 1e1], [1e-4, 1e1], "equal").limits((1e-4, 20), (1e-4, 20))
        return [left.custom(lambda axes: axes.set_aspect("equal")).limits((-2.4, 3), (-1.9, 2.7)), right]
