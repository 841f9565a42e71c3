from itertools import combinations

from scipy.special import log_softmax
from torch.nn.functional import mse_loss

from headway.lab.kit import Checks, Experiment, Generator, Panel, at_most, because, close, headline, mean_is, monotone, np, param
from headway.lab.tools.layers import drawn
from headway.lab.tools.smoothers import ridge_on_features
from headway.lab.tools.training import Settings, predict, trained
from headway.models.ensemble import Ensemble
from headway.models.shallow import Config, Shallow


def curve(x: np.ndarray, rng: Generator) -> np.ndarray:
    """sin 3x and noise of standard deviation 0.3."""
    return np.sin(3 * x) + 0.3 * rng.normal(size=x.shape)


class EnsembleAverage(Experiment):
    """The error of an average of networks is their mean error less their diversity, so it is never above the mean error.

    For predictions f_1 … f_M with average f̄, at every input,

        (f̄ - y)² = (1/M) Σ_i (f_i - y)² - (1/M) Σ_i (f_i - f̄)²,        Var f̄ = ρσ² + (1 - ρ)σ²/M,

    with the variance σ² of a member and the correlation ρ of two. What the members share, their data, does not average out: ρ > 0. For
    every convex loss the first line is Jensen's inequality, such as for -log of an average of probabilities.

    Notes: D. Source: Krogh and Vedelsby 1995, https://proceedings.neurips.cc/paper/1994/hash/b8c37e33defde51cf91e1e03e51657da-Abstract.html
    Assumes: a convex loss of the averaged prediction; for the variance: members that are exchangeable.
    Also: ambiguity decomposition; train several times and average.
    """

    cost = "M"
    members = param(8, "M, networks with their own first weights and resampled rows", least=4, most=10, small=5)
    rows = param(30, "for training", least=20, most=500)
    steps = param(400, "of training", least=200, most=4000, small=200)
    sets = param(1000, "data sets for the variance", least=500, most=5000)

    def measure(self, rng: Generator) -> Checks:
        self.x, self.z, M = rng.uniform(-2, 2, self.rows), np.linspace(-2, 2, 400), self.members
        z, self.y, y = self.z, curve(self.x, rng), curve(self.z, rng)
        config, again = Config(width=30, activation="tanh", dropout=0.0), rng.integers(self.rows, size=(M, self.rows))  # bagging
        settings = Settings(self.steps, self.rows, 0.02, optimizer="adamw", decay=0.0, clip=1e9)
        rows = [(self.x[some, None], self.y[some, None]) for some in again]
        nets = [trained(lambda: Shallow(config, 1, 1).double(), *pair, settings, rng, mse_loss) for pair in rows]
        self.f = np.array([predict(net, z[:, None])[:, 0] for net in nets])
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
        several = [drawn(Shallow(config, 1, 3), rng) for _ in range(M)]
        logs = [log_softmax(predict(net, z[:, None]), axis=1) for net in several]
        joint = predict(Ensemble(several, "probabilities"), z[:, None])
        yield close("probabilities: p̄ at each input and class, the mean of p_i", np.exp(joint), np.mean(np.exp(logs), axis=0))
        yield at_most("-log p̄(c) at each input and class, mean of -log p_i(c)", -joint, -np.mean(logs, axis=0), rounding=1e-12)
        self.votes, self.vote = np.argmax(logs, axis=2), joint.argmax(1)

    def predictions(self, rng: Generator) -> np.ndarray:
        """f_i(0.7) "member set", less their mean: ridge on random features, two members more than the ensemble has."""
        x = rng.uniform(-2, 2, (self.sets, 1, self.rows, 1))
        found = ridge_on_features(x, curve(x, rng), 0.7, self.members + 2, rng).T
        return found - found.mean()

    def sample(self, rng: Generator) -> Checks:
        one, two, *members = self.predictions(rng)
        own, shared = (one**2 + two**2) / 2, one * two  # σ² and ρσ², from two other members
        yield mean_is("Var f̄ - (ρσ² + (1 - ρ)σ²/M)", np.mean(members, 0) ** 2 - shared - (own - shared) / self.members, 0.0)

    def control(self, rng: Generator) -> Checks:
        each, joint = (votes[..., None] != np.arange(3) for votes in (self.votes, self.vote))  # true where that class is missed
        yield because("the 0-1 loss is not convex", at_most("0-1 loss of the average, mean of the members", joint * 1.0, each.mean(0)))
        one, _, *members = self.predictions(rng)
        alone = np.mean(members, 0) ** 2 - one**2 / self.members
        yield because("the members share their data, so they are correlated", mean_is("Var f̄ - σ²/M", alone, 0.0))

    def plots(self) -> list[Panel]:
        left = Panel("The average of resampled fits (thin lines)", "x", "prediction").points(self.x, self.y, "data")
        left.thin(self.z, self.f).target(self.z, np.sin(3 * self.z), "sin 3x").curve(self.z, self.mean, "average")
        right = Panel("More members, less error", "members m", "mean test error of all subsets")
        return [left, right.series(self.sizes, self.errors, "measured").bound(self.sizes, self.formula, "formula")]
