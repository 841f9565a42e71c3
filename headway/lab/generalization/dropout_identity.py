import torch
from scipy.stats import f

from headway.lab import style
from headway.lab.kit import Checks, Experiment, Generator, Panel, at_most, because, close, headline, mean_is, np, param
from headway.lab.tools.bits import cube
from headway.lab.tools.training import descended, seeded
from headway.layers.dropout import Dropout
from headway.training.optimizers.sgd import SGD

KEEP = (0.25, 0.5, 0.75, 0.875)  # p, which the layer knows exactly: multiples of 1/256


class DropoutIdentity(Experiment):
    """Dropout in a linear model is ridge regression that penalises each weight by the size of its column.

    For h̃ = m ⊙ h / p with independent m_j ~ Bernoulli(p) (p is the probability to be kept), E h̃ = h and

        E(wᵀh̃ - y)² = (wᵀh - y)² + ((1-p)/p) Σ_j w_j² h_j²,        over the rows of X least at  w = (XᵀX + ((1-p)/p) diag(XᵀX))^{-1} Xᵀy,

    since Var(wᵀh̃) = Σ_j w_j² h_j² Var(m_j)/p². Training with m ⊙ h and testing with p·w is the same model.

    Notes: D. Source: Srivastava et al. 2014, section 9.1, https://jmlr.org/papers/v15/srivastava14a.html
    Assumes: units are dropped independently; the output is linear in h̃; squared error.
    Also: dropout as adaptive ridge; dropout and weight penalty.
    """

    d = param(8, "inputs; all 2^d masks are tried", least=2, most=9)
    rows = param(20, "examples", least=20, most=50)
    runs = param(200, "of training, side by side", least=100, most=500, small=100)

    def ridge(self, p: float) -> np.ndarray:
        gram = self.X.T @ self.X
        return np.linalg.solve(gram + (1 - p) / p * np.diag(np.diag(gram)), self.X.T @ self.y)

    def identity(self, p: float) -> np.ndarray:
        return (self.X @ self.w - self.y) ** 2 + (1 - p) / p * (self.X**2 @ self.w**2)

    def minimiser(self, chance: np.ndarray, scale: float) -> np.ndarray:
        """Of the expected squared error with inputs m ⊙ h / scale: least squares on all masked copies of all rows."""
        copies = np.sqrt(chance)[:, None, None] * self.masks[:, None] * self.X / scale
        return np.linalg.lstsq(copies.reshape(-1, self.d), np.outer(np.sqrt(chance), self.y).ravel())[0]

    def measure(self, rng: Generator) -> Checks:
        self.X = rng.normal(size=(self.rows, self.d)) * np.linspace(0.7, 1.5, self.d)
        self.y = self.X @ rng.normal(size=self.d) + rng.normal(size=self.rows)
        self.w, self.masks = rng.normal(size=self.d), cube(self.d)
        self.all = (self.masks[:, None] * self.X) @ self.w  # wᵀ(m ⊙ h), "mask row"
        chances = {p: np.prod(np.where(self.masks, p, 1 - p), axis=1) for p in KEEP}
        found = [chance @ (self.all / p - self.y) ** 2 for p, chance in chances.items()]
        yield headline(close("E(wᵀh̃ - y)² over all masks", found, [self.identity(p) for p in KEEP], 1e-12))
        self.ridges = np.array([self.ridge(p) for p in KEEP])
        yield close("minimiser over all masks and rows, ridge", [self.minimiser(c, p) for p, c in chances.items()], self.ridges)
        self.unscaled = np.array([self.minimiser(chance, 1.0) for chance in chances.values()])
        yield close("trained with m ⊙ h, tested with p·w", self.unscaled * np.array(KEEP)[:, None], self.ridges)

    def sample(self, rng: Generator) -> Checks:
        with seeded(rng):
            yield mean_is("the layer with p = ¼ and h = 1: E h̃", Dropout(0.75)(torch.ones(10_000)), 1.0)
        w, drop = torch.zeros(self.runs, self.d, 1, dtype=torch.float64, requires_grad=True), Dropout(0.5)
        x, y = torch.from_numpy(self.X).expand(self.runs, -1, -1), torch.from_numpy(self.y)[:, None]
        optimizer = SGD([w], lr=self.rows / float(4 * np.linalg.norm(self.X, 2) ** 2))
        with seeded(rng):
            descended(optimizer, lambda: (drop(x) @ w - y).square().mean(dim=1).sum() / 2, 800)  # E of its gradient is linear in w
        self.trained = w.detach().numpy()[..., 0]
        away, runs = self.trained.mean(axis=0) - self.ridge(0.5), self.runs
        squared = runs * away @ np.linalg.solve(np.cov(self.trained.T), away)  # Hotelling's T²
        most = self.d * (runs - 1) / (runs - self.d) * f.isf(6.3e-5, self.d, runs - self.d)  # as likely as 4 standard errors
        yield at_most("SGD with the layer: mean weights from ridge, T²", squared, most, kind="STAT")

    def control(self, rng: Generator) -> Checks:
        found = np.mean((2 * self.all[[0, -1]] - self.y) ** 2, axis=0)
        yield because("all units are dropped together", close("E(wᵀh̃ - y)² over both masks", found, self.identity(0.5)))
        bent = np.mean((np.tanh(2 * self.all) - self.y) ** 2, axis=0)
        plain = (np.tanh(self.X @ self.w) - self.y) ** 2 + self.X**2 @ self.w**2
        yield because("the output is tanh(wᵀh̃)", close("E(tanh(wᵀh̃) - y)² over all masks", bent, plain))
        yield because("neither training nor test is scaled by p", close("trained with m ⊙ h, tested with w", self.unscaled, self.ridges))

    def plots(self) -> list[Panel]:
        panel, p = Panel("Dropout trains the weights of a ridge regression", "probability p to be kept", "weight"), np.linspace(0.02, 1, 99)
        panel.curve(p, {f"w{j + 1}": w for j, w in enumerate(np.array([self.ridge(q) for q in p]).T)})
        return [panel.points(np.full(self.d, 0.5), self.trained.mean(axis=0), "SGD with the layer, mean", style.INK, 30).mark(0.5, "p = ½")]
