from headway.lab.certified import certified_sup
from headway.lab.kit import Checks, Experiment, Generator, Panel, at_least, at_most, because, close, headline, np, param, printed, slope
from headway.lab.tools.quadratics import Smooth, descend, least_squares, sine_wave


class GdPl(Experiment):
    """Gradient descent converges linearly where the gradient is large against the gap, convex or not.

        ½‖∇h(θ)‖² >= μ (h(θ) - h*)   and   h is L-smooth    =>    h(θ^T) - h* <= (1 - μ/L)^T (h(θ^0) - h*)   at η = 1/L,

    because a step lowers h by ‖∇h(θ^{T-1})‖²/(2L) or more. This holds for least squares with a matrix of any rank (μ =
    σ_min² of the singular values that are not 0), whose minimum need not be unique, and for x² + 3 sin²x, which is not
    convex (μ = 1/32, L = 8). It does not hold for x⁴, whose gap falls only like 1/t².

    Notes: C. Source: Karimi, Nutini and Schmidt 2016, https://arxiv.org/abs/1608.04636; Polyak 1963
    Assumes: h is L-smooth; the inequality of Polyak and Łojasiewicz with μ > 0; the rate is 1/L.
    Also: Polyak-Łojasiewicz inequality; linear convergence without convexity.
    """

    condition = param(100.0, "L/μ of the least squares, and 1/20 of the steps", least=10.0, most=200.0, small=30.0)
    columns = param(12, "unknowns", least=4, most=100)
    rank = param(6, "rank of the matrix", least=2, most=99)

    def conditions(self) -> list[tuple[bool, str]]:
        return [(self.rank < self.columns, "`rank` must be less than `columns`")]

    def measure(self, rng: Generator) -> Checks:
        sigma = np.geomspace(1, self.condition**-0.5, self.rank)
        U, V = (np.linalg.qr(rng.normal(size=(self.columns, self.rank)))[0] for _ in range(2))
        A, b = U * sigma @ V.T, rng.normal(size=self.columns)
        self.squares, self.wave, self.starts = least_squares(A, b), sine_wave(), rng.normal(size=(8, self.columns))
        self.steps = int(20 * self.condition)
        starts = {self.squares: self.starts, self.wave: rng.uniform(-8, 8, (8, 1))}
        self.gaps = {h.name: descend(h, start, self.steps).values - h.least for h, start in starts.items()}
        self.t = np.arange(self.steps + 1)[:, None]
        self.bounds = {h.name: (1 - h.mu / h.L) ** self.t * self.gaps[h.name][0] for h in starts}
        gaps, bounds = ({name: rows[1:] for name, rows in part.items()} for part in (self.gaps, self.bounds))
        yield headline(at_most("gap at every step, (1 - μ/L)^t of the first", gaps, bounds))
        x = np.linalg.lstsq(A, b, rcond=None)[0] + V[:, -1]  # beside the minimum, along the least singular value
        self.beside = descend(self.squares, x, 1)
        ratio = self.beside.slopes / 2 / (self.beside.values - self.squares.least)
        yield close("least squares: ½‖∇h‖²/gap along the least singular value, μ", ratio, self.squares.mu, 1e-8)
        f = lambda x: (2 * x + 3 * np.sin(2 * x)) ** 2 / 2 - (x * x + 3 * np.sin(x) ** 2) / 32  # noqa: E731
        low = 85 - certified_sup(lambda x: 85 - f(x), 13 * 8.1, np.pi / 4, 5.0).high  # f'' >= 2 before it
        yield at_least("x² + 3 sin²x: ½f'² - f/32 on [π/4, 5], certified", low, 0.0)
        quartic = Smooth("x⁴", lambda x: (x**4).sum(-1), 12.0)  # L on [-1, 1]
        self.flat = descend(quartic, np.ones(1), self.steps).values
        late = np.unique(np.geomspace(100, self.steps, 12).astype(int))
        yield slope("x⁴: the gap falls like t^{-2} only", late, self.flat[late], -2, 0.1)

    def control(self, rng: Generator) -> Checks:
        yield because("x⁴ has no μ > 0", at_most("gap, μ = 8 of the start", self.flat, (1 - 8 / 12) ** self.t[:, 0]))
        far = descend(self.squares, self.starts, 200, rate=2 / self.squares.L).values[-1] - self.squares.least
        yield because("the rate is 2/L", at_most("gap at step 200", far, self.bounds["least squares"][200]))
        gap = self.squares.mu * (self.beside.values[0] - self.squares.least)
        yield printed(at_least("½‖∇h(θ^1)‖², μ (h(θ^0) - h*)", self.beside.slopes[1] / 2, gap), "C11")

    def plots(self) -> list[Panel]:
        left = Panel("Both gaps fall below their line", "step t", "gap / first gap", log="y")
        for h in (self.squares, self.wave):
            gap, line = (part[h.name][:, 0] / self.gaps[h.name][0, 0] for part in (self.gaps, self.bounds))
            left.curve(self.t, gap, h.name).bound(self.t, line, f"bound, L/μ = {h.L / h.mu:.0f}")
        x = np.linspace(-8, 8, 400)[:, None]
        right = Panel("x² + 3 sin²x is not convex, yet ½f'²/f > μ", "x", "½f'²/f", log="y")
        right.curve(x, self.wave.gradient(x)[:, 0] ** 2 / 2 / self.wave(x), "½f'²/f").level(self.wave.mu, "μ = 1/32")
        return [left.control(self.t, self.flat, "x⁴").limits(y=(1e-10, 2)), right]
