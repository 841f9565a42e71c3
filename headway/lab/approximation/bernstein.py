from functools import partial

from headway.lab.certified import certified_sup
from headway.lab.checks import at_most, because, close, headline, printed, table
from headway.lab.kit import Checks, Experiment, Generator, Panel, math, np, param
from headway.lab.tools.curves import Curve, Function, bend, root, sine, step
from headway.lab.tools.kernels import chebyshev

PUBLISHED = {10: 0.12305, 40: 0.06269, 160: 0.03149}  # sup error for |x - ½|, by n
KINK, WAVE, ROOT = bend(1, 0.5), sine(2 * math.pi), root()
ACCURACY = {KINK: 1e-5, WAVE: 0.02, ROOT: 0.5}  # of the certified suprema


def polynomial(f: Function, n: int) -> Function:
    """B_n f(x) = Σ_k f(k/n) binomial(n, k) x^k (1-x)^{n-k}, with logarithms against overflow."""
    from scipy.special import gammaln, xlog1py, xlogy

    k = np.arange(n + 1)
    logs, values = gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1), f(k / n)
    return lambda x: np.exp(logs + xlogy(k, x[:, None]) + xlog1py(n - k, -x[:, None])) @ values


def sup_error(f: Curve, n: int) -> float:
    """Certified. B_n f is as Lipschitz as f; √x is taken in t = √x, where the slope of B_n is at most 2√n."""
    b, rtol = polynomial(f, n), ACCURACY[f]
    if f is ROOT:
        return certified_sup(lambda t: b(t * t) - t, 2 * n**0.5 + 1, 0, 1, rtol).high
    return certified_sup(lambda x: b(x) - f(x), 2 if f is KINK else 4 * math.pi, 0, 1, rtol).high


def runge(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + 25 * x**2)


def gap(p: Function, angle: np.ndarray) -> np.ndarray:
    return p(np.cos(angle)) - runge(np.cos(angle))


def interpolant(x: np.ndarray) -> Function:
    from scipy.interpolate import BarycentricInterpolator

    return BarycentricInterpolator(x, runge(x), random_state=np.random.RandomState(0))


class Bernstein(Experiment):
    """Bernstein's polynomials converge uniformly to every continuous function on [0, 1]; Taylor's need not.

        B_n f(x) = Σ_k f(k/n) binomial(n, k) x^k (1-x)^{n-k} = E f(Bin(n, x)/n)

        sup |B_n f - f| <= (3/2) ω_f(n^{-1/2})      any continuous f with modulus of continuity ω_f
                        <= ρ / (2 √n)               f ρ-Lipschitz
                        <= max |f''| / (8 n)        f twice differentiable

    because Bin(n, x)/n is near x. On [-1, 1] the Taylor series of 1/(1 + 25x²) and interpolation at equal distances
    diverge; at Chebyshev's nodes it errs by at most 4 M r^{-n} / (r - 1), M the maximum on the Bernstein ellipse r.

    Notes: A, C. Source: Bernstein 1912; Trefethen 2013, Approximation Theory and Approximation Practice, thm 8.2
    Assumes: f is continuous; the interval is compact.
    Also: Weierstrass approximation; Bernstein polynomials; Runge's phenomenon.
    """

    degrees = param((10, 20, 40, 80, 160, 320), "even degrees n", least=10, most=2000, small=(10, 20, 40))
    nodes = param((10, 20, 30, 40), "degrees for 1/(1 + 25x²)", least=10, most=60, count=2, small=(10, 20))
    cost = "M"

    def conditions(self) -> list[tuple[bool, str]]:
        even, rise = all(n % 2 == 0 for n in self.degrees), list(self.nodes) == sorted(self.nodes)
        return [(even, "every degree must be even"), (rise, "`nodes` must increase")]

    def measure(self, rng: Generator) -> Checks:
        from scipy.stats import binom

        n, x = np.array(self.degrees), rng.random(5)
        self.errors = {f.name: np.array([sup_error(f, k) for k in self.degrees]) for f in ACCURACY}
        self.bounds = {KINK.name: 0.5 / n**0.5, WAVE.name: 4 * math.pi**2 / (8 * n), ROOT.name: 1.5 * n**-0.25}
        yield headline(at_most("sup |B_n f - f| against the law of each f", self.errors, self.bounds))
        middle = [math.comb(k, k // 2) / 2 ** (k + 1) for k in self.degrees]  # B_n f(½) for |x - ½|
        found = self.errors[KINK.name]
        yield close("|x - ½|: sup error over binomial(n, n/2) / 2^{n+1}", found / middle, np.ones(n.size), 1e-5)
        yield from table(PUBLISHED, dict(zip(self.degrees, found, strict=True)), 1e-5, "|x - ½|, n = {}")
        k = self.degrees[0]
        mean = [binom.expect(lambda j: np.sin(2 * math.pi * j / k), (k, p)) for p in x]
        yield close(f"B_n f(x) is the mean of f(Bin(n, x)/n), n = {k}", polynomial(WAVE, k)(x), mean)
        r, N = 1.2, np.array(self.nodes)  # inside of the poles ±i/5, which lie on the ellipse of radius 1.2198
        self.ellipse = 4 / (1 - 25 * ((r - 1 / r) / 2) ** 2) * r ** -N.astype(float) / (r - 1)
        self.chebyshev = []
        for m in self.nodes:  # in x = cos θ the interpolant is a trigonometric polynomial, of slope at most n max|p|
            p, lip = interpolant(chebyshev(m + 1)), m * (1 + 2 / math.pi * np.log(m + 1)) + 3.3
            self.chebyshev.append(certified_sup(partial(gap, p), lip, 0, math.pi, rtol=4.0).high)
        yield at_most("1/(1 + 25x²) at Chebyshev's nodes against 4 M r^-n / (r - 1)", self.chebyshev, self.ellipse)

    def control(self, rng: Generator) -> Checks:
        x, m, n, jump = np.linspace(-1, 1, 2001), self.nodes, self.degrees[-1], step(0.5)
        self.equal = [float(np.max(np.abs(interpolant(np.linspace(-1, 1, k + 1))(x) - runge(x)))) for k in m]
        check = at_most(f"degree {m[-1]}: largest error found", self.equal[-1], self.ellipse[-1])
        yield because("the nodes are equidistant", check)
        self.taylor = [abs(float(np.sum((-25.0) ** np.arange(k // 2 + 1))) - 1 / 26) for k in m]
        check = at_most(f"Taylor at 1: degree {m[-1]} is nearer than degree {m[0]}", self.taylor[-1], self.taylor[0])
        yield printed(check, "A1")
        error = float(np.max(np.abs(polynomial(jump, n)(jump.turns) - jump(jump.turns))))
        yield printed(at_most(f'"any function", here a step, n = {n}: sup error', error, 1.5 * n**-0.5), "A1")

    def plots(self) -> list[Panel]:
        left = Panel("Bernstein's polynomials converge", "degree n", "sup |B_n f - f|", log="xy")
        for name, errors in self.errors.items():
            left.series(self.degrees, errors, name).bound(self.degrees, self.bounds[name])
        right = Panel("1/(1 + 25x²): nodes matter", "degree n", "largest error on [-1, 1]", log="y")
        right.series(self.nodes, self.chebyshev, "Chebyshev nodes").bound(self.nodes, self.ellipse, "4 M r^-n/(r - 1)")
        right.control(self.nodes, self.equal, "equal distances").control(self.nodes, self.taylor, "Taylor, at x = 1")
        return [left, right]
