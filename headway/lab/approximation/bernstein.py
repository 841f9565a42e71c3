from headway.lab.kit import Checks, Experiment, Generator, Panel, at_most, because, close, headline, math, np, param, printed, table
from headway.lab.tools.curves import bend, sine, step
from headway.lab.tools.polynomials import bernstein, bernstein_error, bernstein_root_error, runge_error, runge_gap

PUBLISHED = {10: 0.12305, 40: 0.06269, 160: 0.03149}  # sup error for |x - ½|, by n
KINK, WAVE = bend(1, 0.5), sine(2 * math.pi)
RADIUS = 1.2  # of an ellipse inside of the poles ±i/5, which lie on that of 1.2198


class Bernstein(Experiment):
    """Bernstein's polynomials converge uniformly to every continuous function on [0, 1]; Taylor's need not.

        B_n f(x) = Σ_k f(k/n) binomial(n, k) x^k (1-x)^{n-k} = E f(Bin(n, x)/n)

        sup |B_n f - f| <= (3/2) ω_f(n^{-1/2})      any continuous f with modulus of continuity ω_f
                        <= ρ / (2 √n)               f ρ-Lipschitz
                        <= max |f''| / (8 n)        f twice differentiable

    because Bin(n, x)/n is near x. On [-1, 1] the Taylor series of 1/(1 + 25x²) and interpolation at equal distances diverge; at
    Chebyshev's nodes it errs by at most 4 M r^{-n} / (r - 1), M the maximum on the Bernstein ellipse r.

    Notes: A, C. Source: Bernstein 1912; Trefethen 2013, Approximation Theory and Approximation Practice, thm 8.2
    Assumes: f is continuous; the interval is compact. Also: Weierstrass approximation; Bernstein polynomials; Runge's phenomenon.
    """

    degrees = param((10, 20, 40, 80, 160, 320), "even degrees n", least=10, most=2000, small=(10, 20, 40))
    nodes = param((10, 20, 30, 40), "degrees for 1/(1 + 25x²)", least=10, most=60, count=2, small=(10, 20))
    cost = "M"

    def conditions(self) -> list[tuple[bool, str]]:
        return [(all(n % 2 == 0 for n in self.degrees), "every degree must be even")]

    def measure(self, rng: Generator) -> Checks:
        from scipy.stats import binom

        n, k, x, N, r = np.array(self.degrees), self.degrees[0], rng.random(5), np.array(self.nodes), RADIUS
        kink = np.array([bernstein_error(KINK, m, 1.0, 1e-5) for m in self.degrees])
        wave = [bernstein_error(WAVE, m, 2 * math.pi, 0.02) for m in self.degrees]
        self.errors = {"|x - ½|": kink, "sin 2πx": wave, "√x": [bernstein_root_error(m, 0.5) for m in self.degrees]}
        self.bounds = {"1/(2√n)": 0.5 / n**0.5, "4π²/(8n)": math.pi**2 / (2 * n), "(3/2) n^(-1/4)": 1.5 * n**-0.25}
        yield headline(at_most("sup |B_n f - f| against the law of each f", self.errors, self.bounds))
        middle = [math.comb(m, m // 2) / 2 ** (m + 1) for m in self.degrees]  # B_n f(½)
        yield close("|x - ½|: sup error over binomial(n, n/2) / 2^{n+1}", kink / middle, 1.0, 1e-5)
        yield from table(PUBLISHED, dict(zip(self.degrees, kink, strict=True)), 1e-5, "|x - ½|, n = {}")
        mean = [binom.expect(lambda j: np.sin(2 * math.pi * j / k), (k, p)) for p in x]
        yield close(f"B_n f(x) is the mean of f(Bin(n, x)/n), n = {k}", bernstein(WAVE, k)(x), mean)
        self.ellipse = 4 / (1 - 25 * ((r - 1 / r) / 2) ** 2) * r ** -N.astype(float) / (r - 1)
        self.chebyshev = [runge_error(m) for m in self.nodes]
        yield at_most("1/(1 + 25x²) at Chebyshev's nodes against 4 M r^-n / (r - 1)", self.chebyshev, self.ellipse)

    def control(self, rng: Generator) -> Checks:
        x, m, n, jump = np.linspace(-1, 1, 2001), self.nodes, self.degrees[-1], step(0.5)
        self.equal = [float(np.max(np.abs(runge_gap(np.linspace(-1, 1, k + 1))(x)))) for k in m]
        yield because("equidistant nodes", at_most(f"degree {m[-1]}: largest error found", self.equal[-1], self.ellipse[-1]))
        self.taylor = [abs(float(np.sum((-25.0) ** np.arange(k // 2 + 1))) - 1 / 26) for k in m]
        yield printed(at_most(f"Taylor at 1: degrees {m[-1]} and {m[0]}", self.taylor[-1], self.taylor[0]), "A1")
        error = float(np.max(np.abs(bernstein(jump, n)(jump.turns) - jump(jump.turns))))
        yield printed(at_most(f'"any function", here a step, n = {n}: sup error', error, 1.5 * n**-0.5), "A1")

    def plots(self) -> list[Panel]:
        left = Panel("Bernstein's polynomials converge", "degree n", "sup |Bₙ f - f|", log="xy")
        for (name, errors), (law, bound) in zip(self.errors.items(), self.bounds.items(), strict=True):
            left.series(self.degrees, errors, name).bound(self.degrees, bound, law)
        right = Panel("1/(1 + 25x²): nodes matter", "degree n", "largest error on [-1, 1]", log="y")
        right.series(self.nodes, self.chebyshev, "Chebyshev nodes").bound(self.nodes, self.ellipse, "4 M r^-n/(r - 1)")
        right.control(self.nodes, self.equal, "equal distances").control(self.nodes, self.taylor, "Taylor, at x = 1")
        return [left, right]
