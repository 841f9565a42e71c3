from functools import partial
from itertools import combinations, product

from headway.data.number_batches import NumberBatches
from headway.lab.kit import Checks, Experiment, Generator, Panel, because, close, headline, mean_is, np, param

covariance = partial(np.cov, rowvar=False, bias=True)


def problem(n: int, d: int, rng: Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Inputs, labels of a noisy line, and weights that are not the best ones."""
    x, w = rng.normal(size=(n, d)), rng.normal(size=d)
    return x, x @ rng.normal(size=d) + rng.normal(size=n), w


def gradients(x: np.ndarray, y: np.ndarray, w: np.ndarray) -> np.ndarray:
    """Of ½(<w, x_i> - y_i)² for each example, in rows."""
    return (x @ w - y)[:, None] * x


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

    n = param(8, "N, examples of the problem whose batches are enumerated", least=5, most=10, small=6)
    b = param(3, "B, examples of a batch there", least=2, most=4)
    half = param(500, "B of a larger problem of 2B examples, whose batches are drawn", least=50, most=5000, small=150)
    epochs = param(400, "epochs, one batch of each", least=100, most=5000, small=200)

    def measure(self, rng: Generator) -> Checks:
        n, g = self.n, gradients(*problem(self.n, 3, rng))
        every = [g[list(product(range(n), repeat=b))].mean(axis=1) for b in range(1, self.b + 1)]
        apart = [g[list(combinations(range(n), b))].mean(axis=1) for b in range(1, n)]
        means = np.array([rows.mean(axis=0) for rows in every + apart])
        yield close("mean of all batches, both ways, every B", means, np.broadcast_to(g.mean(axis=0), means.shape), 1e-12)
        B, sigma = np.arange(1, n)[:, None, None], covariance(g)
        found = [np.array([covariance(rows) for rows in sets]) for sets in (every, apart)]
        yield headline(close(f"covariance with replacement, Σ/B, B <= {self.b}", found[0], sigma / B[: self.b], 1e-12))
        yield close("covariance without, Σ/B (N - B)/(N - 1), B < N", found[1], sigma / B * (n - B) / (n - 1), 1e-12)
        self.shares = [np.trace(rows, axis1=1, axis2=2) / np.trace(sigma) for rows in found]

    def sample(self, rng: Generator) -> Checks:
        b, n = self.half, 2 * self.half
        x, y, w = problem(n, 4, rng)
        g = gradients(x, y, w)
        batches = NumberBatches([x], y[:, None], rows=b, seed=int(rng.integers(2**31)))
        rows = [batches[epoch * len(batches)] for epoch in range(self.epochs)]
        found = [gradients(d.inputs[0].double().numpy(), d.labels[:, 0].double().numpy(), w).mean(axis=0) for d in rows]
        gaps = np.array(found) - g.mean(axis=0)
        self.spread, self.squares = np.trace(covariance(g)) / b, np.sum(gaps**2, axis=1)
        yield mean_is("this project's batches: mean of g_B - g, a component", gaps[:, 0], 0.0)
        yield mean_is("this project's batches: E |g_B - g|², tr Σ/B (N - B)/(N - 1)", self.squares, self.spread * (n - b) / (n - 1))
        gaps = g[rng.integers(n, size=(self.epochs, b))].mean(axis=1) - g.mean(axis=0)
        yield mean_is("with replacement: E |g_B - g|², tr Σ/B", np.sum(gaps**2, axis=1), self.spread)

    def control(self, rng: Generator) -> Checks:
        x, y, w = problem(self.n, 3, rng)
        g = gradients(x, y, w)[np.argsort(y)]
        runs = np.array([g[i : i + self.b].mean(axis=0) for i in range(self.n - self.b + 1)])
        yield because("batches are neighbours after sorting by label", close("mean of all batches", runs.mean(axis=0), g.mean(axis=0)))
        copies = g[:, None].repeat(self.b, axis=1).mean(axis=1)
        yield because("a batch is B copies of one example", close("covariance, Σ/B", covariance(copies), covariance(g) / self.b))

    def resolution(self, rng: Generator) -> Checks:
        yield mean_is("this project's batches: E |g_B - g|², tr Σ/B as with replacement", self.squares, self.spread)

    def plots(self) -> list[Panel]:
        b, n, (every, apart) = np.arange(1, self.n), self.n, self.shares
        panel = Panel(f"All batches of {n} examples: distinct ones repel", "batch size B", "tr Cov $g_B$ / tr Σ")
        panel.series(b, apart, "without replacement").bound(b, (n - b) / (n - 1) / b)
        return [panel.series(b[: self.b], every, "with replacement").bound(b, 1 / b, "theory")]
