from headway.lab import style
from headway.lab.kit import Checks, Experiment, Generator, Panel, at_least, at_most, because, close, headline, math, monotone, np, param
from headway.lab.tools.given_gradients import follow
from headway.training.optimizers.gradient_descent import GradientDescent

STEP = 0.37  # f* = 1{x >= STEP}
SIZES = np.array([1, 3, 6, 12, 24, 40, 60])  # P


def cosines(x: np.ndarray, P: int) -> np.ndarray:
    """1, √2 cos πx, …, √2 cos (P-1)πx: orthonormal on [0, 1]."""
    return np.cos(math.pi * np.arange(P) * x[..., None]) * np.where(np.arange(P), math.sqrt(2), 1)


class RiskDecomposition(Experiment):
    """What a trained model loses against the best function is representation, estimation and optimisation, one after the other.

    With R* the least risk of all, F the class of the model, f_{ERM} its function of least training error, and f̂ what training finds,

        R(f̂) - R* = [inf_F R - R*] + [R(f_{ERM}) - inf_F R] + [R(f̂) - R(f_{ERM})].

    A larger F falls short of less and leaves more to estimate, about (P/n)(σ² + what F falls short of) for P weights and n examples.
    The last term may be negative: training that stops early has a higher training error and can have a lower risk.

    Notes: A, E. Source: Bottou and Bousquet 2008, The tradeoffs of large scale learning, https://papers.nips.cc/paper/3323-the-tradeoffs-of-large-scale-learning
    Assumes: f_{ERM} and inf_F are of the same F; for the first term to fall, each F contains the one before.
    Deviates: y = 1{x >= 0.37} and noise, x uniform on [0, 1], F spanned by P cosines, where each risk is a sum of squares in closed form.
    Also: approximation, estimation and optimisation error; excess risk.
    """

    n = param(200, "examples of a training set, few enough for stopping early to gain", least=150, most=200)
    sigma = param(0.5, "of the noise", least=0.4, most=1.0)
    steps = param(8, "of gradient descent", least=5, most=20)
    sets = param(200, "training sets", least=200, most=1000)

    def excess(self, w: np.ndarray) -> np.ndarray:
        """R(f) - R* = ∫ (f - f*)² dx of each row of weights, by Gauss's rule on both sides of the step."""
        t, mass = np.polynomial.legendre.leggauss(120)
        x = np.concatenate([STEP * (1 + t) / 2, STEP + (1 - STEP) * (1 + t) / 2])
        return (w @ cosines(x, w.shape[-1]).T - (x >= STEP)) ** 2 @ np.concatenate([STEP * mass, (1 - STEP) * mass]) / 2

    def measure(self, rng: Generator) -> Checks:
        x = rng.random((self.sets, self.n))
        y = (x >= STEP) + self.sigma * rng.normal(size=x.shape)
        design = cosines(x, int(SIZES[-1]))
        grams, moments = design.swapaxes(1, 2) @ design / self.n, (y[:, None] @ design)[:, 0] / self.n
        j, rate = np.arange(1, 2 * SIZES[-1]), 1 / float(np.max(np.linalg.eigvalsh(grams)))
        self.c = np.append(1 - STEP, -math.sqrt(2) * np.sin(math.pi * j * STEP) / (math.pi * j))  # ∫ f* φ_j dx
        sums, risks, losses = [], [], []
        for P in SIZES:
            G, m, c = grams[:, :P, :P], moments[:, :P], self.c[:P]
            slope = lambda t, w, G=G, m=m: (G @ w[..., None])[..., 0] - m  # noqa: E731 - of half the training error
            erm = np.linalg.solve(G, m[..., None])[..., 0]
            found = follow(lambda w: GradientDescent(w, lr=rate), slope, 0 * m, self.steps)[-1]
            away = [np.sum((w - c) ** 2, axis=1) for w in (erm, found)]
            sums.append([np.full(self.sets, 1 - STEP - np.sum(c**2)), away[0], away[1] - away[0]])  # by Parseval's theorem
            risks.append([self.excess(w) for w in (0 * m + c, erm, found)])
            losses.append([np.sum(w * (slope(0, w) - m), axis=1) + np.mean(y**2, axis=1) for w in (erm, found)])
        (self.within, self.erm, total), train = np.swapaxes(risks, 0, 1), np.swapaxes(losses, 0, 1)
        self.terms = np.mean(sums, axis=2).T
        yield headline(close("R(f̂) - R* by quadrature, the three terms", total, np.sum(sums, axis=1)))
        yield at_least("second term of each set, by quadrature", self.erm - self.within, 0)
        yield at_most("training error of f_ERM, of f̂", train[0], train[1], rounding=1e-12)
        yield monotone("first term in P", self.terms[0], "falls")
        yield monotone("second term in P, mean", self.terms[1], "rises")
        yield at_most(f"third term for P = {SIZES[-1]}, mean", self.terms[2, -1], 0)

    def control(self, rng: Generator) -> Checks:
        yield because(f"f_ERM has {SIZES[2]} weights, F has 1", at_least("second term, mean", np.mean(self.erm[2] - self.within[0]), 0))
        moved = [1 - STEP - np.sum(self.c[P : 2 * P] ** 2) for P in SIZES]
        yield because("F has the cosines P to 2P - 1, not those of the F before", monotone("first term in P", moved, "falls"))

    def plots(self) -> list[Panel]:
        first, erm, found = np.cumsum(self.terms, axis=0)
        panel = Panel("A larger class falls short of less, and estimates more", "weights P", "mean excess risk", log="x")
        panel.band(SIZES, 0, first, "representation").band(SIZES, first, erm, "estimation", style.ORANGE)
        return [panel.series(SIZES, {"least training error": erm, "stopped early": found})]
