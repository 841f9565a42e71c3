from scipy.optimize import minimize

from headway.lab.kit import Checks, Experiment, Generator, Panel, at_least, at_most, because, close, headline, math, np, param
from headway.lab.tools.trajectories import (
    growth, mean_size, mean_size_uniform, rademacher, random_stretch, uniform, z_score,
)

LAWS = {"±1": (rademacher, 1.0), "uniform": (uniform, math.sqrt(3) / 2)}  # of variance 1, with E|w|
COIN = (-1.0, 1.0), (0.5, 0.5)


class TrajectoryWeights(Experiment):
    """Any independent symmetric weights stretch curves: a ReLU layer by at least E|w|/(2√2), times √n, on average.

    For independent symmetric w_j of one law, Khintchine's inequality with its sharp constant and Jensen's give

        E|Σ_j u_j w_j|  >=  E|w_1| |u|/√2,

    so that M = c/√2 for ±c and M = c/(2√2) for U(-c, c). It is attained at u = (1, 1, 0, ...)/√2 and ±c, whose two terms cancel in half.

    Notes: B. Source: Szarek 1976, On the best constants in the Khinchin inequality, https://doi.org/10.4064/sm-58-2-197-208
    Assumes: the weights of a unit are independent, symmetric and of one law.
    Also: Khintchine inequality; uniform and discrete weights.
    """

    n = param(11, "entries of u", least=3, most=12, small=8)
    tries = param(200, "random u", least=20, most=1000)
    width = param(64, "of the layers", least=20, most=200, small=32)
    draws = param(60, "networks for each seed, of 6 layers", least=40, most=500)

    def measure(self, rng: Generator) -> Checks:
        shape = self.tries, self.n
        u = rng.standard_normal(shape) * rng.random(shape) ** rng.integers(0, 6, (self.tries, 1))
        u /= np.linalg.norm(u, axis=1, keepdims=True)
        sizes = mean_size(u, *COIN)
        found = [minimize(lambda v: mean_size(v / np.linalg.norm(v), *COIN), start[:4]) for start in u[:8]]
        self.best = float(min(sizes.min(), *(f.fun for f in found)))
        yield headline(at_least("±1: smallest E|u·w| that a search finds", self.best, 1 / math.sqrt(2), rounding=1e-12))
        pair = np.eye(self.n)[0] + np.eye(self.n)[1]
        yield close("±1, u = (1, 1, 0, …)/√2", mean_size(pair / math.sqrt(2), *COIN), 1 / math.sqrt(2))
        few = np.sign(u[:, :5]) * np.maximum(np.abs(u[:, :5]), 0.05)  # a small u_j would be lost in rounding
        few /= np.linalg.norm(few, axis=1, keepdims=True)
        yield at_least("U(-1, 1): E|u·w|", [mean_size_uniform(v) for v in few], 1 / (2 * math.sqrt(2)))
        third = [mean_size(few, (-1.0, 0.0, 1.0), (p / 2, 1 - p, p / 2)) / p for p in (0.1, 0.5, 0.9)]
        yield at_least("±1 with probability p, else 0: E|u·w|/p", third, 1 / math.sqrt(2))
        self.growth: dict[str, float] = {}

    def sample(self, rng: Generator) -> Checks:
        away = {}
        for name, (law, _) in LAWS.items():
            ratios = growth(random_stretch(rng, self.width, 6, self.draws, [1.0], 0.5, law))[0]
            self.growth[name], away[name] = float(np.nanmean(ratios)), z_score(ratios**2, 0.5)
        yield at_most("networks: mean square of the growth, away from ½, in s.e.", away, 4, kind="STAT")
        yield at_least("networks: mean growth", self.growth, {k: size / (2 * math.sqrt(2)) for k, (_, size) in LAWS.items()})

    def control(self, rng: Generator) -> Checks:
        u = np.array([1.0, -1.0]) / math.sqrt(2)
        check = at_least("w = 1 or 2, u = (1, -1)/√2", mean_size(u, (1.0, 2.0), (0.5, 0.5)), 1.5 / math.sqrt(2))
        yield because("the weights are not symmetric", check)
        check = at_least("w_2 = w_1 = ±1, u = (1, -1)/√2", float(mean_size(u.sum(keepdims=True), *COIN)), 1 / math.sqrt(2))
        yield because("the weights of a unit are not independent", check)

    def resolution(self, rng: Generator) -> Checks:
        yield at_least("±1, with the constant 0.71 > 1/√2", self.best, 0.71)

    def plots(self) -> list[Panel]:
        t = np.linspace(0.01, math.pi / 2 - 0.01, 180)
        u = np.column_stack([np.cos(t), np.sin(t)])
        left = Panel("Two terms of one size cancel half of the time", "angle of u = (cos, sin) in degrees", "E|u·w| / E|w|")
        left.curve(np.degrees(t), mean_size(u, *COIN), "±1")
        left.curve(np.degrees(t), [2 * mean_size_uniform(v) for v in u], "uniform").level(1 / math.sqrt(2), "1/√2")
        left.control(np.degrees(t), mean_size(u * [1, -1], (1.0, 2.0), (0.5, 0.5)) / 1.5, "1 or 2, u = (cos, -sin)")
        right = Panel("Networks grow well above the bound", "law of the weights", "mean growth of a layer, $σ_w$ = 1")
        right.bars(list(self.growth), list(self.growth.values()), "measured").level(1 / math.sqrt(2), "1/√2")
        bounds = [size / (2 * math.sqrt(2)) for _, size in LAWS.values()]
        return [left, right.points(range(len(LAWS)), bounds, "lower bound", "#17202b", 40)]
