from functools import partial

from headway.lab.kit import Checks, Experiment, Generator, Panel, at_most, because, close, headline, np, param
from headway.lab.tools.given_gradients import Gradient, follow
from headway.lab.tools.quadratics import Rule, descend, logistic_loss
from headway.training.optimizers import adagrad
from headway.training.optimizers.gradient_descent import GradientDescent
from headway.training.optimizers.rmsprop import RMSprop

RATES = tuple(2.0**k for k in range(-4, 9))


class AdaGrad(Experiment):
    """AdaGrad gives every coordinate its own rate, and its regret is bounded by the sizes of the gradients that came.

        γ_i^t = Σ_{s<=t} (g_i^s)²,      θ_i <- θ_i - η g_i/(√γ_i^t + δ),
        Σ_t f_t(θ^t) - min_{‖θ‖_∞ <= D/2} Σ_t f_t(θ) <= (D²/(2η) + η) Σ_i √γ_i^T = √2 D Σ_i √γ_i^T      at η = D/√2.

    Rates only fall, because γ only grows; the first step is η sign g; and multiplying the gradients of a coordinate by any number changes
    no step. A coordinate whose feature is rare keeps a high rate: such features are learned faster than with one rate for all.

    Notes: C. Source: Duchi, Hazan and Singer 2011, https://jmlr.org/papers/v12/duchi11a.html
    Assumes: convex losses; points are kept in a box of side D; δ -> 0; all squares are added up.
    Also: adaptive gradient method; regret of AdaGrad.
    """

    dimension = param(12, "coordinates", least=10, most=100)
    rounds = param(500, "losses that come one after the other", least=100, most=5000, small=200)
    side = param(2.0, "D, the side of the box", least=0.1, most=10.0)
    samples = param(400, "examples with rare features", least=200, most=2000)
    steps = param(20, "steps on them", least=10, most=60)

    def play(self, rule: Rule, gradient: Gradient) -> tuple[float, float]:
        """Linear losses of these gradients: the regret against the best corner of the box, and Σ_i √γ_i."""
        x = follow(rule, gradient, np.zeros(self.dimension), self.rounds, self.side / 2)[:-1]
        g = np.array([np.broadcast_to(gradient(t, row), row.shape) for t, row in enumerate(x)])
        regret = np.sum(x * g) + self.side / 2 * np.abs(g.sum(0)).sum()
        return float(regret), float(np.sqrt(np.sum(g**2, axis=0)).sum())

    def measure(self, rng: Generator) -> Checks:
        d, D, ada = self.dimension, self.side, adagrad.AdaGrad
        dense = rng.normal(0.2, 1, (self.rounds, d))
        rare = dense * (rng.random(dense.shape) < 1 / np.arange(1, d + 1))
        games: dict[str, Gradient] = {
            "dense": lambda t, x: dense[t],
            "rare": lambda t, x: rare[t],
            "against x": lambda t, x: np.where(x >= 0, 1.0, -1.0),
        }
        etas = D / 2**0.5 * np.array([0.25, 1.0, 4.0])
        found = {name: np.array([self.play(partial(ada, lr=e, eps=1e-300), game) for e in etas]).T for name, game in games.items()}
        regrets, bounds = {k: v[0] for k, v in found.items()}, [(D**2 / (2 * etas) + etas) * v[1] for v in found.values()]
        yield headline(at_most("regret at three rates, (D²/2η + η) Σ√γ", regrets, bounds))
        g, scale = rng.normal(size=(60, d)), 10.0 ** rng.uniform(-6, 6, d)
        paths = [follow(partial(ada, lr=0.1, eps=0.0), lambda t, x, s=s: s * g[t], np.zeros(d), 60) for s in (1.0, scale)]  # type: ignore[misc]
        steps, scaled = np.diff(paths, axis=1)
        yield close("first step, -η sign g", steps[0], -0.1 * np.sign(g[0]))
        yield close("steps with gradients times 1e-6 to 1e6", scaled, steps, 1e-8)
        self.rates = -steps / (0.1 * g)
        yield at_most("each rate, the one before it", self.rates[1:], self.rates[:-1], rounding=1e-9)
        X = (rng.random((self.samples, d)) < 0.5 ** np.arange(d).clip(0, 6)) * 1.0
        y = np.where(X @ rng.choice([-2.0, 2.0], d) + rng.logistic(size=self.samples) > 0, 1.0, -1.0)
        rules, h = {"AdaGrad": ada, "descent": GradientDescent}, logistic_loss(X, y)
        self.last = {k: [descend(h, np.zeros(d), self.steps, rule=partial(r, lr=e)).values[-1] for e in RATES] for k, r in rules.items()}
        low, high = map(min, self.last.values())
        yield at_most("rare features: loss at AdaGrad's best rate, at that of descent", low, high)

    def control(self, rng: Generator) -> Checks:
        regret, sizes = self.play(partial(RMSprop, lr=self.side / 2**0.5, alpha=1 / 17), lambda t, x: -1.0 if t % 3 else 4.0)
        yield because("RMSprop forgets old squares", at_most("regret, √2 D Σ√γ", regret, 2**0.5 * self.side * sizes))
        step = follow(lambda p: adagrad.AdaGrad(p, 0.1), lambda t, x: 1e-10, np.zeros(1), 1)[1, 0]
        yield because("δ is as large as the gradient", close("first step, -η sign g", step, -0.1))

    def plots(self) -> list[Panel]:
        t = np.arange(1, len(self.rates) + 1)
        left = Panel("Each coordinate has a rate of its own", "step t", "rate / η", log="xy")
        left.bound(t, 1 / np.sqrt(t), "1/√t").curve(t, {f"coordinate {i + 1}": self.rates[:, i] for i in range(3)})
        right = Panel("Rare features are learned sooner", "learning rate η", f"loss after {self.steps} steps", log="xy")
        return [left, right.series(RATES, self.last)]
