from headway.lab.checks import loglog_slope
from headway.lab.kit import Checks, Experiment, Generator, Panel, at_most, because, headline, np, param, slope
from headway.lab.tools.cell_regression import approximation_error, regression_error, size, two_powers

SIDES = {1: (8, 16, 32, 64), 2: (6, 8, 12, 16, 24), 3: (5, 6, 8, 10, 12)}  # k, cells along an axis, by d
TRIED = {1: (3, 4, 5, 6, 8, 10, 12, 14, 17, 20, 24, 28, 34, 40), 2: tuple(range(2, 16)), 3: tuple(range(2, 9))}
SAMPLES, WIDE = np.array([250, 500, 1000, 2000, 4000, 8000]), (4, 6, 8, 12, 16, 24, 32)


def smooth(x: np.ndarray) -> np.ndarray:
    """sin(5 √d x̄ + 0.3) + Π_j cos 2x_j"""
    return np.sin(5 * x.mean(-1) * x.shape[-1] ** 0.5 + 0.3) + np.prod(np.cos(2 * x), axis=-1)


class ScalingLaw(Experiment):
    """The loss falls as powers of the number of parameters and of samples, with exponents given by smoothness m and dimension d.

    For least squares by polynomials of degree m - 1 on cells, P coefficients in all, f with m derivatives and N samples with noise σ²,

        E (f - f_P)² ~ P^{-2m/d},        min_P E (f - f_{P,N})² ~ N^{-2m/(2m+d)},        L(P, N) ≈ a P^{-α} + b N^{-β} + σ².

    A cell of side P^{-1/d} leaves P^{-m/d} of f, and P coefficients cost σ²P/N: the best P makes both equal. For larger d more is needed
    for the same gain. With K = e^P functions this is the loss (log K)^{-α}.

    Notes: E, D. Source: Stone 1982, https://doi.org/10.1214/aos/1176345969; Kaplan et al. 2020, https://arxiv.org/abs/2001.08361
    Assumes: f has m derivatives; P is the best that is allowed (the error of P coefficients is σ²P/N, not a function of N alone).
    Also: neural scaling laws; loss against parameters and data.
    """

    cost = "M"
    noise = param(0.3, "σ", least=0.2, most=0.5)
    repeats = param(10, "sets of samples for each P and N", least=8, most=100, small=8)

    def excess(self, d: int, m: int, N: int, sides: tuple[int, ...], rng: Generator) -> np.ndarray:
        """E (f - f_{P,N})² for each k whose P is at most N/3, as a mean over sets of samples; the others are infinite."""
        found = np.full((self.repeats, len(sides)), np.inf)
        for each in found:
            x = rng.random((N, d))
            y = smooth(x) + self.noise * rng.normal(size=N)
            fit = [regression_error(smooth, k, m, x, y) for k in sides if size(k, d, m) <= N / 3]
            each[: len(fit)] = fit
        return found.mean(0)

    def additive(self, sides: tuple[int, ...], tuned: bool, rng: Generator) -> tuple[float, float]:
        """a P^{-α} + b N^{-β} + e fitted to two thirds of a grid (d = m = 1): the largest relative error on the others, and e."""
        loss = self.noise**2 + np.array([self.excess(1, 1, N, sides, rng) for N in SAMPLES]).T
        self.grid = np.minimum.accumulate(loss) if tuned else loss
        held = np.add.outer(range(len(sides)), range(len(SAMPLES))) % 3 == 0
        self.fitted, floor = two_powers(np.array(sides), SAMPLES, self.grid, ~held, self.noise**2)
        return float(np.max(np.abs(self.fitted / self.grid - 1)[held])), floor

    def measure(self, rng: Generator) -> Checks:
        pairs = {f"d = {d}, m = {m}": (d, m) for d in SIDES for m in (1, 2)}
        self.errors = {name: [approximation_error(smooth, k, d, m) for k in SIDES[d]] for name, (d, m) in pairs.items()}
        self.P = {name: [size(k, d, m) for k in SIDES[d]] for name, (d, m) in pairs.items()}
        off = {name: abs(loglog_slope(self.P[name], self.errors[name])[0] + 2 * m / d) for name, (d, m) in pairs.items()}
        yield headline(at_most("|exponent of P + 2m/d|", off, 0.05, kind="RATE"))
        del pairs["d = 3, m = 2"]  # it needs more samples to be on its line
        self.best = {name: [self.excess(d, m, N, TRIED[d], rng).min() for N in SAMPLES] for name, (d, m) in pairs.items()}
        off = {name: abs(loglog_slope(SAMPLES, self.best[name])[0] + 2 * m / (2 * m + d)) for name, (d, m) in pairs.items()}
        yield at_most("|exponent of N + 2m/(2m + d)|, with the best P", off, 0.15, kind="RATE")
        worst, floor = self.additive(WIDE, True, rng)
        self.shown = self.grid, self.fitted
        yield at_most("a P^{-α} + b N^{-β} + e, relative error on held-out (P, N)", worst, 0.1)
        yield at_most("|e - σ²| / σ²", abs(floor / self.noise**2 - 1), 0.1)

    def control(self, rng: Generator) -> Checks:
        steps = [approximation_error(lambda x: (x[..., 0] > 0.3) + smooth(x), k, 1, 1) for k in SIDES[1]]
        yield because("f has a jump", slope("exponent of P, d = m = 1", SIDES[1], steps, -2, 0.05))
        worst = self.additive((4, 8, 16, 32, 48, 64, 80), False, rng)[0]
        yield because("P is not tuned, up to N/3", at_most("relative error on held-out (P, N)", worst, 0.1))

    def plots(self) -> list[Panel]:
        left = Panel("Error of the best fit", "parameters P", "mean square error", log="xy")
        for name, e in self.errors.items():
            left.series(self.P[name], e, name)
        middle = Panel("Error of N samples, at the best P", "samples N", "mean square error", log="xy").series(SAMPLES, self.best)
        right = Panel("Two powers and a floor", "parameters P", "loss L(P, N)", log="xy").ticks(y={0.1: "0.1", 0.15: "0.15", 0.2: "0.2"})
        for j in (0, 2, 5):
            right.series(WIDE, self.shown[0][:, j], f"N = {SAMPLES[j]}").bound(WIDE, self.shown[1][:, j], "fit" * (j == 2))
        return [left, middle.ticks(x={500: "500", 2000: "2000", 8000: "8000"}), right.level(self.noise**2, "σ²")]
