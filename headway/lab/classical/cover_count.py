from fractions import Fraction

from headway.lab.kit import Checks, Experiment, Generator, Panel, at_most, because, equal, headline, np, param, printed, share_is
from headway.lab.tools.dichotomies import cover, dichotomies, recursion
from headway.lab.tools.programs import separable

COUNTS = {(4, 2): 8, (6, 3): 32, (7, 3): 44, (8, 3): 58, (8, 4): 128}  # Cover 1965


class CoverCount(Experiment):
    """A hyperplane through the origin splits s points in general position in exactly C(s, n) ways.

        C(s, n) = 2 Σ_{i=0}^{n-1} binomial(s-1, i),     C(s+1, n) = C(s, n) + C(s, n-1),     C(1, n) = C(s, 1) = 2

    All labellings are possible up to s = n, half of them at s = 2n; for large n the fraction C(s, n) / 2^s is a step there, while C grows.

    Notes: C. Source: Cover 1965, https://doi.org/10.1109/PGEC.1965.264137
    Assumes: general position: any n points are independent; no bias, or points (x, 1). Also: Cover's theorem; function counting theorem.
    """

    s = param(8, "points whose labellings are counted one by one", least=1, most=12, small=6)
    n = param(3, "dimension of those points", least=1, most=10)
    large = param(20, "dimension for random labellings", least=2, most=50, small=10, full=30)
    ratios = param((1.5, 1.8, 2.0, 2.2, 2.5), "s/n for random labellings", least=0.5, most=4.0)
    labellings = param(200, "random labellings for each ratio and seed", least=20, most=2000, small=40, full=1000)

    def conditions(self) -> list[tuple[bool, str]]:
        return [(self.large * self.labellings <= 40_000, "large times labellings must be at most 40,000")]

    def measure(self, rng: Generator) -> Checks:
        self.shares: list[tuple[float, float]] = []  # s/n and the share of labellings that are separable
        s, n, one = self.s, self.n, dichotomies(rng.normal(size=(self.s, self.n)))
        yield headline(equal(f"separable labellings of {s} points in {n} dimensions, counted", one, cover(s, n)))
        found = np.array([dichotomies(rng.normal(size=pair)) for pair in COUNTS])
        yield equal("C(4, 2), C(6, 3), C(7, 3), C(8, 3), C(8, 4), counted", found, [*COUNTS.values()])
        table = np.array([[cover(s, n) for n in range(1, 31)] for s in range(1, 61)], dtype=object)
        yield equal("sum and recursion, s <= 60, n <= 30", table, recursion(60, 30))
        halves = np.array([Fraction(cover(2 * n, n), 4**n) for n in (1, 5, 30, 500)])
        yield equal("the fraction at s = 2n is ½, n = 1, 5, 30, 500", halves, [Fraction(1, 2)] * 4)

    def sample(self, rng: Generator) -> Checks:
        """Uniform labels: the hits are binomial with p = C(s, n) / 2^s, so the standard error is sqrt(p (1-p) / labellings)."""
        for ratio in self.ratios:
            s = round(ratio * self.large)
            x, y = rng.normal(size=(s, self.large)), rng.choice([-1, 1], (self.labellings, s, 1))
            hits, p = sum(separable(labels * x) for labels in y), cover(s, self.large) / 2**s
            self.shares.append((ratio, hits / self.labellings))
            yield share_is(f"share at s/n = {ratio:g}, n = {self.large}", hits, self.labellings, p)

    def control(self, rng: Generator) -> Checks:
        n, x = self.large, rng.normal(size=(6, 3))
        yield printed(at_most(f"C(3n, n) is below C(2n, n), n = {n}", cover(3 * n, n), cover(2 * n, n)), "C2")
        found = dichotomies(np.column_stack([x, np.ones(6)]))
        yield because("the hyperplane has a bias", equal("C(6, 3), counted", found, cover(6, 3)))
        x[2] = x[0] + x[1]
        yield because("three points are in one plane through 0", equal("C(6, 3), counted", dichotomies(x), cover(6, 3)))

    def plots(self) -> list[Panel]:
        left = Panel("The fraction is one half at s = 2n …", "points per dimension s/n", "C(s, n) / 2^s")
        right = Panel("… but the number keeps growing", "points per dimension s/n", "labellings C(s, n)", log="y")
        for n in sorted({5, self.large, 100}):
            s = range(1, 4 * n + 1)
            left.curve(np.array(s) / n, [cover(k, n) / 2**k for k in s], f"n = {n}")
            right.curve(np.array(s) / n, [float(cover(k, n)) for k in s], f"n = {n}")
        ratios, shares = np.transpose(self.shares)
        left.points(ratios, shares, f"random labels, n = {self.large}", size=22)
        return [left.level(0.5, "½"), right.ticks(y={10.0**k: f"$10^{{{k}}}$" for k in range(0, 90, 20)})]
