from headway.lab.kit import Checks, Experiment, Generator, Panel, at_least, at_most, because, headline, math, np, param, printed
from headway.lab.tools.crosstalk import bit_error, exact_bit_error, fixed
from headway.lab.tools.hopfield import biased, patterns


def marks(n: int) -> dict[str, int]:
    """Numbers s of patterns: those for all, the printed one, and those for most."""
    return {name: int(n / c / math.log(n)) for name, c in {"all": 4, "printed": 2 / math.log(2), "most": 2}.items()}


class HopfieldCapacityLog(Experiment):
    """Most patterns are exact fixed points up to n/(2 ln n), all of them up to n/(4 ln n).

    A pattern of n bits is fixed if none of its bits is unstable, so with P = ½ erfc √(n/2s) for one bit

        n P -> 0   for s <= n / (2 ln n)   (a given pattern),        n s P -> 0   for s <= n / (4 ln n)   (all s of them).

    The logarithm is the natural one: n/(2 log₂ n) = 0.347 n/ln n is too few for "most" and too many for "all" (at n = 1024 its 51 patterns
    are still all fixed in 84 % of the nets, at n = 10⁸ in none by the formula). Misses come in clusters: where they are not rare, all
    patterns are fixed more often than (1 - p)^{ns} (0.23 instead of 0.14 at n = 256, s = 23).

    Notes: C. Source: McEliece, Posner, Rodemich, Venkatesh 1987, https://doi.org/10.1109/TIT.1987.1057328
    Assumes: independent patterns of independent fair signs; w_ii = 0; large n, as at n/(2 ln n) the misses are still 1/√(4π ln n).
    Also: error-free Hopfield capacity; n over 2 log n.
    """

    cost = "M"
    sizes = param((256, 1024), "neurons n", least=200, most=2000, small=(256,))
    nets = param(200, "for each size, number of patterns and seed", least=60, most=1000, small=60)

    def measure(self, rng: Generator) -> Checks:
        self.found: dict[tuple[int, int], list[tuple[float, float]]] = {}
        n = 10.0 ** np.arange(2, 13)
        misses = np.array([n * bit_error(0.5 / np.log(n)), n * n / (4 * np.log(n)) * bit_error(0.25 / np.log(n))])
        yield at_most("n P and n s P fall, n = 10² … 10¹²", misses[:, 1:], misses[:, :-1], kind="EXACT")

    def sample(self, rng: Generator) -> Checks:
        """Standard errors: binomial for nets; for patterns those of the counts in independent nets, but at least the binomial one."""
        share, every, least, off = {}, {}, {}, {}
        for n, s in [(size, s) for size in self.sizes for s in marks(size).values()]:
            hits = np.array([fixed(patterns(s, n, rng)).sum() for _ in range(self.nets)])
            miss, root = exact_bit_error(s, n), math.sqrt(self.nets)
            p, q = (1 - miss) ** n, (1 - miss) ** (n * s)  # of a pattern and of all, if bits were independent
            share[n, s], every[n, s] = float(hits.mean()) / s, float(np.mean(hits == s))
            error = max(math.sqrt(p * (1 - p) / s), float(hits.std(ddof=1)) / s) / root
            least[n, s] = 1 - n * miss - 4 * error  # the union bound needs no independence
            if n * s * miss < 0.5:  # where misses are rare; less the step of a count
                off[n, s] = (abs(every[n, s] - q) - 1 / self.nets) / math.sqrt(q * (1 - q)) * root
            self.found.setdefault((n, s), []).append((share[n, s], every[n, s]))
        most, whole = {n: marks(n)["most"] for n in self.sizes}, {n: every[n, marks(n)["all"]] for n in self.sizes}
        fixed_at = {n: share[n, s] for n, s in most.items()}
        yield headline(at_least("patterns fixed at n/(2 ln n), by n", fixed_at, 0.85, kind="STAT"))
        yield headline(at_least("nets with all fixed at n/(4 ln n), by n", whole, 0.9, kind="STAT"))
        if n >= 1024:
            yield at_most("nets with all fixed at n/(2 ln n), largest n", every[n, most[n]], 0.5, kind="STAT")
        yield at_least("patterns fixed, against 1 - np, by (n, s)", share, least, kind="STAT")
        yield at_most("nets with all fixed off (1-p)^{ns}, in standard errors", off, 4, kind="STAT")

    def control(self, rng: Generator) -> Checks:
        n, large, s = self.sizes[-1], 10**8, marks(10**8)["printed"]
        most, few = marks(n)["most"], marks(n)["all"]
        share = np.mean(self.found[n, most], axis=0)[0]
        yield printed(at_most(f"above n/(2 log₂ n), s = {most}: fixed patterns are not most", share, 0.85), "C5")
        every = math.exp(-large * s * float(bit_error(s / large)))
        yield printed(at_least("n/(2 log₂ n) keeps all, n = 10⁸: P(all fixed) by the formula", every, 0.9), "C5")
        share = np.mean([fixed(patterns(2 * most, n, rng)) for _ in range(5)])
        yield because("s is n/ln n, twice too many", at_least("patterns fixed", share, 0.85, kind="STAT"))
        share = np.mean([fixed(biased(few, n, rng)) for _ in range(5)])
        yield because("70 % of the bits are +1", at_least("patterns fixed at n/(4 ln n)", share, 0.9, kind="STAT"))

    def plots(self) -> list[Panel]:
        n, places = max(self.sizes), marks(max(self.sizes))
        s = np.arange(places["all"] // 2, round(1.4 * places["most"]))
        stays = 1 - np.array([exact_bit_error(int(k), n) for k in s])
        panels = [Panel("A pattern is fixed", f"patterns s, n = {n}", "probability").bound(s, stays**n, "(1 - p)^n")]
        panels.append(Panel("All patterns of a net are fixed", f"patterns s, n = {n}", "probability"))
        panels[1].bound(s, stays ** (n * s), "(1 - p)^(ns)")
        for i, panel in enumerate(panels):
            at, share = np.array([(k, found[i]) for k in places.values() for found in self.found[n, k]]).T
            panel.points(at, share, "measured, each seed", size=24).limits(y=(-0.03, 1.12))
            for name, k in places.items():
                panel.mark(k, name)
        return panels
