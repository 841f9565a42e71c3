from headway.lab.kit import Checks, Experiment, Generator, Panel, at_least, at_most, because, equal, headline, math, np, param, slope
from headway.lab.tools.dense_memory import LIMIT, capacity, energy, formula, stable_share, stays
from headway.models.classical.dense_memory import DenseMemory as Registered


class DenseMemory(Experiment):
    """A steeper energy stores more: capacity grows like n^{k-1} for F(x) = x^k, and exponentially for F = exp.

    E(σ) = -Σ_μ F(ξ^μ·σ) with k = 2 is the Hopfield net. The number of patterns of which nearly all are fixed points is

        s ≈ n^{k-1} / (2 (2k-3)!! ln n)   for F = x^k,        s >= 2^{n/2}   for F = exp.

    Notes: C. Source: Krotov, Hopfield 2016, https://arxiv.org/abs/1606.01164; Demircigil et al. 2017, https://arxiv.org/abs/1702.01929
    Assumes: independent patterns of independent fair signs; one update from a stored pattern; s below the capacity.
    Deviates: slopes are those of s ln n, since ln n alone bends them by 0.4; k = 3 holds four times as much as k = 2 from n = 30 on; the
    bound for exp is one of large n (at n = 14 the two are equal), so that it is asked at n = 18, of nine in ten patterns.
    Also: dense associative memory; higher-order Hopfield network.
    """

    cost = "M"
    sizes = param((20, 30, 40, 60, 80), "neurons n, k = 2 and 3", least=14, most=90, count=4, small=(14, 20, 28, 40))
    n = param(50, "neurons for the comparison of k = 2, 3, 4 and exp", least=30, most=50, small=30)
    exponential = param((10, 12, 14, 16), "neurons n for F = exp", least=8, most=16, count=4, small=(8, 10, 12, 14))
    trials = param(100, "test patterns for each n, F and seed", least=100, most=400)

    def conditions(self) -> list[tuple[bool, str]]:
        wide = self.sizes[-1] >= 30 and np.all(np.diff(self.sizes) >= 0.2 * np.array(self.sizes[:-1]))
        even = max(self.exponential) >= 14 and not any(n % 2 for n in self.exponential)
        grow = "sizes must grow by a fifth or more at each step, to 30 or more"
        return [(bool(wide), grow), (even, "exponential must be even numbers up to 14 or more, for the growth of large n")]

    def measure(self, rng: Generator) -> Checks:
        self.found: list[dict[tuple[int, int], float]] = []
        y = rng.integers(0, 2, (200, 300, 12), dtype=np.int8)  # beside (1, …, 1), which is stored last and started from
        sets = [np.vstack([2.0 * bits - 1, np.ones(12)]) for bits in y]
        ends = np.array([Registered("exponential", sweeps=1).fit(x).transform(x[-1:])[0] for x in sets])
        name = "F = exp: fixed points by running sums and by `dense-memory`"
        yield equal(name, stays(y, energy(0, 12))[:, -1], (ends == 1).all(axis=1))

    def sample(self, rng: Generator) -> Checks:
        pairs = [(k, n) for k in (2, 3) for n in self.sizes] + [(k, self.n) for k in (2, 3, 4)]
        pairs += [(4, self.n // 2)] + [(0, n) for n in self.exponential]
        trials = {2: 24 * self.trials, 3: 5 * self.trials}  # few patterns are soon tried
        found = {(k, n): capacity(n, k, trials.get(k, self.trials), rng) for k, n in pairs}
        self.found.append(found)
        n, line = np.array(self.sizes), {k: np.array([found[k, n] for n in self.sizes]) for k in (2, 3)}
        yield slope("s ln n in n, k = 2", n, line[2] * np.log(n), 1, 0.4)
        yield headline(slope("s ln n in n, k = 3", n, line[3] * np.log(n), 2, 0.4))
        more = line[3] / line[2]
        yield at_least("s for k = 3 over that for k = 2, n >= 30", more[n >= 30], 4, kind="STAT")
        yield at_least("growth of that from one n to the next", np.diff(more), 0, kind="STAT")
        off = {k: abs(math.log2(found[k, self.n] / formula(self.n, k))) for k in (2, 3, 4)}
        yield at_most(f"s off the formula, in doublings, n = {self.n}, by k", off, 1, kind="STAT")
        doublings = np.polyfit(self.exponential, [math.log2(found[0, n]) for n in self.exponential], 1)[0]
        yield at_least("exp: doublings of s for each neuron", float(doublings), 0.5, kind="STAT")
        for m, s, times, least in ((18, 2**9, 2 * self.trials, 0.9), (self.n, LIMIT if self.n >= 50 else 2000, 20, 0.95)):
            share = stable_share(m, energy(0, m), s, times, rng)[-1]
            yield at_least(f"exp: fixed points, n = {m}, s = {s}", share, least, kind="STAT")

    def control(self, rng: Generator) -> Checks:
        n, most = self.n, int(self.found[0][3, self.n])
        share = stable_share(18, energy(2, 18), 2**9, 40, rng)[-1]
        yield because("F is x², not exp", at_least("fixed points, n = 18, s = 2^(n/2)", share, 0.9, kind="STAT"))
        for why, s, trials, ones in (("it is six times that", 6 * most, 20, 0.5), ("65 % opposite bits", most, 40, 0.35)):
            share = stable_share(n, energy(3, n), s, trials, rng, ones)[-1]
            yield because(why, at_least(f"fixed points, k = 3, {s = }", share, 0.95, kind="STAT"))

    def plots(self) -> list[Panel]:
        mean = {key: float(np.mean([found[key] for found in self.found])) for key in self.found[0]}
        left = Panel("Capacity grows like n^(k-1)", "neurons n", "patterns s with 95 % fixed points", log="xy")
        for k in (2, 3, 4):
            n = np.array(sorted({size for power, size in mean if power == k}))
            left.series(n, [mean[k, m] for m in n], f"k = {k}")
            left.bound(n, mean[k, n[-1]] * (n / n[-1]) ** (k - 1), f"slope {k - 1}")
        n = np.array(self.exponential)
        right = Panel("… and exponentially for exp", "neurons n", "patterns s with 95 % fixed points", log="y")
        return [left, right.bound(n, 2.0 ** (n / 2), "2^(n/2)").series(n, [mean[0, m] for m in n], "F = exp")]
