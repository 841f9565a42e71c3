from headway.lab.kit import Checks, Experiment, Generator, Panel, because, equal, headline, math, np, param
from headway.lab.tools.mosaic import mosaic
from headway.lab.tools.regions import Polygon, arrangement


def points_on(w: np.ndarray, b: np.ndarray) -> int:
    """Different points where the last of the lines w_i·x + b_i = 0 meets the others."""
    found = set()
    for v, c in zip(w[:-1], b[:-1], strict=True):
        pair = np.array([v, w[-1]])
        if abs(np.linalg.det(pair)) > 1e-9:
            found.add(tuple(np.round(np.linalg.solve(pair, [-c, -b[-1]]), 8) + 0.0))
    return len(found)


def grown(w: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Regions of the first 0, 1, … lines."""
    return np.array([1, *(len(arrangement(w[:k], b[:k])) for k in range(1, len(w) + 1))])


def lattice(count: int, rng: Generator) -> tuple[np.ndarray, np.ndarray]:
    """Different lines with small whole numbers, of which many are parallel and many meet in one point."""
    lines: set[tuple[int, int, int]] = set()
    while len(lines) < count:
        p, q, c = (int(k) for k in rng.integers(-2, 3, 3))
        if p or q:
            sign = 1 if (p, q) > (0, 0) else -1
            lines.add((sign * p // math.gcd(p, q, c), sign * q // math.gcd(p, q, c), sign * c // math.gcd(p, q, c)))
    made = np.array(sorted(lines), dtype=float)[rng.permutation(count)]
    return made[:, :2], made[:, 2]


class LineSweep(Experiment):
    """A new line adds one region for each piece into which the other lines cut it: its crossing points plus one.

        R_{k+1} = R_k + (different crossings on the new line) + 1,
        R_m = 1 + m + C(m, 2)      in general position

    Between two neighbouring crossings the new line runs inside one region and cuts it in two. In general position the
    (k+1)-st line has k crossings, and 1 + Σ_{k<m} (k + 1) = 1 + m + C(m, 2). Where lines are parallel or three meet in
    a point there are fewer.

    Notes: B. Source: Zaslavsky 1975, https://doi.org/10.1090/memo/0154; Steiner 1826,
    https://doi.org/10.1515/crll.1826.1.349
    Assumes: the new line is none of the old ones; for the sum, general position.
    Also: sweep of an arrangement; induction over lines.
    """

    m = param(12, "random lines", least=3, most=30)
    whole = param(15, "lines with small whole numbers: more than the 8 directions", least=9, most=30)

    def measure(self, rng: Generator) -> Checks:
        w, b = rng.normal(size=(self.m, 2)), rng.normal(size=self.m)
        self.lines, self.random = (w, b), grown(w, b)
        k = np.arange(self.m + 1)
        crossed = [points_on(w[: i + 1], b[: i + 1]) + 1 for i in range(self.m)]
        yield equal("random lines: regions added, crossings + 1", np.diff(self.random), crossed)
        yield headline(
            equal(f"regions of k <= {self.m} random lines: 1 + k + C(k, 2)", self.random, 1 + k + k * (k - 1) // 2)
        )
        w, b = lattice(self.whole, rng)
        self.special = grown(w, b)
        crossed = [points_on(w[: i + 1], b[: i + 1]) + 1 for i in range(self.whole)]
        yield equal("lines with whole numbers: regions added, crossings + 1", np.diff(self.special), crossed)

    def control(self, rng: Generator) -> Checks:
        w, b = self.lines
        twice, shifts = np.vstack([w, -2 * w[0]]), np.append(b, -2 * b[0])
        added = int(grown(twice, shifts)[-1] - self.random[-1])
        yield because(
            "the new line is an old one", equal("regions added, crossings + 1", added, points_on(twice, shifts) + 1)
        )
        k = self.whole
        row = equal(f"{k} lines with whole numbers: 1 + k + C(k, 2)", int(self.special[-1]), 1 + k + math.comb(k, 2))
        yield because("some lines are parallel or three meet in a point", row)

    def plots(self) -> list[Panel]:
        w, b = self.lines
        corners = [np.linalg.solve(w[list(pair)], -b[list(pair)]) for pair in ((0, 1), (0, 2), (1, 2))]
        side = 1.5 * float(np.abs(corners).max())
        square = Polygon.square(-side, side)
        frames = [(k, arrangement(w[:k], b[:k], square)) for k in (1, 2, 3)]
        panels = [mosaic(f"{k} line{'s' if k > 1 else ''}: {self.random[k]} regions", cells) for k, cells in frames]
        last = Panel("Crossings + 1, line by line", "lines k", "regions")
        k = np.arange(max(self.m, self.whole) + 1)
        last.bound(k, 1 + k + k * (k - 1) / 2, "1 + k + C(k, 2)").series(
            np.arange(self.m + 1), self.random, "random lines"
        )
        last.control(np.arange(self.whole + 1), self.special, "whole numbers")
        return [*panels, last.ticks(x={float(i): str(i) for i in k[::5]})]
