from typing import Any

from scipy.signal import lfilter

from headway.lab.kit import Checks, Experiment, Generator, Panel, at_least, because, close, headline, mean_is, np, param, printed, published
from headway.lab.tools.given_gradients import follow
from headway.lab.tools.noisy_descent import descend, second_moments
from headway.training.optimizers.sgd import SGD


class SGDNoise(Experiment):
    """A step of stochastic gradient descent makes progress only while the gradient is large against its noise; then a floor is left.

    For f with constant second derivative λ and a gradient with independent noise of variance σ²,

        E f(x⁺) - f(x) = -η f'² (1 - ηλ/2) + ½ η² σ² λ,     Var x -> v = ησ² / (λ(2 - ηλ)),     E f -> ησ² / (2(2 - ηλ)).

    Progress ends where x² = v, at the spread that the noise keeps up: a floor that grows with η. In several dimensions it adds ½ η² tr(HΣ).

    Notes: E. Source: Bottou, Curtis and Nocedal 2018, section 4, https://arxiv.org/abs/1606.04838
    Assumes: f is quadratic; the noise has mean 0 and is independent from step to step; ηλ < 2.
    Also: noise floor of SGD; when does SGD make progress.
    """

    curvature = param(2.0, "λ", least=0.1, most=10.0)
    eta = param(0.3, "η, the learning rate", least=0.01, most=1.0)
    sigma = param(0.7, "σ of the gradient's noise", least=0.1, most=10.0)
    start = param(1.3, "x, from where one step is taken", least=0.1, most=10.0)
    draws = param(200_000, "draws of one step", least=10_000, most=1_000_000, small=50_000, full=1_000_000)
    runs = param(4000, "runs to the stationary state", least=500, most=50_000, small=1000)

    def conditions(self) -> list[tuple[bool, str]]:
        return [(0.02 <= self.eta * self.curvature <= 1.5, "`eta` times `curvature` must be from 0.02 to 1.5")]

    def progress(self, x: Any, noise: float = 0.5) -> Any:
        """E f(x⁺) - f(x); `noise` is the factor of η²σ²λ."""
        slope, bend = self.curvature * x, self.curvature
        return -self.eta * slope**2 * (1 - self.eta * bend / 2) + noise * (self.eta * self.sigma) ** 2 * bend

    def change(self, x: float, rng: Generator) -> np.ndarray:
        """f(x⁺) - f(x) of many draws, by the optimizer `sgd`."""
        (found,) = descend(np.full((self.draws, 1), x), np.array([self.curvature]), self.sigma, [self.eta], rng)
        return self.curvature / 2 * (found[:, 0] ** 2 - x**2)

    def measure(self, rng: Generator) -> Checks:
        self.floor = self.eta * self.sigma**2 / (self.curvature * (2 - self.eta * self.curvature))  # v
        self.edge, rates = self.floor**0.5, np.full(4000, self.eta)
        limit = second_moments(self.start, self.curvature, self.sigma, rates)[-1, 0]
        yield close("Var x by its recursion, ησ²/(λ(2 - ηλ))", limit, self.floor)
        if (self.curvature, self.eta, self.sigma, self.start) == (2.0, 0.3, 0.7, 1.3):
            yield published("E f(x⁺) - f(x), reference", self.progress(self.start), -1.3755, 5e-5)
            yield published("stationary variance, reference", self.floor, 0.0525, 5e-5)
        rise, fall = self.change(0.7 * self.edge, rng), -self.change(1.4 * self.edge, rng)
        sure = [part.mean() / part.std() * len(part) ** 0.5 for part in (rise, fall)]
        yield at_least("f rises at 0.7√v and falls at 1.4√v: mean change in standard errors", sure, 4.0)

    def sample(self, rng: Generator) -> Checks:
        yield headline(mean_is("E f(x⁺) - f(x)", self.change(self.start, rng), self.progress(self.start)))
        rates = [self.eta] * (int(12 / (self.eta * self.curvature)) + 20)  # what is left of the start is e^-24 of it
        *_, last = descend(np.full((self.runs, 1), self.start), np.array([self.curvature]), self.sigma, rates, rng)
        yield mean_is("stationary E f, ησ²/(2(2 - ηλ))", self.curvature / 2 * last**2, self.curvature * self.floor / 2)
        H = np.array([0.5, 1.0, 2.0]) * self.curvature
        (states,) = descend(np.zeros((self.draws, 3)), H, self.sigma, [self.eta], rng)
        yield mean_is("three dimensions from the minimum: E f, ½η² tr(HΣ)", states**2 @ H / 2, (self.eta * self.sigma) ** 2 * H.sum() / 2)

    def control(self, rng: Generator) -> Checks:
        yield printed(mean_is("x = √v: E f(x⁺) - f(x), noise η²σ²λ", self.change(self.edge, rng), self.progress(self.edge, 1.0)), "E4")
        steps = int(12 / (self.eta * self.curvature)) + 50
        noise = lfilter([0.6], [1, -0.8], rng.normal(size=(steps, self.runs)), axis=0)  # of variance 1 in the end, too
        slopes = lambda t, x: self.curvature * x + self.sigma * noise[t]  # noqa: E731
        x = follow(lambda p: SGD(p, lr=self.eta), slopes, np.zeros(self.runs), steps)[-1]
        yield because("the noise is correlated from step to step", mean_is("stationary E x²", x**2, self.floor))

    def plots(self) -> list[Panel]:
        steps = np.arange(1, 121)
        panel = Panel("A constant rate ends at a floor", "steps t", "E f", log="y")
        for eta in (self.eta, self.eta / 3, self.eta / 10):
            moments = second_moments(self.start, self.curvature, self.sigma, np.full(steps.size, eta))[:, 0]
            panel.curve(steps, self.curvature / 2 * moments, f"η = {eta:.3g}")
            panel.bound(steps, 0 * steps + eta * self.sigma**2 / (2 * (2 - eta * self.curvature)))
        x = np.linspace(0, 2.5 * self.edge, 200)
        right = Panel("Progress ends where x² = v", "x", "E f(x⁺) - f(x)").curve(x, self.progress(x), "as corrected")
        right.control(x, self.progress(x, 1.0), "as printed").mark(self.edge, "√v")
        return [panel, right.level(0.0, "no change")]
