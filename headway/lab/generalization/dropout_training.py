import torch
from scipy.optimize import minimize
from scipy.special import expit
from torch.nn.functional import binary_cross_entropy_with_logits as cross_entropy

from headway.lab.kit import Checks, Experiment, Generator, Panel, at_most, because, headline, mean_is, np, param, slope
from headway.lab.tools.dropout_penalty import exact, off, second
from headway.lab.tools.training import Settings, fit, outputs, seeded
from headway.models.linear import Config, Linear

SIZES = np.array([0.1, 0.15, 0.2, 0.3])  # of the weights, for the rate
SHOWN = np.array([0.99, 0.95, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2])


class DropoutTraining(Experiment):
    """Dropout in logistic regression is an L2 penalty in coordinates scaled by the Fisher information, but only to second order.

    With A(z) = log(1 + e^z), z_i = w·x_i, and inputs m_j x_ij / p that are kept with probability p,

        E ℓ - ℓ = Σ_i (E A(Σ_j m_j x_ij w_j / p) - A(z_i)) ≈ ½ (1-p)/p Σ_i σ(z_i)(1 - σ(z_i)) Σ_j x_ij² w_j².

    Labels do not enter, since they multiply z, whose mean the mask keeps. The next orders are small where every x_ij w_j is. For p -> 1 the
    error does not vanish, because what is left out stays as large; for small p it grows with the variance of the mask.

    Notes: D. Source: Wager, Wang and Liang 2013, Dropout training as adaptive regularization, https://arxiv.org/abs/1307.1493
    Assumes: many columns with a small weight each; p is not small.
    Also: dropout as adaptive regularisation; dropout in logistic regression.
    """

    cost = "M"
    columns = param(10, "of the data; all 2^columns masks are tried", least=8, most=12, small=8)
    rows = param(400, "of the data", least=300, most=1000)
    keeps = param((0.99, 0.95, 0.9, 0.8), "probabilities p of keeping an input", least=0.8, most=0.99)
    steps = param(400, "of training, on all rows with eight masks each", least=300, most=5000, small=300)
    draws = param(1000, "passes with masks, for the mean loss", least=500, most=5000, small=500)

    def measure(self, rng: Generator) -> Checks:
        self.X = X = rng.normal(size=(self.rows, self.columns))
        truth = rng.choice([-1, 1], self.columns) / self.columns**0.5
        self.y = y = (rng.random(self.rows) < expit(X @ truth)).astype(float)
        self.net = Linear(Config(dropout=0.2), self.columns, 1).double()
        self.p = 1 - self.net.dropout.threshold / 256  # the layer rounds 0.2
        settings = Settings(self.steps, 8 * self.rows, 1.0, optimizer="sgd", decay=0.0, clip=1e9)
        fit(self.net, np.tile(X, (8, 1)), np.tile(y, 8)[:, None], settings, rng, cross_entropy)
        w, self.b = self.net.head.weight.detach().numpy()[0], float(self.net.head.bias.detach())
        self.a = X * w
        errors = [off(self.a, p) for p in self.keeps]
        yield headline(at_most("second order against the exact penalty, relative error, p >= 0.8", errors, 0.1))
        rates = [off(size / np.linalg.norm(w) * self.a, self.p) for size in SIZES]
        yield slope("that error in the size of the weights", SIZES, rates, 2, 0.15)

        def loss(v: np.ndarray, penalty: bool) -> float:
            z = X @ v[1:] + v[0]
            return float(np.sum(np.logaddexp(0, z) - y * z)) + penalty * second(X * v[1:], self.p, v[0])

        ends = [minimize(loss, np.zeros(w.size + 1), args=(penalty,)).x[1:] for penalty in (True, False)]
        near, far = (float(np.linalg.norm(end - w)) for end in ends)
        yield at_most("trained with dropout: distance to the minimum with this penalty / without", near / far, 0.25)

    def sample(self, rng: Generator) -> Checks:
        x, y = (torch.from_numpy(np.tile(each, (self.draws, 1, 1))) for each in (self.X, self.y[:, None]))
        with seeded(rng), torch.no_grad():
            plain = float(cross_entropy(outputs(self.net.eval(), x[0]), y[0], reduction="sum"))
            losses = cross_entropy(outputs(self.net.train(), x.flatten(0, 1)), y.flatten(0, 1), reduction="none")
        found = losses.view(self.draws, -1).sum(1).numpy() - plain
        yield mean_is("mean loss with dropout less that without, the exact penalty", found, exact(self.a, self.p, self.b))

    def control(self, rng: Generator) -> Checks:
        yield because("the variance of the mask, (1-p)/p, is not small", at_most("relative error at p = 0.2", off(self.a, 0.2), 0.1))
        self.one = self.X[:, :1] * np.r_[4.0, np.zeros(self.columns - 1)]
        yield because("one column has all the weight", at_most("relative error, p >= 0.8", [off(self.one, p) for p in self.keeps], 0.1))

    def plots(self) -> list[Panel]:
        many, one = ([second(a, p) / exact(a, p) for p in SHOWN] for a in (self.a, self.one))
        panel = Panel("Second order is enough for p ≥ 0.8", "probability p of keeping", "second-order penalty / exact one")
        panel.series(SHOWN, many, f"{self.columns} columns").control(SHOWN, one, "one column")
        return [panel.level(1.1, "10 % above").level(0.9, "10 % below")]
