from headway.lab.kit import Checks, Experiment, Generator, Panel, at_least, because, close, equal, headline, np, param
from headway.lab.tools.hyperplanes import margin, projected, score

PICTURE = np.array([[-1.4, -1.1], [-0.9, 2.1], [1.5, 0.6], [0.1, -0.7], [1.7, -1.3], [-1.5, 0.9]])


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
            w, b, x, y = rng.normal(size=(n, d)), rng.normal(size=n), rng.normal(size=(n, d)), rng.choice([-1, 1], n)
            length, gamma = np.linalg.norm(w, axis=1), margin(w, b, x, y)
            p, foot = projected(w, b, x), projected(w, b, np.zeros_like(x))
            unit, c, noise = w / length[:, None], 10 ** rng.uniform(-6, 6, n), rng.normal(size=(n, d))
            others = p + noise - np.sum(noise * unit, axis=1, keepdims=True) * unit  # of the same hyperplane
            back = np.abs(p + (y * gamma)[:, None] * unit - x).max(axis=1)
            big, shift = margin(c[:, None] * w, c * b, x, y), np.sum(foot * unit, axis=1) + b / length
            away, nearest = np.linalg.norm(x - others, axis=1), np.linalg.norm(x - p, axis=1)
            found.append((gamma, nearest, away, big, back, score(w, b, p), shift, np.sign(score(w, b, x)) == y))
        gamma, nearest, away, big, *zeros, right = (np.concatenate(column) for column in zip(*found, strict=True))
        yield headline(close("|γ| is the distance to the projection", np.abs(gamma), nearest, 1e-12))
        yield at_least("other points of the hyperplane are further", away, nearest, 1e-12, kind="EXACT")
        yield close("γ scaled by 1e-6 … 1e6", big, gamma, 1e-12)
        names = "x - (p + yγ w/‖w‖), p its projection", "wᵀp + b", "the hyperplane's place along w/‖w‖, less -b/‖w‖"
        for name, values in zip(names, zeros, strict=True):
            yield close(name, values, np.zeros_like(values), 1e-12)
        whole = rng.integers(1, 4, (2000, 3)), rng.integers(-3, 4, 2000), rng.integers(-3, 4, (2000, 3))
        y, on = rng.choice([-1, 1], 2000), int(np.sum(score(*whole) == 0))
        signs, truth = np.append(gamma, margin(*whole, y)) > 0, np.append(right, np.sign(score(*whole)) == y)
        yield equal(f"γ > 0 where the label is right, with {on} points on the hyperplane", signs, truth)

    def control(self, rng: Generator) -> Checks:
        n, d = self.points, self.dimensions[0]
        w, b, x = rng.normal(size=(n, d)), rng.normal(size=n), rng.normal(size=(n, d))
        gamma = margin(w, b, x, np.ones(n))
        yield because("c = -1 is not positive", close("γ scaled by -1", margin(-w, -b, x, np.ones(n)), gamma, 1e-12))
        flat = np.abs(score(w, b, x)) / np.abs(w).max(axis=1)
        yield because("the distance is Σ|x_i - p_i|", close("|γ| as the distance", np.abs(gamma), flat, 1e-12))

    def plots(self) -> list[Panel]:
        w, b, x = np.tile([1.2, 1.6], (6, 1)), np.full(6, -1.0), PICTURE  # ‖w‖ = 2, offset ½
        gamma = margin(w, b, x, np.ones(6))
        left = Panel("Signed distances γ(x, +1)", "x₁", "x₂").bound([-2.4, 3.0], [2.425, -1.625], "wᵀx + b = 0")
        for point, foot, value in zip(x, projected(w, b, x), gamma, strict=True):
            left.target(*np.array([point, foot]).T)
            left.note(point[0] + 0.08, point[1] + (0.08 if value > 0 else -0.25), f"{value:+.2f}")
        for name, shown in (("γ > 0", x[gamma > 0]), ("γ < 0", x[gamma < 0])):
            left.points(shown[:, 0], shown[:, 1], name, size=30)
        right = Panel("Scaling changes the score, not γ", "factor c of (w, b)", "value where γ = +0.88")
        right.curve([-2, 2], [-4 * gamma[2], 4 * gamma[2]], "score wᵀx + b").curve([0.05, 2], [gamma[2]] * 2, "γ")
        right.control([-2, -0.05], [-gamma[2]] * 2, "γ, c < 0")
        return [left.custom(lambda axes: axes.set_aspect("equal")).limits((-2.4, 3), (-1.9, 2.7)), right]
