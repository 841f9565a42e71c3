from fractions import Fraction
from itertools import accumulate

from headway.lab.kit import Checks, Experiment, Generator, Panel, at_most, because, close, equal, headline, np, param
from headway.lab.tools.layers64 import Dispatched, built, normal, stepwise, tensor
from headway.lab.tools.scans import blelloch, hillis_steele
from headway.layers.recurrences.gru import GRU
from headway.layers.recurrences.min_gru import MinGRU
from headway.layers.recurrences.scan import linear_scan

Pair = tuple[Fraction, Fraction]
UNIT = Fraction(1), Fraction(0)


def compose(first: Pair, second: Pair) -> Pair:
    """z -> a z + b, one after the other."""
    return second[0] * first[0], second[0] * first[1] + second[1]


class PrefixScan(Experiment):
    """A linear recurrence is a scan of an associative operator, so it takes O(log n) rounds instead of n steps.

        z_t = a_t z_{t-1} + b_t        (a₂, b₂) ∘ (a₁, b₁) = (a₂a₁, a₂b₁ + b₂)

    Hillis and Steele: ⌈log₂ n⌉ rounds, n log₂ n - n + 1 applications (n a power of 2). Blelloch: 2⌈log₂ n⌉ rounds, 2(n - 1) applications.
    The gates of a minGRU depend on x_t only, so it is such a recurrence. Those of a GRU depend on z_{t-1}, and it is not.

    Notes: C. Source: Blelloch 1990; Martin and Cundy 2018, https://arxiv.org/abs/1709.04057
    Assumes: a_t and b_t do not depend on z; the operator is associative.
    Also: parallel scan; associative scan.
    """

    lengths = param((8, 32, 128, 512), "positions n, powers of 2", least=2, most=4096, count=2)
    long = param(3000, "positions of the layer's scan", least=100, most=50_000)
    width = param(6, "channels", least=1, most=32)

    def conditions(self) -> list[tuple[bool, str]]:
        return [(all(n & (n - 1) == 0 for n in self.lengths), "each of `lengths` must be a power of 2")]

    def measure(self, rng: Generator) -> Checks:
        work, wrong = [], 0
        self.rounds: dict[str, list[int]] = {"Hillis-Steele": [], "Blelloch": []}
        for n in self.lengths:
            pairs = [(Fraction(int(p), 7), Fraction(int(q), 7)) for p, q in rng.integers(-6, 7, (n, 2))]
            z, loop = Fraction(0), []
            for a, b in pairs:
                z = a * z + b
                loop.append(z)
            scans = {"Hillis-Steele": hillis_steele(pairs, compose), "Blelloch": blelloch(pairs, compose, UNIT)}
            for name, (prefixes, rounds, _) in scans.items():
                wrong += sum(p[1] != z for p, z in zip(prefixes, loop, strict=True))
                self.rounds[name].append(rounds)
            work.append([scan[2] for scan in scans.values()])
        yield headline(equal("both scans in fractions: entries that differ from the loop", wrong, 0))
        size, log = np.array(self.lengths), np.log2(self.lengths).astype(int)
        yield equal("rounds: log₂ n and 2 log₂ n", np.array(list(self.rounds.values())), np.stack([log, 2 * log]))
        expected = np.stack([size * log - size + 1, 2 * (size - 1)], axis=1)
        yield equal("applications: n log₂ n - n + 1 and 2(n - 1)", np.array(work), expected)
        some = [(Fraction(int(p), 5), Fraction(int(q), 3)) for p, q in rng.integers(-9, 10, (300, 2))]
        triples = zip(some[::3], some[1::3], some[2::3], strict=True)
        same = [compose(compose(x, y), z) == compose(x, compose(y, z)) for x, y, z in triples]
        yield equal("triples of 100 with (x ∘ y) ∘ z = x ∘ (y ∘ z)", sum(same), 100)
        self.a, self.b = rng.uniform(-1, 1, (1, self.long, self.width)), rng.normal(size=(1, self.long, self.width))
        self.a[:, ::50], self.a[:, 25::50] = 0, 1e-300  # what breaks a quotient of cumulative products
        with Dispatched("addcmul") as operations:
            found = linear_scan(tensor(self.a), tensor(self.b)).numpy()
        yield close("`linear_scan` is the loop, a = 0 and 1e-300 included", found, walk(self.a, self.b), 1e-10)
        yield at_most("its operations that follow each other", operations.count, self.long / 2)
        layer, x = built(lambda: MinGRU(4, self.width), rng), normal(rng, 200, 4)
        yield close("minGRU: the scan is the loop over steps", layer(x[None])[0].numpy(), stepwise(layer, x), 1e-12)

    def control(self, rng: Generator) -> Checks:
        cell, x = built(lambda: GRU(4, self.width), rng), normal(rng, 1, 50, 4)
        wr, wu, wn = cell.input(x).chunk(3, -1)
        ur, uu, un = cell.hidden.bias.chunk(3, -1)  # gates and candidate as they are at z = 0
        u, new = (wu + uu).sigmoid(), (wn + (wr + ur).sigmoid() * un).tanh()
        check = close("GRU: a scan with the gates of z = 0", linear_scan(u, (1 - u) * new).numpy(), cell(x).numpy(), 1e-3)
        yield because("gates and candidate depend on z", check)
        items = [Fraction(int(k)) for k in rng.integers(1, 10, 8)]
        left, found = list(accumulate(items, lambda p, q: p - q)), hillis_steele(items, lambda p, q: p - q)[0]
        yield because("subtraction is not associative", equal("prefixes of x - y", found == left, True))
        n = 318
        a, b = np.full((1, n, 1), 0.1), np.full((1, n, 1), 1e-14)
        product = np.cumprod(a, axis=1)
        check = close("z_t = p_t Σ b_s/p_s, p = Π a", 1e14 * product * np.cumsum(b / product, axis=1), 1e14 * walk(a, b))
        yield because("products of all a are divided by each other, and have underflown", check)

    def plots(self) -> list[Panel]:
        panel = Panel("Rounds grow like log n", "positions n", "rounds that follow each other", log="xy")
        return [panel.series(self.lengths, self.rounds).control(self.lengths, self.lengths, "the loop")]


def walk(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    z, found = np.zeros_like(b[:, 0]), []
    for t in range(b.shape[1]):
        z = a[:, t] * z + b[:, t]
        found.append(z)
    return np.stack(found, axis=1)
