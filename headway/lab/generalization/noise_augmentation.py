import torch

from headway.data.augmentation import Augmentation
from headway.lab.kit import Checks, Experiment, Generator, Panel, at_most, because, close, headline, np, param, slope
from headway.lab.tools.bits import cube
from headway.lab.tools.layers import drawn
from headway.models.shallow import Config, Shallow

SIGMAS = np.array([0.02, 0.03, 0.05, 0.08])  # for the second-order form of a network


class NoiseAugmentation(Experiment):
    """Training on copies of the rows with noise is ridge regression: K copies come as near to it as K^{-1/2}.

    For noise ε_ij of mean 0 and variance σ², independent of each other and of X,

        E |y - (X + ε)w|² = |y - Xw|² + nσ²|w|²,        so that infinitely many copies give ridge with λ = nσ².

    For a network f and one row it is (f - y)² + σ²(|∇f|² + (f - y)Δf) + O(σ⁴): to second order, and where the fit is good, a penalty
    of the slope.

    Notes: D. Source: Bishop 1995, Training with noise is equivalent to Tikhonov regularization, https://doi.org/10.1162/neco.1995.7.1.108
    Assumes: noise of mean 0, with the same variance in each column, uncorrelated; a linear model (else only small σ).
    Also: training with noise; augmentation equals ridge.
    """

    rows = param(40, "n, of X", least=40, most=200)
    columns = param(6, "of X", least=3, most=8)
    sigma = param(0.5, "σ, standard deviation of the noise", least=0.2, most=0.6)
    copies = param((4, 16, 64, 256), "K, noisy copies of all rows", least=4, most=1000, count=4)
    most = param(10_000, "K of the last comparison", least=10_000, most=50_000)
    repeats = param(40, "sets of copies for each K", least=40, most=100)

    def fitted(self, K: int, change: Augmentation, rng: Generator, spread: np.ndarray | None = None) -> np.ndarray:
        """Least squares on K copies of the rows, changed by the augmentation of the package; `spread` mixes the columns of the noise."""
        gram, right = np.zeros((self.columns, self.columns)), np.zeros(self.columns)
        for part in range(0, K, 1000):
            X = np.tile(self.X, (min(1000, K - part), 1))
            pictures = torch.from_numpy(X).view(len(X), 1, 1, -1)
            Z = change.change(pictures, int(rng.integers(2**62))).view(len(X), -1).numpy()
            Z = Z if spread is None else X + (Z - X) @ spread
            gram, right = gram + Z.T @ Z, right + Z.T @ np.tile(self.y, len(Z) // self.rows)
        return np.linalg.solve(gram, right)

    def measure(self, rng: Generator) -> Checks:
        n, d, s = self.rows, self.columns, self.sigma
        self.X = X = rng.normal(size=(n, d))
        self.y = y = X @ rng.choice([-1.0, 1.0], d) + 0.5 * rng.normal(size=n)
        w, signs = rng.normal(size=d), s * (2 * cube(d) - 1)  # noise ±σ, enumerated for each row
        mean = sum(np.mean((y[i] - (X[i] + signs) @ w) ** 2) for i in range(n))
        yield close("E |y - (X + ε)w|² over all ε_ij = ±σ", mean, np.sum((y - X @ w) ** 2) + n * s**2 * w @ w)
        self.ridge = np.linalg.solve(X.T @ X + n * s**2 * np.eye(d), X.T @ y)
        size, change = float(np.linalg.norm(self.ridge)), Augmentation(noise=s)
        off = np.linalg.norm(self.fitted(self.most, change, rng) - self.ridge) / size
        yield headline(at_most(f"|w_K - ridge| / |ridge|, K = {self.most}", off, 0.01))
        draws = [[self.fitted(K, change, rng) - self.ridge for _ in range(self.repeats)] for K in self.copies]
        self.errors = np.sqrt(np.mean(np.sum(np.square(draws), axis=2), axis=1)) / size
        yield slope("root mean square of |w_K - ridge| in K", self.copies, self.errors, -0.5, 0.1)
        yield slope("network: mean loss less its second-order form, in σ", SIGMAS, second_order(rng), 4, 0.1)

    def control(self, rng: Generator) -> Checks:
        change, d = Augmentation(noise=self.sigma), self.columns
        self.mixed = self.fitted(self.most, change, rng, np.full((d, d), d**-0.5))  # one number for all columns of a row
        claim = at_most("|w_K - ridge| / |ridge|", np.linalg.norm(self.mixed - self.ridge) / np.linalg.norm(self.ridge), 0.01)
        yield because("the noise of the columns is the same number, so that only its direction is penalised", claim)
        few = self.fitted(1, change, rng)
        claim = at_most("|w_K - ridge| / |ridge|, K = 1", np.linalg.norm(few - self.ridge) / np.linalg.norm(self.ridge), 0.01)
        yield because("one copy: its noise is not averaged", claim)

    def plots(self) -> list[Panel]:
        K, names = np.array(self.copies), range(1, self.columns + 1)
        left = Panel("More copies come nearer to ridge", "copies K", "distance to ridge, relative", log="xy")
        left.series(K, self.errors, "K copies").bound(K, self.errors[0] * (K / K[0]) ** -0.5, "~ 1/√K")
        right = Panel("Correlated noise is another penalty", "weight", "value").ticks(x={i: f"w{i}" for i in names})
        plain = np.linalg.lstsq(self.X, self.y, rcond=None)[0]
        right.series(names, {"no noise": plain, "ridge": self.ridge}).control(names, self.mixed, "one number for a row")
        return [left, right]


def second_order(rng: Generator) -> np.ndarray:
    """|E (f(x + ε) - y)² - (f - y)² - σ²(|∇f|² + (f - y)Δf)| for a registered network of two inputs, averaged over five rows.

    The mean over Gaussian ε is that of Gauss and Hermite's 20 nodes on each axis, exact far below σ⁴.
    """
    net = drawn(Shallow(Config(width=8, activation="tanh", dropout=0.0), 2, 1), rng)
    rows, y = torch.from_numpy(rng.normal(size=(5, 2))), torch.from_numpy(rng.normal(size=5))
    nodes, weights = np.polynomial.hermite_e.hermegauss(20)
    grid = torch.from_numpy(np.stack(np.meshgrid(nodes, nodes), axis=-1).reshape(-1, 2))
    chance = torch.from_numpy(np.outer(weights, weights).ravel() / np.sum(weights) ** 2)

    def loss(x: torch.Tensor, i: int) -> torch.Tensor:
        return (net.logits(net(x[None] if x.ndim == 1 else x))[:, 0] - y[i]) ** 2

    found = np.zeros((len(SIGMAS), 5))
    for i, x in enumerate(rows):
        bend = torch.autograd.functional.hessian(lambda x, i=i: loss(x, i)[0], x).trace()  # 2 (|∇f|² + (f - y) Δf)
        for j, s in enumerate(SIGMAS):
            mean = chance @ loss(x + s * grid, i).detach()
            found[j, i] = abs(float(mean - loss(x, i)[0].detach() - s**2 / 2 * bend))
    return found.mean(1)
