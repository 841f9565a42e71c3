from functools import reduce
from itertools import product

from scipy.special import ndtr

from headway.lab.kit import Checks, Experiment, Generator, Panel, at_most, because, close, equal, headline, np, param, share_is, slope
from headway.lab.tools.layers import convolved

DIE, COIN = np.ones(6, dtype=int), np.array([9, 1])  # how many of 6 (of 10) equal cases have the value 0, 1, ...


def total(p: np.ndarray, n: int) -> np.ndarray:
    """The distribution of a sum of n independent numbers."""
    return reduce(lambda many, one: convolved(one, many), [p] * n)


def distance(p: np.ndarray) -> float:
    """sup |P(standardised sum <= x) - Φ(x)|, on both sides of every jump."""
    k = np.arange(len(p))
    mean = p @ k
    gauss, F = ndtr((k - mean) / np.sqrt(p @ (k - mean) ** 2)), np.cumsum(p)
    return float(max(np.max(np.abs(F - gauss)), np.max(np.abs(F - p - gauss))))


def berry_esseen(p: np.ndarray, n: np.ndarray) -> np.ndarray:
    d = np.abs(np.arange(len(p)) - p @ np.arange(len(p)))
    return 0.4748 * (p @ d**3) / ((p @ d**2) ** 1.5 * np.sqrt(n))


class ConvProbability(Experiment):
    """The distribution of a sum of independent numbers is the convolution of theirs; of many, it is nearly a Gaussian.

        P(U + V = u) = Σ_t P(U = t) P(V = u - t),      sup_x |P(S_n <= x) - Φ(x)| <= 0.4748 ρ / (σ³ √n)

    The sum is u in as many ways as t and u - t can be chosen. S_n is the sum of n numbers less its mean, divided by its standard deviation;
    ρ = E|X - EX|³. Each convolution smooths, and what remains after many depends on the variance alone.

    Notes: D. Source: Shevtsova 2011, On the absolute constants in the Berry-Esseen type inequalities, https://arxiv.org/abs/1111.6554
    Assumes: the numbers are independent; they have a third moment.
    Also: sum of random variables; density of a sum; Berry-Esseen bound.
    """

    sums = param((2, 4, 8, 16, 32, 64, 128), "numbers n that are added", least=2, most=512, count=4, small=(2, 4, 8, 16))
    draws = param(20000, "sums of dice that are drawn", least=1000, most=1000000)

    def measure(self, rng: Generator) -> Checks:
        yield equal("two dice: 1, 2, 3, 4, 5, 6, 5, 4, 3, 2, 1 of 36", total(DIE, 2), [1, 2, 3, 4, 5, 6, 5, 4, 3, 2, 1])
        rolls = np.array([sum(roll) for roll in product(range(6), repeat=4)])
        yield equal("four dice, all 1296 rolls", total(DIE, 4), np.bincount(rolls))
        tent = total(np.ones(500), 2) / 500  # 500 cells of a uniform density: the sum at 0, 1/500, ... is exact
        yield close("uniform + uniform is a tent", tent, 1 - np.abs(np.arange(1, 1000) / 500 - 1))
        n, laws = np.array(self.sums), {"dice": DIE / 6, "rare coin": COIN / 10}
        self.found = {name: np.array([distance(total(p, int(k))) for k in n]) for name, p in laws.items()}
        self.bounds = {name: berry_esseen(p, n) for name, p in laws.items()}
        yield headline(at_most("distance from the Gaussian", self.found, self.bounds))
        yield slope("dice: distance in n", n, self.found["dice"], -0.5, 0.1)

    def sample(self, rng: Generator) -> Checks:
        rolls = rng.integers(0, 6, (self.draws, 8)).sum(1)
        for value in (15, 20, 24):
            yield share_is(f"eight dice: P({value + 8})", int(np.sum(rolls == value)), self.draws, total(DIE / 6, 8)[value])

    def control(self, rng: Generator) -> Checks:
        n, double = max(256, *self.sums), np.bincount(2 * np.arange(6)) * 6  # of 36 cases
        yield because("V = U", equal("the same die twice", double, total(DIE, 2)))
        alike = distance(np.bincount(n * np.arange(6)) / 6)
        yield because("all are equal, not independent", at_most(f"{n} times the same die", alike, berry_esseen(DIE / 6, np.array(n))))

    def plots(self) -> list[Panel]:
        left, x = Panel("Sums of n dice become a bell", "value, standardised", "probability × deviation"), np.linspace(-3.5, 3.5, 200)
        left.target(x, np.exp(-(x**2) / 2) / np.sqrt(2 * np.pi), "Gaussian")
        for n in (1, 2, 4, 8):
            p, sd = total(DIE / 6, n), np.sqrt(n * 35 / 12)
            z = (np.arange(len(p)) - 2.5 * n) / sd
            left.series(z[np.abs(z) < 3.5], (p * sd)[np.abs(z) < 3.5], f"n = {n}")
        right = Panel("The distance falls like 1/√n", "numbers n", "sup |F - Φ|", log="xy").series(self.sums, self.found)
        return [left, right.bound(self.sums, self.bounds["dice"], "bound, dice").bound(self.sums, self.bounds["rare coin"], "bound, coin")]
