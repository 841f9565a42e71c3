from fractions import Fraction
from itertools import accumulate

from headway.lab.kit import Checks, Experiment, Generator, Panel, at_most, because, close, equal, headline, np, param
from headway.lab.tools.layers64 import Dispatched, built, normal, stepwise, tensor
from headway.lab.tools.scans import UNIT, blelloch, compose, hillis_steele, loop
from headway.layers.recurrences.gru import GRU
from headway.layers.recurrences.min_gru import MinGRU
from headway.layers.recurrences.scan import linear_scan


class PrefixScan(Experiment):
    """A linear recurrence is a scan of an associative operator, so it takes O(log n) rounds instead of n steps.

        z_t = a_t z_{t-1} + b_t        (a₂, b₂) ∘ (a₁, b₁) = (a₂a₁, a₂b₁ + b₂)

    Hillis and Steele: ⌈log₂ n⌉ rounds, n log₂ n - n + 1 applications (n a power of 2). Blelloch: 2⌈log₂ n⌉ rounds, 2(n - 1) applications.
    The gates of a minGRU depend on x_t only, so it is such a recurrence. Those of a GRU depend on z_{t-1}, and it is not.

    Notes: C. Source: Blelloch 1990; Martin and Cundy 2018, https://arxiv.org/abs/1709.04057
    Assumes: a_t and b_t do not depend on z; the operator is associative.
    Also: parallel scan; associative scan.
    """

    powers = param((3, 5, 7, 9), "log₂ n, for n positions", least=1, most=12, count=2)
    long = param(3000, "positions of the layer's scan", least=100, most=50_000)
    width = param(6, "channels", least=1, most=32)

    def measure(self, rng: Generator) -> Checks:
        log, counts, wrong = np.array(self.powers), [], 0
        self.lengths = size = 2**log
        for n in size:
            pairs = [(Fraction(int(p), 7), Fraction(int(q), 7)) for p, q in rng.integers(-6, 7, (n, 2))]
            scans, z = (hillis_steele(pairs, compose), blelloch(pairs, compose, UNIT)), loop(*np.array(pairs).T)
            wrong += sum(int(np.sum(np.array(prefixes)[:, 1] != z)) for prefixes, _, _ in scans)
            counts.append([scan[1:] for scan in scans])
        yield headline(equal("both scans in fractions: entries that differ from the loop", wrong, 0))
        rounds, work = np.moveaxis(np.array(counts), -1, 0)  # "n scan" each
        self.rounds = rounds.T
        yield equal("rounds: log₂ n and 2 log₂ n", rounds, np.stack([log, 2 * log], axis=1))
        yield equal("applications: n log₂ n - n + 1 and 2(n - 1)", work, np.stack([size * log - size + 1, 2 * (size - 1)], axis=1))
        some = [(Fraction(int(p), 5), Fraction(int(q), 3)) for p, q in rng.integers(-9, 10, (300, 2))]
        triples = zip(some[::3], some[1::3], some[2::3], strict=True)
        same = [compose(compose(x, y), z) == compose(x, compose(y, z)) for x, y, z in triples]
        yield equal("triples of 100 with (x ∘ y) ∘ z = x ∘ (y ∘ z)", sum(same), 100)
        a, b = rng.uniform(-1, 1, (self.long, self.width)), rng.normal(size=(self.long, self.width))
        a[::50], a[25::50] = 0, 1e-300  # what breaks a quotient of cumulative products
        with Dispatched("addcmul") as operations:
            found = linear_scan(tensor(a)[None], tensor(b)[None])[0].numpy()
        yield close("`linear_scan` is the loop, a = 0 and 1e-300 included", found, loop(a, b), 1e-10)
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
        a, b = np.full(318, 0.1), np.full(318, 1e-14)
        check = close("z_t = p_t Σ b_s/p_s, p = Π a", 1e14 * np.cumprod(a) * np.cumsum(b / np.cumprod(a)), 1e14 * loop(a, b))
        yield because("products of all a are divided by each other, and have underflown", check)

    def plots(self) -> list[Panel]:
        panel = Panel("Rounds grow like log n", "positions n", "rounds that follow each other", log="xy")
        panel.series(self.lengths, dict(zip(("Hillis-Steele", "Blelloch"), self.rounds, strict=True)))
        return [panel.control(self.lengths, self.lengths, "the loop")]
