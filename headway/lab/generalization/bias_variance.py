from headway.lab.checks import Check
from headway.lab.kit import Checks, Experiment, Generator, Panel, at_least, at_most, because, headline, math, mean_is, np, param
from headway.lab.tools.many_nets import fitted
from headway.lab.tools.smoothers import kernels, neighbours, random_features
from headway.models.shallow import Config, Shallow

NEIGHBOURS, WIDTHS, FEATURES = (32, 16, 8, 4, 1), (0.3, 0.15, 0.07, 0.03, 0.01), (1, 2, 4, 8, 15)  # from smooth to rough


class BiasVariance(Experiment):
    """The expected squared error of a fit is noise, squared bias and variance: a rougher fit has less of the second, more of the third.

    For y = f(x) + noise of variance σ² that is independent of the training set, and f̂ fitted to it,

        E(y - f̂(x))² = σ² + (E f̂(x) - f(x))² + Var f̂(x).

    A fit that is linear in the labels, f̂ = S y, has the bias S f - f and the variance σ² Σ_i S_{xi}²: both follow without a sample. Where
    labels are noisy the best size is between the ends: 1 hidden unit cannot bend enough, 15 follow the noise.

    Notes: E. Source: Geman, Bienenstock and Doursat 1992, Neural networks and the bias/variance dilemma, https://doi.org/10.1162/neco.1992.4.1.1
    Assumes: the labels of the tests are independent of the training set; labels are noisy (for a best size inside).
    Deviates: the source has handwritten digits; here are numbers x at the same n places in all training sets and tests.
    Also: bias-variance tradeoff; bias/variance dilemma.
    """

    cost = "M"
    n = param(50, "examples of a training set", least=40, most=100)
    sigma = param(0.5, "of the noise", least=0.4, most=1.0)
    sets = param(100, "training sets", least=50, most=300, small=50)
    units = param((2, 4, 8), "hidden units of the networks, beside 1 and 15", least=2, most=14, small=(4,))
    steps = param(600, "of Adam", least=400, most=1000, small=400)

    def labels(self, sets: int, rng: Generator) -> np.ndarray:
        return self.f + self.sigma * rng.normal(size=(sets, self.n))

    def measure(self, rng: Generator) -> Checks:
        self.x, self.m = (np.arange(self.n) + 0.5) / self.n, np.array([1, *self.units, 15])
        self.f = np.sin(2 * math.pi * self.x) + 0.5 * np.sin(5 * math.pi * self.x)
        wavy = random_features(self.x, FEATURES, rng)
        self.S = {"k-NN": neighbours(self.x, NEIGHBOURS), "kernel": kernels(self.x, WIDTHS), "random features": wavy}
        self.bias = {name: np.mean((S @ self.f - self.f) ** 2, axis=1) for name, S in self.S.items()}  # squared
        self.variance = {name: self.sigma**2 * np.mean(np.sum(S**2, axis=2), axis=1) for name, S in self.S.items()}
        yield at_most("bias² of a rougher fit / of the one before", {name: b[1:] / b[:-1] for name, b in self.bias.items()}, 1)
        yield at_least("variance of a rougher fit / of the one before", {name: v[1:] / v[:-1] for name, v in self.variance.items()}, 1)
        yield self.inside(self.bias["k-NN"] + self.variance["k-NN"])
        y, x = self.labels(self.sets, rng), 6 * self.x[:, None] - 3
        nets = [lambda k=int(k): Shallow(Config(k, "tanh", 0.0), 1, 1) for k in self.m]
        self.fits = np.array([fitted(make, x, y, rng, self.steps, 0.05) for make in nets])  # "size set n"
        self.nets = np.mean([(self.fits.mean(axis=1) - self.f) ** 2, self.fits.var(axis=1)], axis=2)
        noise = (self.labels(self.sets, rng) - self.fits[-1]) ** 2 - (self.f - self.fits[-1]) ** 2
        yield mean_is("15 units: test error - bias² - variance, σ²", noise.mean(axis=1), self.sigma**2)
        yield at_most("bias², 15 units / 1 unit", self.nets[0, -1] / self.nets[0, 0], 0.1)
        yield at_least("variance, 15 units / 1 unit", self.nets[1, -1] / self.nets[1, 0], 2)

    def inside(self, error: np.ndarray) -> Check:
        return at_least("32 or 1 neighbours: bias² + variance / that of the best k", min(error[0], error[-1]) / error.min(), 1.2)

    def distance(self, y: np.ndarray, tests: np.ndarray) -> Check:
        """From the mean test error of all levels to its expectation, in standard errors over the training sets."""
        errors = {k: np.mean((tests - np.einsum("lij,sj->lsi", S, y, optimize=True)) ** 2, axis=(0, 2)) for k, S in self.S.items()}
        away = {k: e.mean() - self.sigma**2 - np.mean(self.bias[k] + self.variance[k]) for k, e in errors.items()}
        found = {k: abs(away[k]) / e.std(ddof=1) * len(y) ** 0.5 for k, e in errors.items()}
        return at_most("test error from σ² + bias² + variance, in standard errors", found, 4, kind="STAT")

    def sample(self, rng: Generator) -> Checks:
        yield headline(self.distance(self.labels(2 * self.sets, rng), self.labels(2 * self.sets, rng)))

    def control(self, rng: Generator) -> Checks:
        y = self.labels(self.sets, rng)
        yield because("the labels of the tests are those of the training", self.distance(y, y))
        yield because("the labels have almost no noise", self.inside(self.bias["k-NN"] + 1e-6 * self.variance["k-NN"]))

    def plots(self) -> list[Panel]:
        both = Panel("Networks: bias falls, variance rises", "hidden units", "mean over x", log="xy")
        both.series(self.m, {"bias²": self.nets[0], "variance": self.nets[1], "their sum": self.nets.sum(axis=0)})
        one, many = (Panel(name, "x", "fit").target(self.x, self.f, "f") for name in ("1 unit, 20 sets", "15 units, 20 sets"))
        return [both, one.thin(self.x, self.fits[0, :20]), many.thin(self.x, self.fits[-1, :20])]
