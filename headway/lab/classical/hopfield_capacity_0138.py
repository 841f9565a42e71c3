from headway.lab.kit import Checks, Experiment, Generator, Panel, at_least, at_most, because, headline, np, param, table, within
from headway.lab.tools.hopfield import STARTS, hebb, limit, overlaps, patterns, settle

MEASURED = {  # m of 64 other nets of 400 neurons, and its standard error, by α
    0.12: (0.9898, 0.0014), 0.138: (0.9637, 0.0034), 0.15: (0.9236, 0.0053), 0.16: (0.8781, 0.0057),
    0.17: (0.8105, 0.0091), 0.18: (0.7362, 0.0108), 0.2: (0.5868, 0.0095), 0.25: (0.4001, 0.0051),
}  # fmt: skip


class HopfieldCapacity0138(Experiment):
    """Below α = s/n = 0.138 a Hopfield net stays near its pattern; above, a few errors make more until little is left.

    Started at a pattern x and run, one neuron at a time, until nothing changes, the overlap m = (1/n) x·x_final is for n -> ∞

        m = erf y   where   y (√(2α) + (2/√π) exp(-y²)) = erf y,

    which has a solution y > 0 up to α_c = 0.138 only; there m = 0.967. In small nets the step is a slope: below α_c a small net is worse
    than the limit, above it is better than a large one, so the slopes cross in between.

    Notes: C. Source: Amit, Gutfreund, Sompolinsky 1985, https://doi.org/10.1103/PhysRevLett.55.1530
    Assumes: independent patterns of independent fair signs; α < 0.138; updates until nothing changes; the start is the pattern.
    Deviates: n = 400 still has m = 0.74 ± 0.01 at α = 0.18, so m <= 0.75 is asked of it from 0.2 on, of 800 from 0.18 on; its values are
    compared with those of 64 other nets, as a few nets scatter by 0.05. Also: Hopfield storage capacity; avalanche of errors.
    """

    cost = "M"
    sizes = param((200, 400, 800), "neurons n", least=200, most=1000, count=2, small=(200, 400))
    nets = param(256, "of 200 neurons; of n neurons (200/n)^2.5 of that", least=200, most=1000)
    ratios = param((0.05, 0.1, 0.138, 0.15, 0.17, 0.18, 0.25), "patterns per neuron α, besides 0.12, 0.16 and 0.2",
                   least=0.02, most=0.4, small=(0.05,))  # fmt: skip

    def conditions(self) -> list[tuple[bool, str]]:
        return [(min(self.sizes) <= 250 and max(self.sizes) >= 400, "sizes must go from 250 or less to 400 or more")]

    def measure(self, rng: Generator) -> Checks:
        self.a, (alphas, limits) = np.array(sorted({*self.ratios, 0.12, 0.16, 0.2})), limit()  # α_c is the first
        yield from table({"α_c": 0.138, "m": 0.967}, {"α_c": alphas[0], "m": limits[0]}, 5e-4, "{} of the equation, n → ∞")
        found = {n: overlaps(n, self.a, round(self.nets * (200 / n) ** 2.5), rng) for n in sorted(self.sizes)}
        self.m = {n: m.mean(axis=0) for n, m in found.items()}
        self.error = {n: m.std(axis=0, ddof=1) / np.sqrt(len(m)) for n, m in found.items()}  # of independent nets
        low = {n: m[self.a <= 0.12] for n, m in self.m.items()}
        yield headline(at_least("m at α <= 0.12, every size", low, 0.95, kind="STAT"))
        lost = {n: m[self.a >= (0.18 if n >= 800 else 0.2)].max() for n, m in self.m.items() if n >= 400}
        yield headline(at_most("m at α >= 0.2, and from 0.18 on for n >= 800", lost, 0.75, kind="STAT"))
        n, large, best = min(found), max(found), float(np.interp(-0.12, -alphas, limits))
        below, above = np.searchsorted(self.a, [0.12, 0.16])
        error = self.error[large][below] + 2 / large  # with an allowance for the finite size
        yield within(f"m at α = 0.12, n = {large}, against n → ∞", self.m[large][below], best, error)
        cross = {f"α = 0.12: n → ∞ above n = {n}": (best - self.m[n][below]) / self.error[n][below]}
        error = np.hypot(self.error[n], self.error[large])[above]
        cross[f"α = 0.16: n = {n} above n = {large}"] = (self.m[n] - self.m[large])[above] / error
        yield at_least("the slopes cross between 0.12 and 0.16, in standard errors", cross, 1, kind="STAT")
        if 400 in found:
            known = [(*MEASURED[a], i) for i, a in enumerate(self.a) if a in MEASURED]
            away = [abs(self.m[400][i] - m) / np.hypot(self.error[400][i], error) for m, error, i in known]
            yield at_most("n = 400: m off 64 other nets, in standard errors", away, 4, kind="TABLE")

    def sample(self, rng: Generator) -> Checks:
        """Two nets of 400 neurons: what a person sees who tries it once."""
        m = overlaps(400, (0.1, 0.25), 2, rng).mean(axis=0)
        yield at_least("two nets, n = 400: m at α = 0.1", m[0], 0.95, kind="STAT")
        yield at_most("two nets, n = 400: m at α = 0.25", m[1], 0.75, kind="STAT")

    def control(self, rng: Generator) -> Checks:
        n = self.sizes[-1]
        yield because(f"α is {self.a[-1]:g}", at_least(f"m, n = {n}", self.m[n][-1], 0.95, kind="STAT"))
        x = patterns(round(0.2 * n), n, rng)
        m = np.mean(np.where(x[:STARTS] @ hebb(x) < 0, -1, 1) * x[:STARTS])
        yield because("there is one update only", at_most(f"m at α = 0.2, n = {n}", m, 0.75, kind="STAT"))
        x = patterns(round(0.05 * n), n, rng)
        end = settle(hebb(x)[None], np.zeros(STARTS, dtype=int), patterns(STARTS, n, rng), rng)
        yield because("the start is random", at_least("m at α = 0.05", np.mean(np.abs(end @ x[0]) / n), 0.95, kind="STAT"))

    def plots(self) -> list[Panel]:
        left = Panel("The overlap collapses beyond 0.138", "patterns per neuron α", "final overlap m")
        left.bound(*limit(), "n → ∞").series(self.a, {f"n = {n}": m for n, m in self.m.items()})
        small, *larger = self.m
        right = Panel("Above it, larger nets lose more", "patterns per neuron α", f"m less m of n = {small}")
        for n in larger:
            less, error = self.m[n] - self.m[small], 2 * np.hypot(self.error[n], self.error[small])
            right.band(self.a, less - error, less + error, "" if n > larger[0] else "± 2 standard errors")
            right.series(self.a, less, f"n = {n}")
        return [left.limits(y=(0, 1.05)).mark(0.138, "0.138"), right.mark(0.138, "0.138")]
