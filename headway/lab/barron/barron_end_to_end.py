from headway.lab.kit import Checks, Experiment, Generator, Panel, at_most, because, headline, math, mean_is, np, param, slope, vacuous
from headway.lab.tools.gaussians import Gaussian, affordable, ball, greedy, net_errors, steps

STEEP = 400.0  # κ of the sigmoids σ(κ(y - t)) that replace the steps
GREEDY = 256  # units of the greedy net


class BarronEndToEnd(Experiment):
    """One hidden layer of n sigmoidal units has a squared error of at most (2rC)²/n, whatever the dimension.

    On the ball of radius r, for every probability μ, with h_w(y) = (C/‖w‖) (cos(b_w + ‖w‖y) - cos b_w):

        f_n(x) = f(0) + (1/n) Σ_i 2r h'_{w_i}(t_i) s_i(x),     w_i ~ ‖w‖ |f̂| / C,   t_i ~ Unif[-r, r],
        s_i = 1{y >= t_i} if t_i > 0, else -1{y < t_i},        y = <w_i,x> / ‖w_i‖,       E ∫ (f - f_n)² dμ <= (2rC)²/n.

    A unit is unbiased, because h_w(y) = ∫_0^y h_w'(t) dt, and at most 2rC. For the Lebesgue measure the bound is multiplied by the volume.

    Notes: A, C. Source: Barron 1993, theorem 1, https://doi.org/10.1109/18.256500; Jones 1992 (greedy), https://doi.org/10.1214/aos/1176348546
    Assumes: C = ∫ ‖w‖ |f̂(w)| dw is finite; μ is a probability measure on the ball of radius r; sigmoids may be steep.
    Deviates: a mean over draws stands for E; greedy has 2000 units. Also: Barron's theorem; dimension-free approximation rate.
    """

    cost = "M"
    dimensions = param((2, 30), "the dimensions d, besides 10", least=1, most=200)
    sizes = param((16, 64, 256, 1024), "numbers n of units", least=4, most=4096, count=4, small=(8, 32, 128, 512))
    draws = param(100, "independent nets for each d", least=50, most=500)
    points = param(500, "of the ball, each with the same mass in μ", least=100, most=4000, small=100)
    radius = param(2.0, "of the larger ball that is tried in d = 10", least=1.5, most=5.0)
    shift = param(0.5, "‖c‖ of the target exp(-‖x - c‖²/2)", least=0.4, most=2.0)

    def conditions(self) -> list[tuple[bool, str]]:
        high = max(self.dimensions) >= 20, "the largest dimension must be at least 20, so that C² is far from 1"
        return [high, *affordable(self.dimensions, self.sizes, self.draws, self.points)]

    def nets(self, x: np.ndarray, rng: Generator, r: float = 1, kappa: float = math.inf, phase: int = 1) -> np.ndarray:
        """∫ (f - f_n)² dμ for each draw and size; μ gives equal mass to the points x."""
        f, n = Gaussian(x.shape[1], shift=self.shift), tuple(self.n.tolist())
        return net_errors(lambda x, n, rng: steps(f, n, rng, r, phase)(x, kappa), f, x, n, self.draws, rng).mean(axis=1)

    def measure(self, rng: Generator) -> Checks:
        self.n, r = np.array(self.sizes), self.radius
        self.errors = {d: self.nets(ball(self.points, d, rng), rng) for d in sorted({10, *self.dimensions})}
        self.bound = {d: (2 * Gaussian(d).C) ** 2 / self.n for d in self.errors}
        self.mean = {f"d = {d}": e.mean(axis=0) for d, e in self.errors.items()}
        yield headline(at_most("mean error, (2C)²/n", self.mean, self.bound))
        for name, mean in self.mean.items():
            yield slope(f"error against n, {name}", self.n, mean, -1.0, 0.15)
        every = [Gaussian(d, shift=self.shift) for d in self.errors]
        largest = [np.max(np.abs(steps(f, 2000, rng)(ball(50, f.d, rng)))) / (2 * f.C) for f in every]
        yield at_most("one unit, as a share of 2C, every d", largest, 1.0, kind="EXACT")
        f, half, other = Gaussian(10, shift=self.shift), ball(self.points, 10, rng), ball(self.points, 10, rng)
        self.smooth = self.nets(half, rng, kappa=STEEP).mean(axis=0)
        yield at_most(f"sigmoids of steepness {STEEP:g}: mean error, d = 10", self.smooth, self.bound[10])
        pool, n = steps(f, 2000, rng), np.arange(1, GREEDY + 1)
        chosen = greedy(pool(half), f.rise(half), GREEDY)
        gaps = [np.cumsum(pool(x)[:, chosen], axis=1) / n - f.rise(x)[:, None] for x in (half, other)]
        self.path, fresh = np.mean(np.square(gaps), axis=1)
        found = {"on its points": self.path, "on other points": fresh}
        yield at_most(f"greedy: error, (2C)²/n, n <= {GREEDY}, d = 10", found, (2 * f.C) ** 2 / n)
        self.wide = self.nets(r * half, rng, r=r).mean(axis=0)
        yield at_most(f"radius r = {r:g}: mean error, (2rC)²/n, d = 10", self.wide, r**2 * self.bound[10])

    def sample(self, rng: Generator) -> Checks:
        for d, r in sorted({(min(self.dimensions), 1.0), (max(self.dimensions), 1.0), (2, self.radius)}):
            f, x = Gaussian(d, shift=self.shift), np.full(d, -0.9 * r / math.sqrt(d))  # away from the centre
            yield mean_is(f"one unit is unbiased, {d = }, {r = }", steps(f, 20_000, rng, r)(x[None]), float(f.rise(x)))

    def control(self, rng: Generator) -> Checks:
        (d, r), n, bound = (self.dimensions[-1], self.radius), self.n[-1], self.bound[10][-1]
        volume = at_most("∫ (f - f_n)² dx over the ball, d = 10", np.pi**5 / 120 * r**10 * self.wide[-1], r**2 * bound)
        yield vacuous(because("the volume of the ball, π⁵ r¹⁰ / 5!, is not 1", volume), "A5")
        alone = at_most(f"mean error, 1/n, d = {d}, n = {n}", self.errors[d][:, -1].mean(), 1 / n)
        yield vacuous(because("C is left out, which grows with d", alone), "C23")
        without = self.nets(ball(self.points, 2, rng), rng, phase=0).mean(axis=0)
        yield because("b_w is not the phase of f̂", slope("error against n, d = 2", self.n, without, -1.0, 0.15))

    def plots(self) -> list[Panel]:
        left = Panel("The rate does not depend on d", "hidden units n", "∫ (f - fₙ)² dμ", log="xy")
        left.series(self.n, self.mean)
        for d, bound in self.bound.items():
            left.bound(self.n, bound, f"(2C)²/n, d = {d}")
        left.control(self.n, self.errors[d][:, 0].mean() * (self.n / self.n[0]) ** (-2 / d), f"grids: n^(-2/{d})")
        right = Panel("Steps, sigmoids and a greedy choice", "hidden units n", "∫ (f - fₙ)² dμ, d = 10", log="xy")
        right.series(self.n, {"steps, mean": self.mean["d = 10"], "steps, best draw": self.errors[10].min(axis=0)})
        right.series(self.n, self.smooth, "sigmoids, mean").curve(np.arange(4, GREEDY + 1), self.path[3:], "greedy")
        return [left, right.bound(self.n, self.bound[10], "(2C)²/n")]
