import torch

from headway.lab.kit import Checks, Experiment, Generator, Panel, because, close, headline, np, param, printed, published
from headway.lab.tools.given_gradients import Gradient, follow
from headway.training.optimizers.gradient_descent import GradientDescent
from headway.training.optimizers.heavy_ball import HeavyBall
from headway.training.optimizers.nesterov import Nesterov


class HeavyBallSum(Experiment):
    """While the gradient stays the same, momentum lengthens the steps up to 1/(1-β) times.

    For a constant gradient δ and a ball that starts at rest, θ^{-1} = θ^0,

        θ^{t+1} - θ^t = -ηδ Σ_{τ=0}^{t} β^τ = -ηδ (1 - β^{t+1})/(1 - β)  ->  -ηδ/(1 - β),

    because each step adds β times the one before. Gradient descent of rate η/(1 - β) takes steps of the last size at
    once and stays ahead by ηδβ/(1 - β)². Nesterov's steps are those of the heavy ball one step later.

    Notes: C. Source: Polyak 1964, https://doi.org/10.1016/0041-5553(64)90137-5
    Assumes: the gradient is the same at every step; 0 <= β < 1; the first step starts without velocity.
    Also: effective learning rate of momentum; geometric sum of momentum.
    """

    betas = param((0.5, 0.9, 0.99), "β, the momentum", least=0.1, most=0.999)
    eta = param(0.1, "η, the learning rate", least=1e-4, most=10.0)
    steps = param(300, "steps", least=10, most=5000)

    def steps_of(self, rule: type[torch.optim.Optimizer], beta: float, gradient: Gradient) -> np.ndarray:
        """θ^{t+1} - θ^t of three coordinates."""
        made = lambda p: rule(p, lr=self.eta, momentum=beta)  # type: ignore[call-arg]  # noqa: E731
        return np.diff(follow(made, gradient, np.zeros(3), self.steps), axis=0)

    def measure(self, rng: Generator) -> Checks:
        t, eta, delta = np.arange(self.steps)[:, None], self.eta, np.append(1.0, rng.normal(size=2))
        self.found = {b: self.steps_of(HeavyBall, b, lambda t, x: delta) for b in self.betas}
        self.wanted = {b: -eta * delta * (1 - b ** (t + 1.0)) / (1 - b) for b in self.betas}
        found, wanted = (np.array(list(rows.values())) for rows in (self.found, self.wanted))
        yield headline(close("steps, -ηδ(1 - β^{t+1})/(1 - β)", found, wanted))
        if 0.9 in self.betas and eta == 0.1:
            yield published("β = 0.9, η = 0.1, δ = 1: the fifth step", self.found[0.9][4, 0], -0.40951, 1e-9)
        rules = torch.optim.SGD, Nesterov
        theirs, ahead = np.array([[self.steps_of(rule, b, lambda t, x: delta) for b in self.betas] for rule in rules])
        yield close("steps of torch's SGD with momentum", theirs, wanted)
        yield close("Nesterov: the heavy ball's next step", ahead[:, :-1], wanted[:, 1:])
        b = self.betas[-1]
        self.plain = follow(lambda p: GradientDescent(p, lr=eta / (1 - b)), lambda t, x: delta, np.zeros(3), self.steps)
        lag = eta * delta * b * (1 - b**self.steps) / (1 - b) ** 2
        yield close(f"β = {b}: distance behind gradient descent of rate η/(1 - β)", self.found[b].sum(0) - self.plain[-1], lag, 1e-9)

    def control(self, rng: Generator) -> Checks:
        b, t = self.betas[len(self.betas) // 2], np.arange(self.steps)
        self.swing = np.abs(self.steps_of(HeavyBall, b, lambda t, x: np.ones(3) * (-1.0) ** t)[:, 0])
        limit = self.eta * (1 - b ** (t + 1.0)) / (1 - b)
        yield because("the gradient changes its sign at every step", close("sizes of the steps", self.swing, limit))
        wrong = [-self.eta * sum(b**k for k in range(1, n)) for n in t]
        yield printed(close("steps, Σ from τ = 1 to t - 1", self.found[b][:, 0], wrong), "C12")

    def plots(self) -> list[Panel]:
        t, b = np.arange(self.steps), self.betas[-1]
        left = Panel("Steps grow up to 1/(1 - β) times", "step t", "step / ηδ", log="xy")
        for beta, rows in self.found.items():
            left.curve(t + 1, -rows[:, 0] / self.eta, f"β = {beta:g}").bound(t + 1, 0 * t + 1 / (1 - beta))
        left.control(t + 1, self.swing / self.eta, "alternating sign")
        right = Panel("Behind by a constant in the end", "step t", "distance θ / ηδ")
        right.curve(t + 1, -np.cumsum(self.found[b][:, 0]) / self.eta, "heavy ball")
        return [left, right.bound(t + 1, -self.plain[1:, 0] / self.eta, "descent of rate η/(1 - β)")]
