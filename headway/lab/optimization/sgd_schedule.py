from headway.lab.kit import Checks, Experiment, Generator, Panel, at_most, because, headline, np, param, slope, within
from headway.lab.tools.noisy_descent import descend, second_moments
from headway.training.schedules import rate_factor

START = 1.0  # x of every run before its first step
DECAY = ("step", "exponential", "cosine", "linear")  # the schedules of this project that end below a fiftieth


class SGDSchedule(Experiment):
    """A constant rate leaves a floor; rates that fall remove it, and the error falls like 1/t.

    For a quadratic with curvature μ and a gradient with independent noise of variance σ²,

        η_t = 1/(μ(t + t_0)):   E gap = O(1/t),        η constant:   E gap -> ησ²/(2(2 - ημ)),
        η_t ~ t^{-1/2}, mean x̄_t of all iterates:   E gap of x̄_t -> σ²/(2μt).

    The last, averaging of Polyak and Ruppert, reaches the best constant without knowing μ. The schedules for training networks (step,
    exponential, cosine, linear) end far below the floor of their first rate after as many steps.

    Notes: D. Source: Polyak and Juditsky 1992, https://doi.org/10.1137/0330046; Bottou, Curtis and Nocedal 2018, https://arxiv.org/abs/1606.04838
    Assumes: f is strongly convex and μ is known (for 1/t); the noise is independent from step to step.
    Deviates: one dimension, where the theory is exact; the runs are those of this project's `sgd` and its schedules.
    Also: Robbins-Monro rates; Polyak-Ruppert averaging; learning rate decay.
    """

    cost = "M"
    mu = param(0.5, "μ, the curvature", least=0.2, most=2.0)
    sigma = param(1.0, "σ of the gradient's noise", least=0.3, most=3.0)
    eta = param(0.4, "η, the constant rate and the first one of a schedule", least=0.1, most=1.0)
    steps = param(2000, "steps of a run", least=2000, most=10_000)
    runs = param(1000, "runs, of which the mean is taken", least=1000, most=4000)

    def conditions(self) -> list[tuple[bool, str]]:
        return [(0.1 <= self.eta * self.mu <= 0.6, "`eta` times `mu` must be from 0.1 to 0.6")]

    def rates(self, mu: float) -> dict[str, np.ndarray]:
        """The rate at each step, by schedule."""
        t, names = np.arange(self.steps), ("constant", *DECAY)
        named = {name: self.eta * np.array([rate_factor(name, int(n), t.size, 0) for n in t]) for name in names}
        return named | {"1/(μ(t + t₀))": 1 / (mu * (t + 4)), "averaged": self.eta / np.sqrt(t + 1)}

    def run(self, rates: np.ndarray, rng: Generator) -> np.ndarray:
        """E ½μx² at the times `self.t`, and E ½μx̄² of the mean of all iterates: "2 time", means over the runs."""
        x = np.array([*descend(np.full((self.runs, 1), START), np.array([self.mu]), self.sigma, rates, rng)])[..., 0]
        both = x, np.cumsum(x, axis=0) / np.arange(1, len(x) + 1)[:, None]
        return self.mu / 2 * np.mean(np.array(both)[:, self.t - 1] ** 2, axis=2)

    def measure(self, rng: Generator) -> Checks:
        self.t = np.unique(np.geomspace(10, self.steps, 16).astype(int))
        self.late, self.given = self.t >= self.steps // 20, self.rates(self.mu)
        found = {name: self.run(rates, rng) for name, rates in self.given.items()}
        self.gaps = {name: gaps[int(name == "averaged")] for name, gaps in found.items()}
        floor, fast = self.eta * self.sigma**2 / (2 * (2 - self.eta * self.mu)), self.gaps["1/(μ(t + t₀))"]
        yield headline(slope("η = 1/(μ(t + t₀)): E gap in t", self.t[self.late], fast[self.late], -1, 0.1))
        long = np.arange(1, 100_001)
        means = self.mu / 2 * second_moments(START, self.mu, self.sigma, self.eta / np.sqrt(long))[:, 1]
        some = np.geomspace(5000, long.size, 6).astype(int)
        yield slope("mean of all iterates: E gap in t, by recursion", some, means[some - 1], -1, 0.1)
        yield at_most(f"the same at t = {long.size}, 1.1 σ²/(2μt)", means[-1], 1.1 * self.sigma**2 / (2 * self.mu * long.size))
        yield at_most("schedules: E gap at the end / floor of a constant η", {name: self.gaps[name][-1] / floor for name in DECAY}, 0.1)
        etas = self.eta / 4.0 ** np.arange(4)
        floors = [second_moments(0.0, self.mu, self.sigma, np.full(int(9 / (eta * self.mu)), eta))[-1, 0] for eta in etas]
        yield slope("constant η: floor in η", etas, floors, 1, 0.1)

    def sample(self, rng: Generator) -> Checks:
        for name in ("cosine", "1/(μ(t + t₀))", "averaged"):
            mean = int(name == "averaged")
            wanted = self.mu / 2 * second_moments(START, self.mu, self.sigma, self.given[name])[-1, mean]
            found = float(self.run(self.given[name], rng)[mean, -1])  # a mean of squares of Gaussians
            yield within(f"{name}: E gap at the end, its recursion", found, wanted, wanted * (2 / self.runs) ** 0.5)

    def control(self, rng: Generator) -> Checks:
        t, constant = self.t[self.late], self.gaps["constant"][self.late]
        yield because("the rate does not fall", slope("constant η: E gap in t", t, constant, -1, 0.1))
        gaps = second_moments(START, self.mu, self.sigma, self.rates(4 * self.mu)["1/(μ(t + t₀))"])[t - 1, 0]
        yield because("μ is taken to be four times of what it is", slope("E gap in t", t, gaps, -1, 0.1))

    def plots(self) -> list[Panel]:
        left = Panel("Falling rates have no floor", "steps t", "E gap", log="xy")
        left.series(self.t, {name: self.gaps[name] for name in ("1/(μ(t + t₀))", "averaged", "cosine", "step")})
        left.control(self.t, self.gaps["constant"], "constant").bound(self.t, self.sigma**2 / (2 * self.mu * self.t), "σ²/(2μt)")
        right = Panel("The rates", "steps t", "$η_t$ / η")
        return [left, right.curve(np.arange(1, self.steps), {name: self.given[name][:-1] / self.eta for name in ("averaged", *DECAY)})]
