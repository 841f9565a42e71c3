from itertools import combinations

import torch
from torch.nn.functional import mse_loss

from headway.lab.kit import Checks, Experiment, Generator, Panel, at_most, because, close, headline, mean_is, monotone, np, param
from headway.lab.tools.layers import drawn
from headway.lab.tools.training import Settings, fit, predict, seeded
from headway.models.ensemble import Ensemble
from headway.models.shallow import Config, Shallow

PLACE = 0.7  # where the variance of predictions is looked at


def curve(x: np.ndarray, rng: Generator) -> np.ndarray:
    """sin 3x and noise of standard deviation 0.3."""
    return np.sin(3 * x) + 0.3 * rng.normal(size=x.shape)


class EnsembleAverage(Experiment):
    """The error of an average of networks is their mean error less their diversity, so it is never above the mean error.

    For predictions f_1 … f_M with average f̄, at every input,

        (f̄ - y)² = (1/M) Σ_i (f_i - y)² - (1/M) Σ_i (f_i - f̄)²,        Var f̄ = ρσ² + (1 - ρ)σ²/M,

    with the variance σ² of a member and the correlation ρ of two. What the members share, their data, does not average out: ρ > 0. For
    every convex loss the first line is Jensen's inequality, such as for -log of an average of probabilities.

    Notes: D. Source: Krogh and Vedelsby 1995, Neural network ensembles, cross validation, and active learning,
    https://proceedings.neurips.cc/paper/1994/hash/b8c37e33defde51cf91e1e03e51657da-Abstract.html
    Assumes: a convex loss of the averaged prediction; for the variance: members that are exchangeable.
    Also: ambiguity decomposition; train several times and average.
    """

    cost = "M"
    members = param(8, "M, networks with their own first weights and resampled rows", least=4, most=10, small=5)
    rows = param(30, "for training", least=20, most=500)
    units = param(30, "of each network", least=10, most=100)
    steps = param(400, "of training", least=200, most=4000, small=200)
    sets = param(1000, "data sets for the variance", least=500, most=5000)

    def measure(self, rng: Generator) -> Checks:
        self.x, z, M = rng.uniform(-2, 2, self.rows), np.linspace(-2, 2, 400), self.members
        self.y, y = curve(self.x, rng), curve(z, rng)
        config, nets = Config(width=self.units, activation="tanh", dropout=0.0), []
        for _ in range(M):
            with seeded(rng):
                nets.append(Shallow(config, 1, 1).double())
            settings = Settings(self.steps, self.rows, 0.02, optimizer="adamw", decay=0.0, clip=1e9)
            some = rng.integers(self.rows, size=self.rows)  # rows drawn again, with repetition (bagging)
            fit(nets[-1], self.x[some, None], self.y[some, None], settings, rng, mse_loss)
        self.z, self.f = z, np.array([predict(net, z[:, None])[:, 0] for net in nets])
        self.mean = predict(Ensemble(nets, "numbers"), z[:, None])[:, 0]
        errors, spread = np.mean((self.f - y) ** 2, axis=0), np.mean((self.f - self.mean) ** 2, axis=0)
        yield headline(at_most("test error of the average, mean error of its members", np.mean((self.mean - y) ** 2), errors.mean()))
        yield close("(f̄ - y)² at each input, mean error less diversity", (self.mean - y) ** 2, errors - spread)
        self.sizes = np.arange(1, M + 1)
        subsets = [[self.f[list(some)].mean(0) for some in combinations(range(M), m)] for m in range(1, M + 1)]
        self.errors = np.array([np.mean((np.array(each) - y) ** 2) for each in subsets])
        self.formula = errors.mean() - M / (M - 1) * (1 - 1 / self.sizes) * spread.mean()
        yield close("mean error of all subsets of m members, e - (1 - 1/m) M/(M-1) diversity", self.errors, self.formula)
        yield monotone("mean error of all subsets, in m", self.errors, "falls")
        self.several = [drawn(Shallow(config, 1, 3), rng) for _ in range(M)]
        logs = [torch.from_numpy(predict(net, z[:, None])).log_softmax(1).numpy() for net in self.several]
        joint = predict(Ensemble(self.several, "probabilities"), z[:, None])
        yield at_most("-log p̄(c) at each input and class, mean of -log p_i(c)", -joint, -np.mean(logs, axis=0), rounding=1e-12)
        self.votes, self.vote = np.argmax(logs, axis=2), joint.argmax(1)

    def predictions(self, rng: Generator) -> np.ndarray:
        """f_i(0.7) "set, member" less their mean: ridge on 20 random tanh features, two members more than the ensemble has."""
        shape = (self.sets, self.members + 2, 1, 20)
        w, b, x = 3 * rng.normal(size=shape), rng.uniform(-3, 3, shape), rng.uniform(-2, 2, (self.sets, 1, self.rows, 1))
        y = curve(x, rng)
        H = np.tanh(x * w + b)
        c = np.linalg.solve(H.mT @ H + 0.1 * np.eye(20), H.mT @ y)
        found = (np.tanh(PLACE * w + b) @ c)[..., 0, 0]
        return found - found.mean()

    def sample(self, rng: Generator) -> Checks:
        f, M = self.predictions(rng), self.members
        self.f1, self.f2, average = f[:, 0], f[:, 1], f[:, 2:].mean(1)
        own, shared = (self.f1**2 + self.f2**2) / 2, self.f1 * self.f2  # σ² and ρσ², from two other members
        yield mean_is("Var f̄ - (ρσ² + (1 - ρ)σ²/M)", average**2 - shared - (own - shared) / M, 0.0)
        self.variances = float(own.mean()), float(shared.mean()), float((average**2).mean())

    def control(self, rng: Generator) -> Checks:
        each, joint = (votes[..., None] != np.arange(3) for votes in (self.votes, self.vote))  # true where that class is missed
        claim = at_most("0-1 loss of the average at each input and class, mean of the members", joint * 1.0, each.mean(0))
        yield because("the 0-1 loss is not convex", claim)
        f = self.predictions(rng)
        claim = mean_is("Var f̄ - σ²/M", f[:, 2:].mean(1) ** 2 - f[:, 0] ** 2 / self.members, 0.0)
        yield because("the members share their data, so they are correlated", claim)

    def plots(self) -> list[Panel]:
        left = Panel("The average of resampled fits", "x", "prediction").points(self.x, self.y, "data")
        for i, each in enumerate(self.f):
            left.control(self.z, each, "members" * (i == 0))
        left.target(self.z, np.sin(3 * self.z), "sin 3x").curve(self.z, self.mean, "average")
        right = Panel("More members, less error", "members m", "mean test error of all subsets")
        right.series(self.sizes, self.errors, "measured").bound(self.sizes, self.formula, "formula")
        return [left, right]
