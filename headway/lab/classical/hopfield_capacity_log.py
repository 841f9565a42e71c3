from headway.lab.kit import (
    Checks, Experiment, Generator, Panel, at_least, at_most, because, headline, math, np, param, printed,
)
from headway.lab.tools.crosstalk import bit_error, crosstalk, exact_bit_error, unstable
from headway.lab.tools.hopfield import patterns

LARGE = 10.0 ** np.arange(2, 13)


def marks(n: int) -> tuple[int, int, int]:
    """n/(4 ln n), the printed n/(2 log₂ n), and n/(2 ln n)."""
    return int(n / (4 * math.log(n))), int(n / (2 * math.log2(n))), int(n / (2 * math.log(n)))


def expected(s: int, n: int) -> tuple[float, float]:
    """P(a pattern is fixed) and P(all are), if bits were independent: (1 - p)^n and (1 - p)^{ns} with the exact p of one bit."""
    stays = math.log1p(-exact_bit_error(s, n))
    return math.exp(n * stays), math.exp(n * s * stays)


class HopfieldCapacityLog(Experiment):
    """Most patterns are exact fixed points up to n/(2 ln n), all of them up to n/(4 ln n).

    A pattern of n bits is fixed if none of its bits is unstable, so with P = ½ erfc √(n/2s) for one bit

        n P -> 0   for s <= n / (2 ln n)   (a given pattern),        n s P -> 0   for s <= n / (4 ln n)   (all s of them).

    The logarithm is the natural one. With log₂, n/(2 log₂ n) = 0.347 n/ln n lies between the two: too few for "most", too many for "all"
    (at n = 1024 its 51 patterns are still all fixed in 84 % of the nets; for n = 10⁸ the formula leaves no such net). Misses come in
    clusters: where they are not rare, all patterns are fixed more often than (1 - p)^{ns} (0.23 instead of 0.14 at n = 256, s = 23).

    Notes: C. Source: McEliece, Posner, Rodemich, Venkatesh 1987, https://doi.org/10.1109/TIT.1987.1057328
    Assumes: independent patterns of independent fair signs; w_ii = 0; large n, as at n/(2 ln n) the misses are still 1/√(4π ln n).
    Also: error-free Hopfield capacity; n over 2 log n.
    """

    cost = "M"
    sizes = param((256, 1024), "neurons n", least=200, most=2000, small=(256,))
    nets = param(200, "for each size, number of patterns and seed", least=60, most=1000, small=60)

    def measure(self, rng: Generator) -> Checks:
        self.found: dict[tuple[int, int], list[tuple[float, float]]] = {}
        one, every = LARGE / (2 * np.log(LARGE)), LARGE / (4 * np.log(LARGE))
        misses = {"n P": LARGE * bit_error(one / LARGE), "n s P": LARGE * every * bit_error(every / LARGE)}
        before, after = ({name: m[part] for name, m in misses.items()} for part in (slice(-1), slice(1, None)))
        yield at_most("expected misses fall, n = 10² … 10¹²", after, before, kind="EXACT")

    def sample(self, rng: Generator) -> Checks:
        """Standard errors: binomial for nets; for patterns those of the counts in independent nets, but at least the binomial one."""
        share, least, off = {}, {}, {}
        for n in self.sizes:
            for s in marks(n):
                sets = (patterns(s, n, rng) for _ in range(self.nets))
                fixed = np.array([np.sum(~unstable(x, crosstalk(x)).any(axis=1)) for x in sets])
                (p, q), key, all_ = expected(s, n), f"n = {n}, s = {s}", float(np.mean(fixed == s))
                share[key] = float(fixed.mean()) / s
                error = max(math.sqrt(p * (1 - p) / s), float(fixed.std(ddof=1)) / s) / math.sqrt(self.nets)
                least[key] = 1 - n * exact_bit_error(s, n) - 4 * error  # the union bound needs no independence
                if n * s * exact_bit_error(s, n) < 0.5:  # where misses are rare; less the step of a count
                    off[key] = (abs(all_ - q) - 1 / self.nets) / math.sqrt(q * (1 - q) / self.nets)
                self.found.setdefault((n, s), []).append((share[key], all_))
        most = {n: self.found[n, marks(n)[2]][-1][0] for n in self.sizes}
        whole = {n: [self.found[n, marks(n)[k]][-1][1] for k in (0, 2)] for n in self.sizes}
        yield headline(at_least("patterns fixed at n/(2 ln n), by n", most, 0.85, kind="STAT"))
        every = {n: shares[0] for n, shares in whole.items()}
        yield headline(at_least("nets with all fixed at n/(4 ln n), by n", every, 0.9, kind="STAT"))
        if max(self.sizes) >= 1024:
            yield at_most("nets with all fixed at n/(2 ln n), largest n", whole[max(self.sizes)][1], 0.5, kind="STAT")
        yield at_least("patterns fixed, against 1 - np", share, least, kind="STAT")
        yield at_most("nets with all fixed off (1-p)^{ns}, in standard errors", off, 4, kind="STAT")

    def control(self, rng: Generator) -> Checks:
        n = max(self.sizes)
        beyond, twice = marks(n)[2], 2 * marks(n)[2]
        share = float(np.mean([pair[0] for pair in self.found[n, beyond]]))
        yield printed(at_most(f"above n/(2 log₂ n), s = {beyond}: fixed patterns are not most", share, 0.85), "C5")
        s, large = marks(10**8)[1], 10**8
        every = math.exp(-large * s * float(bit_error(s / large)))
        yield printed(at_least("n/(2 log₂ n) keeps all, n = 10⁸: P(all fixed) by the formula", every, 0.9), "C5")
        sets = [patterns(twice, n, rng) for _ in range(5)]
        shares = np.mean([~unstable(x, crosstalk(x)).any(axis=1) for x in sets])
        yield because("s is n/ln n, twice too many", at_least("patterns fixed", shares, 0.85, kind="STAT"))
        biased = [np.where(rng.random((marks(n)[0], n)) < 0.7, 1, -1).astype(np.float32) for _ in range(5)]
        shares = np.mean([~unstable(x, crosstalk(x)).any(axis=1) for x in biased])
        yield because("70 % of the bits are +1", at_least("patterns fixed at n/(4 ln n)", shares, 0.9, kind="STAT"))

    def plots(self) -> list[Panel]:
        n = max(self.sizes)
        s, places = np.arange(marks(n)[0] // 2, 2 * marks(n)[2]), marks(n)
        theory, panels = np.array([expected(int(k), n) for k in s]), []
        titles = (("A pattern is fixed", "(1 - p)^n"), ("All patterns of a net are fixed", "(1 - p)^(ns)"))
        for i, (title, formula) in enumerate(titles):
            panel = Panel(title, f"patterns s, n = {n}", "probability").bound(s, theory[:, i], formula)
            shares = [pair[i] for k in places for pair in self.found[n, k]]
            panel.points(np.repeat(places, len(shares) // 3), shares, "measured, each seed", size=24)
            for k, name in zip(places, ("all", "printed", "most"), strict=True):
                panel.mark(k, name)
            panels.append(panel.limits(y=(-0.03, 1.05)))
        return panels
