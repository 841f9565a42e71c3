from headway.lab.kit import Checks, Experiment, Generator, Panel, because, equal, headline, np, param, printed
from headway.lab.tools.mosaic import mosaic
from headway.lab.tools.regions import Polygon, arrangement, crossings, zaslavsky

COUNTS = {(1, 5): 6, (2, 4): 11, (2, 6): 22, (3, 6): 42, (3, 8): 93}  # (n, m): Σ_{j<=n} C(m, j)


class Zaslavsky(Experiment):
    """m hyperplanes in general position cut n-space into Σ_{j<=n} C(m, j) regions, and any others into fewer.

        R(n, m) = Σ_{j=0}^{min(n, m)} C(m, j) <= 2^m,        R(n, m+1) = R(n, m) + R(n-1, m)

    The last hyperplane is itself cut into R(n-1, m) pieces by the others, and each of these pieces splits one region.
    In the plane, Euler's formula says the same: 1 + lines + crossings.

    Notes: B, C. Source: Zaslavsky 1975, Facing up to arrangements, https://doi.org/10.1090/memo/0154
    Assumes: every n of the normals are linearly independent; no n + 1 of the hyperplanes meet in one point.
    Also: regions of a hyperplane arrangement; Zaslavsky's theorem.
    """

    cost = "M"
    m = param(6, "lines in special positions and in the picture", least=3, most=20)
    most = param(8, "hyperplanes m of the table, at most", least=4, most=8, small=6)

    def measure(self, rng: Generator) -> Checks:
        known = {pair: count for pair, count in COUNTS.items() if pair[1] <= self.most}
        found = [len(arrangement(rng.normal(size=(m, n)), rng.normal(size=m))) for n, m in known]
        name = f"regions of random hyperplanes, (n, m) = {', '.join(map(str, known))}"
        yield headline(equal(name, np.array(found), list(known.values())))
        w, b, m = rng.normal(size=(self.m, 2)), rng.normal(size=self.m), self.m
        self.lines = arrangement(w, b), arrangement(w, b, Polygon.square(-3, 3))
        met = set[tuple[float, ...]]().union(*(crossings(w[:k], b[:k]) for k in range(2, m + 1)))
        yield equal(f"{m} lines: 1 + lines + crossings", len(self.lines[0]), 1 + m + len(met))
        grown = [len(arrangement(w[:k], b[:k])) for k in range(1, m + 1)]
        yield equal("R(2, k+1) - R(2, k) = R(1, k)", np.diff(grown), [zaslavsky(1, k) for k in range(1, m)])
        special = {
            "parallel": (w * 0 + w[0], b),
            "through one point": (w, w @ rng.normal(size=2)),
            "one twice": (np.vstack([w[:-1], 2 * w[0]]), np.append(b[:-1], 2 * b[0])),
        }
        self.counts = {name: len(arrangement(*lines)) for name, lines in special.items()}
        found, expected = list(self.counts.values()), [m + 1, 2 * m, zaslavsky(2, m - 1)]
        yield equal("parallel m+1, through one point 2m, one twice R(2, m-1)", np.array(found), expected)

    def control(self, rng: Generator) -> Checks:
        full, w = zaslavsky(2, self.m), rng.normal(size=(self.m, 2))
        for name, count in self.counts.items():
            yield because(f"the lines are not in general position: {name}", equal(f"{name}: regions", count, full))
        yield printed(equal("normals in general position, no biases: regions", len(arrangement(w, np.zeros(self.m))), full), "B3")

    def plots(self) -> list[Panel]:
        everywhere, seen = map(len, self.lines)
        left = mosaic(f"{self.m} lines: {seen} of {everywhere} regions", self.lines[1])
        right, bars = Panel("Special positions have fewer", "position of the lines", "regions"), {"general": everywhere}
        bars |= self.counts
        return [left, right.bars(list(bars), list(bars.values())).level(zaslavsky(2, self.m), "Σ C(m, j)")]
