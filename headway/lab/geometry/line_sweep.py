from headway.lab.kit import Checks, Experiment, Generator, Panel, because, equal, headline, math, np, param
from headway.lab.tools.mosaic import mosaic
from headway.lab.tools.regions import Polygon, arrangement, crossings

WAYS = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [1.0, -1.0]])  # normals of the lines on a grid


def added(w: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Regions of the first 0, 1, … lines, and for each line its different crossings with those before, plus one."""
    regions = [1, *(len(arrangement(w[:k], b[:k])) for k in range(1, len(w) + 1))]
    return np.array(regions), np.array([len(crossings(w[:k], b[:k])) + 1 for k in range(1, len(w) + 1)])


class LineSweep(Experiment):
    """A new line adds one region for each piece into which the other lines cut it: its crossing points plus one.

        R_{k+1} = R_k + (different crossings on the new line) + 1,
        R_m = 1 + m + C(m, 2)      in general position

    Between two neighbouring crossings the new line runs inside one region and cuts it in two. In general position the (k+1)-st line has k
    crossings, and 1 + Σ_{k<m} (k + 1) = 1 + m + C(m, 2). Where lines are parallel or three meet in a point there are fewer.

    Notes: B. Source: Zaslavsky 1975, https://doi.org/10.1090/memo/0154; Steiner 1826, https://doi.org/10.1515/crll.1826.1.349
    Assumes: the new line is none of the old ones; for the sum, general position.
    Also: sweep of an arrangement; induction over lines.
    """

    m = param(12, "random lines", least=3, most=30)
    grid = param(4, "lines x = i, y = i, x + y = i and x - y = i of each kind", least=2, most=7)

    def measure(self, rng: Generator) -> Checks:
        self.lines = rng.normal(size=(self.m, 2)), rng.normal(size=self.m)
        (self.random, pieces), k = added(*self.lines), np.arange(self.m + 1)
        yield equal("random lines: regions added, crossings + 1", np.diff(self.random), pieces)
        yield headline(equal(f"regions of k <= {self.m} random lines: 1 + k + C(k, 2)", self.random, 1 + k + k * (k - 1) // 2))
        order, shifts = rng.permutation(4 * self.grid), -np.tile(np.arange(self.grid), 4)
        self.special, pieces = added(np.repeat(WAYS, self.grid, axis=0)[order], shifts[order])
        yield equal("lines on a grid: regions added, crossings + 1", np.diff(self.special), pieces)

    def control(self, rng: Generator) -> Checks:
        w, b = self.lines
        regions, pieces = added(np.vstack([w, -2 * w[0]]), np.append(b, -2 * b[0]))
        yield because("the new line is an old one", equal("regions added, crossings + 1", int(regions[-1] - regions[-2]), int(pieces[-1])))
        k = 4 * self.grid
        row = equal(f"{k} lines on a grid: 1 + k + C(k, 2)", int(self.special[-1]), 1 + k + math.comb(k, 2))
        yield because("some lines are parallel, and some meet in one point", row)

    def plots(self) -> list[Panel]:
        w, b = self.lines
        side = 1.5 * max(abs(x) for k in (2, 3) for point in crossings(w[:k], b[:k]) for x in point)
        frames = [(k, arrangement(w[:k], b[:k], Polygon.square(-side, side))) for k in (1, 2, 3)]
        panels = [mosaic(f"{k} line{'s' * (k > 1)}: {self.random[k]} regions", cells) for k, cells in frames]
        last, k = Panel("Crossings + 1, line by line", "lines k", "regions"), np.arange(max(self.m, 4 * self.grid) + 1)
        last.bound(k, 1 + k + k * (k - 1) / 2, "1 + k + C(k, 2)").series(k[: self.m + 1], self.random, "random lines")
        last.control(k[: 4 * self.grid + 1], self.special, "on a grid")
        return [*panels, last.ticks(x={float(i): str(i) for i in k[::5]})]
