from headway.lab.kit import Checks, Experiment, Generator, Panel, at_most, because, close, equal, headline, np, param, share_is, within
from headway.lab.tools.bits import codes, cube
from headway.lab.tools.dichotomies import cone_share, consistent, cover, sphere
from headway.lab.tools.perceptron import XOR
from headway.lab.tools.programs import feasible, max_margin


class VersionSpace(Experiment):
    """Every labelled point can only shrink the set of weights that are still possible, and exactly separable data leave some.

        V(S) = {w : y wᵀx > 0 for all (x, y) ∈ S},     V(S ∪ {z}) ⊆ V(S),     V(S) = ∅  <=>  S is not separable

    The exact size of V(S) is an arc on the circle, a polygon on the sphere (Girard); random directions fall into it as often. Sampling N
    of them misses a part of share v with probability (1 - v)^N, so the number of labellings it misses has a known expectation.

    Notes: C. Source: Mitchell 1982, https://doi.org/10.1016/0004-3702(82)90040-6; notes C, section 1.2
    Assumes: a bias is part of w, nothing else is seen; points are only added. Also: data shrink the version space; consistent weights.
    """

    directions = param(200_000, "random directions on the sphere", least=10_000, most=1_000_000, small=20_000)
    points = param(8, "labelled by a teacher", least=3, most=40, small=5)
    few = param(6, "points in three dimensions whose labellings are all tried", least=4, most=8, small=4)

    def measure(self, rng: Generator) -> Checks:
        self.curves: dict[int, tuple[np.ndarray, list[float], np.ndarray]] = {}
        x, w, signs = rng.normal(size=(self.few, 3)), sphere(self.directions, 3, rng), 1 - 2 * cube(self.few)
        solved = [feasible(y[:, None] * x, np.ones(self.few)) for y in signs]
        possible = np.array([v is not None for v in solved])
        realised = np.isin(np.arange(len(signs)), codes((x @ w.T < 0).T.astype(np.int8)))
        yield headline(equal(f"{self.few} points: w is in V(S), but S is not separable", np.sum(realised & ~possible), 0))
        some = [(y[:, None] * x, v) for y, v in zip(signs, solved, strict=True) if v is not None]
        inside = [consistent(v[None], z)[0] for z, v in some]
        yield equal(f"{self.few} points: S is separable, and the program's w is in V(S)", inside, True)
        yield equal(f"{self.few} points: separable labellings", len(some), cover(self.few, 3))
        shares = np.array([cone_share(z, v) for z, v in some])
        yield close("the shares of all V(S) add to 1", shares.sum(), 1.0)
        miss = (1 - shares) ** self.directions  # the chance that no direction falls into V(S)
        self.missed = float(np.sum(possible & ~realised)), miss.sum(), np.sum(miss * (1 - miss)) ** 0.5
        self.xor = np.array([np.sum(consistent(w, XOR[:k])) for k in range(1, 5)])
        yield equal("XOR: directions left after all four points", self.xor[-1], 0)
        yield equal("XOR: a linear program finds one", feasible(XOR, np.ones(4)) is not None, False)

    def sample(self, rng: Generator) -> Checks:
        """Directions fall into V(S) independently with the exact share p, so the standard error is sqrt(p (1 - p) / directions)."""
        for n in (2, 3):
            teacher, x = sphere(1, n, rng)[0], rng.normal(size=(self.points, n))
            z, w = np.sign(x @ teacher)[:, None] * x, sphere(self.directions, n, rng)
            hits = np.array([consistent(w, z[:k]).sum() for k in range(1, self.points + 1)])
            exact = [cone_share(z[:k], teacher) for k in range(1, self.points + 1)]
            yield at_most(f"n = {n}: exact share of V(S) with one more point", exact[1:], exact[:-1], rounding=1e-12)
            yield share_is(f"n = {n}: share of the directions after all points", hits[-1], self.directions, exact[-1])
            self.curves.setdefault(n, (hits / self.directions, exact, z))
        yield within("separable labellings that no direction hits", *self.missed)

    def control(self, rng: Generator) -> Checks:
        lifted = np.column_stack([XOR, [0, 1, 0, 0]])  # y = +1 at (1, 1)
        left = consistent(sphere(self.directions, 4, rng), lifted).sum()
        yield because("x₁x₂ is seen as well", equal("XOR: directions left after all four points", left, 0))
        x = np.column_stack([np.ones(3), rng.uniform(-0.3, 0.3, (3, 2))])  # so close that V(S) takes 0.3 or more, …
        other = x * [[-1], [1], [1]]  # … which leaves less than 0.2 for all other labels
        before, after = cone_share(other, max_margin(other).direction), cone_share(x, np.eye(3)[0])
        yield because("a label is changed, no point is added", at_most("exact share of V(S) after that", after, before))

    def plots(self) -> list[Panel]:
        k, t = np.arange(1, self.points + 1), np.linspace(0, 2 * np.pi, 2001)
        left = Panel("The share of weights that is left", "points k", "share of the sphere", log="y")
        for n, (measured, exact, _) in self.curves.items():
            left.bound(k, exact, f"n = {n}, exact").points(k, measured, f"n = {n}, random directions", size=28)
        left.control([1, 2, 3], self.xor[:3] / self.directions, "XOR: 0 at k = 4")
        circle, rows = np.stack([np.cos(t), np.sin(t)], axis=1), self.curves[2][2]
        right = Panel("What each line leaves, n = 2", "w₁", "w₂").custom(lambda axes: axes.set_aspect("equal"))
        for a, b in 1.08 * rows / np.linalg.norm(rows, axis=1, keepdims=True):
            right.target([b, -b], [-a, a])
        for i, count in enumerate(sorted({1, 2, 3, self.points})):
            arc = circle[consistent(circle, rows[:count])] * (1 - 0.06 * i)
            right.points(arc[:, 0], arc[:, 1], f"V after {count}", size=10)
        return [left, right]
