import torch
from torch import Tensor

from headway.lab.kit import Checks, Experiment, Generator, Panel, at_most, because, close, headline, mean_is, np, param, printed
from headway.lab.tools.given_gradients import Gradient, follow
from headway.lab.tools.quadratics import Rule
from headway.training.optimizers.adam import Adam


class AdamBias(Experiment):
    """Adam divides by what is missing of its running means: so the first step has the size η.

    For running means m, v of g, g² with the weights β, α that start at 0,

        E m_t = (1 - β^t) E g,    m̂ = m/(1 - β^t),    v̂ = v/(1 - α^t),
        θ <- θ - η m̂/(√v̂ + δ),      first step -> -η sign g,

    while without the corrections the first step is η (1 - β)/√(1 - α), 3.16 η for (0.9, 0.999). Adam forgets large gradients: with the loss
    C x in every third round and -x in the two others it stays at the worst point of [-1, 1]; AMSGrad, which keeps the largest v, does not.

    Notes: C. Source: Kingma and Ba 2015, https://arxiv.org/abs/1412.6980; Reddi, Kale and Kumar 2018, theorem 1, https://arxiv.org/abs/1904.09237
    Assumes: δ is small against |g|; E g does not change; for the wrong limit C > 2, β = 0, α = 1/(1 + C²) and rates ~ 1/√t.
    Also: bias correction of Adam; AMSGrad; non-convergence of Adam.
    """

    beta = param(0.9, "β, of the mean of g", least=0.1, most=0.99)
    alpha = param(0.999, "α, of the mean of g²", least=0.9, most=0.9999)
    eta = param(0.001, "η, the learning rate", least=1e-6, most=1.0)
    noise = param(2.0, "σ of the gradients, whose mean is 1", least=0.1, most=10.0)
    runs = param(20_000, "coordinates with gradients of their own", least=1000, most=200_000)
    large = param(4.0, "C, the gradient of every third round", least=3.0, most=50.0)
    rounds = param(900, "rounds of the online problem", least=900, most=9000)

    def conditions(self) -> list[tuple[bool, str]]:
        first = (1 - self.beta) / (1 - self.alpha) ** 0.5
        return [(abs(first - 1) > 0.01, "(1 - `beta`)/√(1 - `alpha`) must not be 1, which needs no correction")]

    def adam(self, p: list[Tensor], delta: float = 0.0, before: float = 0.0) -> Adam:
        """Adam after so many steps without a gradient; after very many, nothing is left to correct."""
        made = Adam(p, self.eta, (self.beta, self.alpha), delta)
        made.state[p[0]]["step"] = torch.tensor(before)
        return made

    def means(self, gradient: Gradient, runs: int, steps: int) -> np.ndarray:
        """m̂ of each step: δ is so large that Adam's step is -m̂."""
        return -np.diff(follow(lambda p: Adam(p, 1e9, (self.beta, self.alpha), 1e9), gradient, np.zeros(runs), steps), axis=0)

    def play(self, rule: Rule) -> np.ndarray:
        """x in each round of the online problem, with rates that fall like 1/√t."""
        return follow(rule, lambda t, x: -1.0 if t % 3 else self.large, np.array(1.0), self.rounds, 1.0, lambda t: (t + 1) ** -0.5)

    def measure(self, rng: Generator) -> Checks:
        b, a, size, t = self.beta, self.alpha, np.array([1e-6, -1e-3, 1.0, -1e4]), np.arange(1, 301)
        paths = [follow(lambda p, n=n: self.adam(p, before=n), lambda t, x: size, np.zeros(4), t.size) for n in (0.0, 1e7)]  # type: ignore[misc]
        self.steps, self.late = (-np.diff(path, axis=0) / (self.eta * np.sign(size)) for path in paths)
        yield headline(close("steps / η sign g for gradients of 1e-6 to 1e4", self.steps, 1.0, 1e-9))
        wanted = (1 - b ** t[:, None]) / np.sqrt(1 - a ** t[:, None]) * np.ones(4)
        yield close("steps / η without corrections, (1 - β^t)/√(1 - α^t)", self.late, wanted, 1e-7)
        betas = 0.0, 1 / (1 + self.large**2)
        keeps = self.play(lambda p: torch.optim.Adam(p, 0.5, betas, 0.0, amsgrad=True))
        self.online = {"Adam": self.play(lambda p: Adam(p, 0.5, betas, 0.0)), "AMSGrad": keeps}
        yield close("online, Adam: x before each round with C, the worst point", self.online["Adam"][::3], 1.0)
        yield at_most("online, AMSGrad: the last x", keeps[-1], -0.8)

    def sample(self, rng: Generator) -> Checks:
        found = self.means(lambda t, x: 1 + self.noise * rng.normal(size=self.runs), self.runs, 12)
        for t in (1, 3, 12):
            yield mean_is(f"E m̂ at step {t}", found[t - 1], 1.0)

    def control(self, rng: Generator) -> Checks:
        yield printed(close("first step / η without corrections", self.late[0], np.ones(4), 1e-3), "C13")
        blunt = follow(lambda p: self.adam(p, 1e-8), lambda t, x: 1e-8, np.zeros(1), 1)[1]
        yield because("δ is as large as the gradient", close("first step / η", -blunt[0] / self.eta, 1.0, 1e-3))
        yield because("the gradients grow", close("m̂ / g at step 50", self.means(lambda t, x: t + 1.0, 1, 50)[-1, 0] / 50, 1.0, 1e-3))
        yield because("the largest v is kept", close("online: x before each round with C", self.online["AMSGrad"][::3], 1.0))

    def plots(self) -> list[Panel]:
        t = np.arange(1, len(self.steps) + 1)
        left = Panel("Without corrections the first steps are too long", "step t", "step / η", log="x")
        left.curve(t, self.steps[:, 0], "corrected").control(t, self.late[:, 0], "as printed")
        right = Panel("Adam stays at the worst point", "round", "x").level(-1.0, "best point")
        return [left, right.curve(np.arange(300), {name: x[:300] for name, x in self.online.items()})]
