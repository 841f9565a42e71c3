from itertools import combinations, product

from headway.data.number_batches import NumberBatches
from headway.lab.kit import Checks, Experiment, Generator, Panel, because, close, headline, mean_is, np, param


def problem(n: int, d: int, rng: Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Inputs, labels of a noisy line, and weights that are not the best ones."""
    x, w = rng.normal(size=(n, d)), rng.normal(size=d)
    return x, x @ rng.normal(size=d) + rng.normal(size=n), w


def gradients(x: np.ndarray, y: np.ndarray, w: np.ndarray) -> np.ndarray:
    """Of ½(<w, x_i> - y_i)² for each example, in rows."""
    return (x @ w - y)[:, None] * x


def covariance(rows: np.ndarray) -> np.ndarray:
    return np.cov(rows.T, bias=True)


def trace_with(g: np.ndarray, b: int, rng: Generator) -> float:
    """An estimate of tr Cov g_B / tr Σ with replacement, from 2000 batches."""
    means = g[rng.integers(len(g), size=(2000, b))].mean(axis=1)
    return float(np.trace(covariance(means)) / np.trace(covariance(g)))


class SGDVariance(Experiment):
    """The gradient of a random batch is that of all examples in the mean, and its covariance falls like 1/B.

    For N examples with gradients g_i, mean g and covariance Σ = (1/N) Σ_i (g_i - g)(g_i - g)ᵀ, and batches of B,

        E g_B = g,     Cov g_B = Σ/B with replacement,     Cov g_B = Σ/B · (N - B)/(N - 1) without.

    Without replacement the examples of a batch repel each other: with B = N nothing is left to chance. All batches of a small problem are
    enumerated; for a large one the batches are those that train networks here, the first of many epochs.

    Notes: D. Source: Robbins and Monro 1951, https://doi.org/10.1214/aoms/1177729586; Cochran 1977, Sampling Techniques, theorem 2.2
    Assumes: every batch is equally likely; the loss is a mean over examples.
    Also: variance of the mini-batch gradient; unbiased stochastic gradient.
    """

    n = param(8, "N, examples of the problem whose batches are enumerated", least=4, most=10, small=6)
    b = param(3, "B, examples of a batch there", least=2, most=4)
    large = param(1000, "N of the problem whose batches are drawn", least=100, most=10_000, small=300)
    batch = param(100, "B there, a divisor of N", least=10, most=1000, small=50)
    epochs = param(400, "epochs, one batch of each", least=100, most=5000, small=200)

    def conditions(self) -> list[tuple[bool, str]]:
        whole = self.large % self.batch == 0 and self.batch < self.large
        return [(whole, "`batch` must divide `large`, and be less"), (self.b < self.n, "`b` must be less than `n`")]

    def measure(self, rng: Generator) -> Checks:
        g = gradients(*problem(self.n, 3, rng))
        share, mean = [], np.broadcast_to(g.mean(axis=0), (2, 3))
        self.drawn = [trace_with(g, b, rng) for b in range(1, self.n)]
        for b in range(1, self.n):
            sets = [g[list(c)].mean(axis=0) for c in combinations(range(self.n), b)]
            share.append(np.trace(covariance(np.array(sets))) / np.trace(covariance(g)))
        every = np.array([g[list(c)].mean(axis=0) for c in product(range(self.n), repeat=self.b)])
        apart = np.array([g[list(c)].mean(axis=0) for c in combinations(range(self.n), self.b)])
        yield close("mean of all batches, both ways", np.stack([every.mean(axis=0), apart.mean(axis=0)]), mean, 1e-12)
        yield headline(close("covariance with replacement, Σ/B", covariance(every), covariance(g) / self.b, 1e-12))
        part = (self.n - self.b) / (self.n - 1)
        yield close("covariance without, Σ/B (N - B)/(N - 1)", covariance(apart), covariance(g) / self.b * part, 1e-12)
        self.sizes, self.share = np.arange(1, self.n), np.array(share)
        yield close("without, every B: trace", self.share, (self.n - self.sizes) / (self.n - 1) / self.sizes, 1e-12)

    def sample(self, rng: Generator) -> Checks:
        x, y, w = problem(self.large, 4, rng)
        g = gradients(x, y, w)
        batches = NumberBatches([x], y[:, None], rows=self.batch, seed=int(rng.integers(2**31)))
        drawn = [batches[epoch * len(batches)] for epoch in range(self.epochs)]
        found = [
            gradients(d.inputs[0].double().numpy(), d.labels[:, 0].double().numpy(), w).mean(axis=0) for d in drawn
        ]
        gaps, spread, part = (
            np.array(found) - g.mean(axis=0),
            np.trace(covariance(g)),
            (self.large - self.batch) / (self.large - 1),
        )
        yield mean_is("this project's batches: mean of g_B - g, a component", gaps[:, 0], 0.0)
        yield mean_is(
            "this project's batches: E |g_B - g|², tr Σ/B (N - B)/(N - 1)",
            np.sum(gaps**2, axis=1),
            spread / self.batch * part,
        )
        chosen = rng.integers(self.large, size=(self.epochs, self.batch))
        squares = np.sum((g[chosen].mean(axis=1) - g.mean(axis=0)) ** 2, axis=1)
        yield mean_is("with replacement: E |g_B - g|², tr Σ/B", squares, spread / self.batch)

    def control(self, rng: Generator) -> Checks:
        x, y, w = problem(self.n, 3, rng)
        order = np.argsort(y)
        g = gradients(x[order], y[order], w)
        runs = np.array([g[i : i + self.b].mean(axis=0) for i in range(self.n - self.b + 1)])
        yield because(
            "batches are neighbours after sorting by label",
            close("mean of all batches", runs.mean(axis=0), g.mean(axis=0)),
        )
        copies = np.array([g[[i] * self.b].mean(axis=0) for i in range(self.n)])
        yield because(
            "a batch is B copies of one example", close("covariance, Σ/B", covariance(copies), covariance(g) / self.b)
        )

    def plots(self) -> list[Panel]:
        b, n = self.sizes, self.n
        panel = Panel(f"All batches of {n} examples: distinct ones repel", "batch size B", "tr Cov g_B / tr Σ")
        panel.series(b, self.share, "without repl.").bound(b, (n - b) / (n - 1) / b)
        return [panel.series(b, self.drawn, "with repl.").bound(b, 1 / b, "theory")]
