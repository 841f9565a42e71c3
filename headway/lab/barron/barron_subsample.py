from headway.lab.kit import Checks, Experiment, Generator, Panel, at_most, because, headline, mean_is, monotone, np, param, published, slope
from headway.lab.tools.gaussians import Gaussian, affordable, ball, cosine_errors

PUBLISHED = {10: 1.35e-2, 40: 3.3e-3, 160: 8.4e-4, 640: 2.1e-4}  # mean error of 50 draws in d = 10, σ = 1, by r


class BarronSubsample(Experiment):
    """A net of r cosine units with random frequencies errs by at most C²/r on average, in every dimension.

    Draw w_1, ..., w_r from p(w) = ‖w‖ |f̂(w)| / C and set

        f_r(x) = f(0) + (1/r) Σ_i (C / ‖w_i‖) (cos(b_{w_i} + <w_i,x>) - cos b_{w_i}),       E ∫ (f - f_r)² dμ <= C²/r

    for every probability μ on the unit ball, because a unit is unbiased and at most C‖x‖; so some draw is as good. For the Gaussian of
    width σ, σ‖w‖ is chi with d + 1 degrees of freedom. Here μ gives equal mass to random points of the ball.

    Notes: A, C. Source: Barron 1993, https://doi.org/10.1109/18.256500; Telgarsky, Deep Learning Theory, ch. 3, https://mjt.cs.illinois.edu/dlt/
    Assumes: C is finite; μ is a probability measure on the unit ball; w is drawn from p, not from |f̂|.
    Deviates: a mean over draws stands for E. Also: Barron's theorem, step 2; Maurey's argument; empirical method of Maurey.
    """

    cost = "M"
    dimensions = param((2, 10, 50), "the dimensions d", least=1, most=200, small=(2, 10))
    sizes = param((10, 40, 160, 640), "numbers r of units", least=2, most=2000, count=4, small=(5, 20, 80, 320))
    draws = param(200, "independent nets for each d", least=100, most=1000)
    points = param(800, "of the ball, each with the same mass in μ", least=50, most=5000, small=100)

    def conditions(self) -> list[tuple[bool, str]]:
        return affordable(self.dimensions, self.sizes, self.draws, self.points)

    def measure(self, rng: Generator) -> Checks:
        self.r, self.errors, self.bound, points, units = np.array(self.sizes), {}, {}, {}, {}
        for f in map(Gaussian, self.dimensions):
            x = ball(self.points, f.d, rng)
            squares = cosine_errors(f, x, self.sizes, self.draws, rng)
            self.errors[f.d], self.bound[f.d] = squares.mean(axis=1), f.C**2 / self.r
            points[f"d = {f.d}"] = squares.mean(axis=0) / np.sum(x * x, axis=1)[:, None] / self.bound[f.d]
            moved, x = Gaussian(f.d, shift=0.5), ball(500, f.d, rng)
            largest = np.abs(moved.cosines(x, moved.frequencies(1000, rng))).max(axis=1)
            units[f"d = {f.d}"] = largest / (f.C * np.linalg.norm(x, axis=1))
        self.mean = {f"d = {d}": e.mean(axis=0) for d, e in self.errors.items()}
        yield headline(at_most("mean error, C²/r", self.mean, self.bound))
        yield at_most("the same at each point, as a share of C²‖x‖²/r", points, 1.0)
        yield at_most("one unit, as a share of C‖x‖", units, 1.0, rounding=1e-9, kind="EXACT")
        for name, mean in self.mean.items():
            yield slope(f"error against r, {name}", self.r, mean, -1.0, 0.1)
        for r, errors in zip(self.sizes, self.errors[10].T if 10 in self.errors else (), strict=False):
            if r in PUBLISHED:  # a mean of 50 draws, rounded to two digits
                error = errors.std(ddof=1) * (1 / self.draws + 1 / 50) ** 0.5
                yield published(f"d = 10, r = {r}", errors.mean(), PUBLISHED[r], 4 * error + 0.02 * PUBLISHED[r])
        if len(self.dimensions) > 1:
            narrow = [Gaussian(d, sigma=Gaussian(d).C) for d in self.dimensions]  # so that C = 1
            same = [cosine_errors(f, ball(100, f.d, rng), (20,), 400, rng).mean() for f in narrow]
            yield monotone("C = 1 in every dimension: mean error in d, r = 20", same, "falls")

    def sample(self, rng: Generator) -> Checks:
        for d in sorted({self.dimensions[0], self.dimensions[-1]}):
            f, x = Gaussian(d, shift=0.5), np.full(d, -0.8 / d**0.5)  # away from the centre
            yield mean_is(f"a unit is unbiased, {d = }", f.cosines(x[None], f.frequencies(20_000, rng)), float(f.rise(x)))

    def control(self, rng: Generator) -> Checks:
        f, line, x = Gaussian(2), Gaussian(1), np.array([[0.8, 0.0]])
        plain = mean_is("one unit, d = 2", f.cosines(x, f.frequencies(20_000, rng, degrees=0)), float(f.rise(x)[0]))
        yield because("w is drawn from |f̂|, not from p", plain)
        far = cosine_errors(line, 100 * ball(200, 1, rng), (20,), 400, rng).mean()
        yield because("μ is not on the unit ball", at_most("mean error on [-100, 100], d = 1", far, line.C**2 / 20))

    def plots(self) -> list[Panel]:
        left = Panel("The mean error falls like 1/r", "cosine units r", "∫ (f - fᵣ)² dμ", log="xy")
        right = Panel("Every draw, as a share of C²/r", "cosine units r", "error · r / C²", log="xy")
        left.series(self.r, self.mean)
        for i, (d, bound) in enumerate(self.bound.items()):
            few = self.errors[d][:50] / bound
            left.bound(self.r, bound, f"C²/r, d = {d}")
            right.points(self.r * 1.2**i * np.ones_like(few), few, f"d = {d}", size=6)
        return [left, right.level(1.0, "bound")]
