from headway.lab.kit import Checks, Experiment, Generator, Panel, at_most, because, equal, headline, np, param, printed
from headway.lab.tools.dichotomies import cover, dichotomies
from headway.lab.tools.mosaic import mosaic
from headway.lab.tools.regions import Polygon, arrangement, zaslavsky


class CentralArrangement(Experiment):
    """Without biases, m hyperplanes in general position cut space into 2 Σ_{j<n} C(m-1, j) cones: Cover's number.

        regions = 2 Σ_{j=0}^{n-1} C(m-1, j) = C(m, n)   <   Σ_{j=0}^{n} C(m, j)      for m > n

    A region is a vector of signs (sign w_i·x)_i. Read x as a weight vector and w_i as points: it is a labelling of m
    points that a hyperplane through 0 realises, so regions and labellings are the same things.

    Notes: B, C. Source: Cover 1965, https://doi.org/10.1109/PGEC.1965.264137; Zaslavsky 1975, https://doi.org/10.1090/memo/0154
    Assumes: every n of the normals are linearly independent; all hyperplanes contain 0.
    Also: hyperplanes through the origin; layer without biases.
    """

    cost = "M"
    m = param(6, "the largest number of hyperplanes", least=4, most=8)
    shown = param(5, "lines in the picture", least=2, most=20)

    def measure(self, rng: Generator) -> Checks:
        normals = {(n, m): rng.normal(size=(m, n)) for n in (2, 3) for m in range(n, self.m + 1)}
        cones = {size: arrangement(w, np.zeros(len(w))) for size, w in normals.items()}
        self.found = {size: len(cells) for size, cells in cones.items()}
        found, wanted = np.array(list(self.found.values())), [cover(m, n) for n, m in normals]
        yield headline(equal(f"regions without biases, n = 2, 3, m <= {self.m}", found, wanted))
        yield equal("labellings of the normals, counted by linear programs", found, [dichotomies(w) for w in normals.values()])
        signs = [{tuple(c.signs) for c in cells} for cells in cones.values()]
        pairs = zip(signs, cones.values(), strict=True)
        yield equal("regions whose opposite is not one", sum(tuple(~c.signs) not in known for known, cells in pairs for c in cells), 0)
        self.biased = {(n, m): len(arrangement(w, rng.normal(size=m))) for (n, m), w in normals.items()}
        most = [count - (m > n) for (n, m), count in self.biased.items()]
        yield at_most("regions without biases, with biases (less one for m > n)", self.found, most)
        self.cells = arrangement(rng.normal(size=(self.shown, 2)), np.zeros(self.shown), Polygon.square(-1, 1))

    def control(self, rng: Generator) -> Checks:
        m, w = self.m, rng.normal(size=(self.m, 3))
        yield because("there are biases", equal(f"regions with biases, n = 3, m = {m}", self.biased[3, m], cover(m, 3)))
        w[2] = w[0] + w[1]
        yield because("three normals are in one plane", equal(f"regions, n = 3, m = {m}", len(arrangement(w, np.zeros(m))), cover(m, 3)))
        yield printed(equal(f"no biases, n = 2, m = {m}: Σ_{{j<=n}} C(m, j)", self.found[2, m], zaslavsky(2, m)), "B3")

    def plots(self) -> list[Panel]:
        left = mosaic(f"{self.shown} lines through 0: {len(self.cells)} cones", self.cells)
        right = Panel("Biases make more regions", "hyperplanes m", "regions", log="y")
        for n in (2, 3):
            m = range(n, self.m + 1)
            right.series(m, [self.found[n, k] for k in m], f"n = {n}, b = 0")
            right.control(m, [self.biased[n, k] for k in m], f"n = {n}, biases")
        return [left, right]
