from functools import partial

from headway.lab.certified import certified_sup
from headway.lab.kit import Checks, Experiment, Generator, Panel, at_most, because, close, equal, headline, math, np, param
from headway.lab.tools.multiindex import exponents, monomials
from headway.lab.tools.ridge_powers import coefficients, directions, gap, ridge_net

CERTAIN = 0.05  # accuracy of the certified suprema


class LiftingRidge(Experiment):
    """A polynomial of n variables is a sum of powers of linear forms, so what works on the line works in n dimensions.

    Every homogeneous polynomial of degree k is, for N = binomial(n+k-1, k) generic directions w_i,

        p(x) = Σ_{i=1}^{N} c_i <w_i, x>^k,          for example    xy = ((x+y)² - (x-y)²) / 4,
        |p - net| <= Σ_i |c_i| (h²/8) k(k-1) T^{k-2}

    for t^k interpolated at M knots, spacing h, on [-T, T]: N (M - 1) ReLUs. On the cube [-1, 1]^n unit vectors give |<w, x>| <= T = √n.

    Notes: C. Source: Pinkus 1999, section 3, https://doi.org/10.1017/S0962492900002919
    Assumes: there are N directions; they are generic, their k-th powers are linearly independent.
    Deviates: the supremum is certified for n = 2; for more variables it is the largest error found at random points.
    Also: lifting by ridge functions; ridge function representation of polynomials.
    """

    variables = param((2, 3), "the numbers n of variables", least=2, most=4)
    degree = param(5, "the largest degree k", least=2, most=6, small=3)
    knots = param((9, 17, 33, 65), "knots M of each interpolant", least=5, most=129, count=4)
    points = param(2000, "random points of the cube [-1, 1]^n", least=100, most=20000, small=300)
    cost = "M"

    def measure(self, rng: Generator) -> Checks:
        M, powers, ranks, units = np.array(self.knots), [], [], []
        exact, self.found, self.bounds = {}, {}, {}
        for n, k in [(n, k) for n in self.variables for k in range(2, self.degree + 1)]:
            x, w, name = rng.uniform(-1, 1, (self.points, n)), directions(n, k, rng), f"n = {n}, k = {k}"
            A, p, h = coefficients(w, k), rng.normal(size=len(w)), 2 * math.sqrt(n) / (M - 1)
            c, values, bend = np.linalg.solve(A, p), monomials(x, exponents(n, k)) @ p, k * (k - 1) * n ** (k / 2 - 1)
            net = ridge_net(w, c, k, self.knots[0])
            powers += [(x @ w.T) ** k @ c - values, net(x)[:, 0] + gap(w, c, k, self.knots[0], x) - values]
            ranks.append(np.linalg.matrix_rank(A, tol=1e-12) - math.comb(n + k - 1, k))
            units.append(net.nodes - len(w) * (self.knots[0] - 1))
            gaps = [partial(gap, w, c, k, m) for m in self.knots]
            self.bounds[name] = np.abs(c).sum() * h**2 / 8 * bend
            self.found[name] = [np.max(np.abs(d(x))) for d in gaps]
            if n == 2:  # the slope of an interpolant is off by at most h/2 max |(t^k)''|
                lip = h / 2 * bend * (np.abs(c) @ np.abs(w).sum(axis=1))
                exact[name] = [certified_sup(*pair, [-1, -1], [1, 1], CERTAIN).high for pair in zip(gaps, lip, strict=True)]
        yield close("p is a sum of ridge powers; the net is p minus the gaps", powers, 0.0, 1e-9)
        yield equal("rank for generic directions minus binomial(n+k-1, k)", ranks, 0)
        yield equal("units minus N (M - 1)", units, 0)
        if exact:
            name = f"sup |p - net| on [-1, 1]², certified to {CERTAIN:.0%}"
            yield headline(at_most(name, exact, [self.bounds[n] for n in exact], rounding=CERTAIN))
        check = at_most(f"|p - net| at {self.points} points", self.found, self.bounds)
        yield check if exact else headline(check)

    def control(self, rng: Generator) -> Checks:
        n, k, w = self.variables[-1], self.degree, directions(self.variables[-1], self.degree, rng)
        A, p = coefficients(w[:-1], k), rng.normal(size=len(w))
        rest = np.linalg.norm(A @ np.linalg.lstsq(A, p, rcond=None)[0] - p)
        yield because("one direction is missing", close(f"{n = }, {k = }: what is left of p", rest, 0.0, 1e-9))
        w[1] = w[0]
        rank = np.linalg.matrix_rank(coefficients(w, k), tol=1e-12)
        yield because("one direction is repeated", equal(f"rank, {n = }, {k = }", rank, len(w)))

    def plots(self) -> list[Panel]:
        t, w = np.linspace(-1, 1, 81), np.array([[1.0, 1.0], [1.0, -1.0]]) / math.sqrt(2)
        mesh, size = np.stack(np.meshgrid(t, t), axis=-1).reshape(-1, 2), (-1.0, 1.0, -1.0, 1.0)
        square, both = (ridge_net(w[:k], np.array([0.5, -0.5][:k]), 2, 9)(mesh).reshape(81, 81) for k in (1, 2))
        left = Panel("(x + y)²/4, 8 ReLUs", "x", "y").image(square, size, "RdBu", limits=(-1, 1))
        middle = Panel("minus (x - y)²/4 is xy", "x", "y").image(both, size, "RdBu", "value of both", (-1, 1))
        right = Panel("The error falls like h²", "knots M", "largest |p - net| (dashed: bound)", log="xy")
        for name in list(self.found)[:3]:
            right.series(self.knots, self.found[name], name).bound(self.knots, self.bounds[name])
        return [left, middle, right]
