from headway.lab.kit import Checks, Experiment, Generator, Panel, at_least, because, close, equal, headline, math, np, param, printed
from headway.lab.tools.regions import arrangement, zaslavsky


def promise(n: int, m: int) -> float:
    """m^{min(n, m/2)}, the printed lower bound on the regions of m hyperplanes in n dimensions."""
    return float(m ** min(n, m / 2))


class PascanuInequality(Experiment):
    """m hyperplanes in general position make at least (m/n)^n regions in n dimensions, not m^{min(n, m/2)}.

        Σ_{j=0}^{n} C(m, j) >= (m/n)^n      for m >= n,            Σ_{j=0}^{n} C(m, j) ~ m^n / n!      for fixed n

    The term C(m, n) = ∏_{i<n} (m - i)/(n - i) has n factors of at least m/n. The printed bound m^{min(n, m/2)} forgets
    the n!: it fails for all n >= 2 and m >= 5, and first for four lines in the plane, which make 11 regions, not 16.

    Notes: B. Source: Pascanu, Montúfar and Bengio 2014, https://arxiv.org/abs/1312.6098
    Assumes: general position; m >= n.
    Also: lower bound on Zaslavsky's number.
    """

    dimensions = param(30, "the largest number n of dimensions", least=4, most=60, small=10)
    planes = param(60, "the largest number m of hyperplanes", least=20, most=120, small=20)
    lines = param(20, "in the plane, for the control", least=10, most=60)

    def measure(self, rng: Generator) -> Checks:
        n, m = np.arange(1, self.dimensions + 1)[:, None], np.arange(1, self.planes + 1)[None]
        exact = np.array([[zaslavsky(i, j) for j in m[0].tolist()] for i in n[:, 0].tolist()], dtype=object)
        yield headline(at_least("Σ C(m, j), (m/n)^n, all m >= n", exact[m >= n].astype(float), ((m / n) ** n)[m >= n]))
        squares = [[j ** min(2 * i, j) for j in m[0].tolist()] for i in n[:, 0].tolist()]  # of the bound: whole numbers
        false = ((n >= 2) & (m >= 5)) | ((m == 4) & ((n == 2) | (n == 3)))
        broken = exact**2 < np.array(squares, dtype=object)
        yield equal("the printed bound is false where n >= 2, m >= 5, and at (2, 4), (3, 4)", broken, false)
        yield equal("four random lines: regions, counted", len(arrangement(rng.normal(size=(4, 2)), rng.normal(size=4))), 11)
        ratio = [zaslavsky(k, 10**6) * math.factorial(k) / 10 ** (6 * k) for k in range(1, 7)]
        yield close("Σ C(m, j) / (m^n/n!) at m = 10⁶, n = 1 … 6", ratio, np.ones(6), 1e-4)
        self.ratio = np.log10(exact.astype(float)) - np.minimum(n, m / 2) * np.log10(m)

    def control(self, rng: Generator) -> Checks:
        w, b = rng.normal(size=(self.lines, 2)), rng.normal(size=self.lines)
        for why, lines in (("the lines are parallel", (0 * w + w[0], b)), ("the lines meet in one point", (w, 0 * b))):
            yield because(why, at_least(f"{self.lines} lines: regions, (m/2)²", len(arrangement(*lines)), (self.lines / 2) ** 2))
        for n, m in ((2, 4), (5, 20)):
            yield printed(at_least(f"n = {n}, m = {m}: the printed bound", zaslavsky(n, m), promise(n, m)), "B1")

    def plots(self) -> list[Panel]:
        top, extent = float(np.abs(self.ratio).max()), (0.5, self.planes + 0.5, 0.5, self.dimensions + 0.5)
        left = Panel("The printed bound is too large (red) almost everywhere", "hyperplanes m", "dimensions n")
        left.image(self.ratio, extent, "RdBu", "log10(regions / printed)", (-top, top))
        m = np.arange(4, 21, 2)
        right = Panel("Three dimensions", "hyperplanes m", "regions", log="y")
        right.series(m, [zaslavsky(3, int(k)) for k in m], "Σ C(m, j)").bound(m, (m / 3) ** 3, "(m/n)ⁿ")
        return [left, right.control(m, [promise(3, int(k)) for k in m], "printed")]
