import torch

from headway.data.augmentation import Augmentation
from headway.lab.kit import Checks, Experiment, Generator, Panel, at_most, because, close, headline, np, param, slope
from headway.lab.tools.bits import cube
from headway.lab.tools.layers import drawn
from headway.lab.tools.noisy_inputs import beyond_second_order
from headway.models.shallow import Config, Shallow

SIGMAS = np.array([0.02, 0.03, 0.05, 0.08])  # for the second-order form of a network


class NoiseAugmentation(Experiment):
    """Training on copies of the rows with noise is ridge regression: K copies come as near to it as K^{-1/2}.

    For noise ε_ij of mean 0 and variance σ², independent of each other and of X,

        E |y - (X + ε)w|² = |y - Xw|² + nσ²|w|²,        so that infinitely many copies give ridge with λ = nσ².

    For a network f and one row it is (f - y)² + σ²(|∇f|² + (f - y)Δf) + O(σ⁴): where the fit is good, a penalty of the slope.

    Notes: D. Source: Bishop 1995, Training with noise is equivalent to Tikhonov regularization, https://doi.org/10.1162/neco.1995.7.1.108
    Assumes: noise of mean 0, with the same variance in each column, uncorrelated; a linear model (else only small σ).
    Also: training with noise; augmentation equals ridge.
    """

    rows = param(40, "n, of X", least=40, most=200)
    columns = param(6, "of X", least=3, most=8)
    sigma = param(0.5, "σ, standard deviation of the noise", least=0.2, most=0.6)
    copies = param((4, 16, 64, 256), "K, noisy copies of all rows", least=4, most=1000, count=4)
    most = param(10_000, "K of the last comparison", least=10_000, most=50_000)

    def fitted(self, K: int, change: Augmentation, rng: Generator, spread: np.ndarray | None = None) -> np.ndarray:
        """Least squares on K copies of the rows, changed by the augmentation of the package; `spread` mixes the columns of the noise."""
        gram, right = np.zeros((self.columns, self.columns)), np.zeros(self.columns)
        for part in range(0, K, 1000):
            X = np.tile(self.X, (min(1000, K - part), 1))
            Z = change.change(torch.from_numpy(X).view(len(X), 1, 1, -1), int(rng.integers(2**62))).view(len(X), -1).numpy()
            Z = Z if spread is None else X + (Z - X) @ spread
            gram, right = gram + Z.T @ Z, right + Z.T @ np.tile(self.y, len(Z) // self.rows)
        return np.linalg.solve(gram, right)

    def away(self, w: np.ndarray) -> float:
        return float(np.linalg.norm(w - self.ridge) / np.linalg.norm(self.ridge))

    def measure(self, rng: Generator) -> Checks:
        n, d, s = self.rows, self.columns, self.sigma
        self.X = X = rng.normal(size=(n, d))
        self.y = y = X @ rng.choice([-1.0, 1.0], d) + 0.5 * rng.normal(size=n)
        w, signs = rng.normal(size=d), s * (2 * cube(d) - 1)  # noise ±σ, enumerated for each row
        mean = sum(np.mean((y[i] - (X[i] + signs) @ w) ** 2) for i in range(n))
        yield close("E |y - (X + ε)w|² over all ε_ij = ±σ", mean, np.sum((y - X @ w) ** 2) + n * s**2 * w @ w)
        self.ridge = np.linalg.solve(X.T @ X + n * s**2 * np.eye(d), X.T @ y)
        change = Augmentation(noise=s)
        yield headline(at_most(f"|w_K - ridge| / |ridge|, K = {self.most}", self.away(self.fitted(self.most, change, rng)), 0.01))
        draws = [[self.away(self.fitted(K, change, rng)) for _ in range(40)] for K in self.copies]
        self.errors = np.sqrt(np.mean(np.square(draws), axis=1))
        yield slope("root mean square of |w_K - ridge| in K", self.copies, self.errors, -0.5, 0.1)
        net = drawn(Shallow(Config(width=8, activation="tanh", dropout=0.0), 2, 1), rng)
        rest = beyond_second_order(net, SIGMAS, rng.normal(size=(5, 2)), rng.normal(size=5))
        yield slope("network: mean loss less its second-order form, in σ", SIGMAS, rest, 4, 0.1)

    def control(self, rng: Generator) -> Checks:
        change, d = Augmentation(noise=self.sigma), self.columns
        self.mixed = self.fitted(self.most, change, rng, np.full((d, d), d**-0.5))
        yield because("the noise is one number for all columns of a row", at_most("|w_K - ridge| / |ridge|", self.away(self.mixed), 0.01))
        once = self.away(self.fitted(1, change, rng))
        yield because("one copy: its noise is not averaged", at_most("|w_K - ridge| / |ridge|, K = 1", once, 0.01))

    def plots(self) -> list[Panel]:
        K, names = np.array(self.copies), range(1, self.columns + 1)
        left = Panel("More copies come nearer to ridge", "copies K", "distance to ridge, relative", log="xy")
        left.series(K, self.errors, "K copies").bound(K, self.errors[0] * (K / K[0]) ** -0.5, "~ 1/√K")
        right = Panel("Correlated noise is another penalty", "weight", "value").ticks(x={i: f"w{i}" for i in names})
        plain = np.linalg.lstsq(self.X, self.y, rcond=None)[0]
        return [left, right.series(names, {"no noise": plain, "ridge": self.ridge}).control(names, self.mixed, "one number for a row")]
