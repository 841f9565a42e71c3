from headway.lab.kit import Checks, Experiment, Generator, Panel, at_most, because, equal, headline, np, param, printed, vacuous, within
from headway.lab.tools.crosstalk import bit_error, crosstalk, exact_bit_error, standard_errors, unstable, unstable_share
from headway.lab.tools.hopfield import biased, hebb, patterns

TABLE = {0.105: 0.001, 0.138: 0.0036, 0.185: 0.01, 0.37: 0.05, 0.61: 0.1}  # P by s/n: Hertz et al. 1991, Table 2.1


class HopfieldCrosstalk(Experiment):
    """A bit of one of s random patterns is unstable with probability ½ erfc √(n/2s).

    With W = (1/n) Σ_t x_t x_tᵀ and w_ii = 0 the field at bit i of pattern t is

        x_ti (W x_t)_i = (1 - 1/n) + x_ti C_ti,   C_ti = (1/n) Σ_{r≠t} Σ_{j≠i} x_ri x_rj x_tj,   Var C = (n-1)(s-1)/n²,

    and C is nearly N(0, s/n). The bit turns where -x_ti C_ti > 1 - 1/n, so with P = √(n/(2πs)) ∫_1^∞ exp(-nz²/2s) dz = ½ erfc √(n/2s).

    Notes: C. Source: Hertz, Krogh, Palmer 1991, Introduction to the Theory of Neural Computation, sec. 2.2; Hopfield 1982, https://doi.org/10.1073/pnas.79.8.2554
    Assumes: independent patterns of independent fair signs; w_ii = 0; one update from a stored pattern.
    Deviates: for finite n the exact binomial law of a bit is asked, and the formula only where the two agree within 10 %.
    Also: cross-talk between patterns; Hopfield bit error probability.
    """

    n = param(1000, "neurons", least=100, most=2000, small=300)
    ratios = param((0.1, 0.15, 0.2, 0.3, 0.45, 0.6), "patterns/neuron", least=0.05, most=1.0, small=(0.15, 0.3, 0.6))

    def conditions(self) -> list[tuple[bool, str]]:
        return [(max(self.ratios) >= 0.4, "a ratio must be 0.4 or more: near 1/2π the printed integral is right, too")]

    def measure(self, rng: Generator) -> Checks:
        self.found: list[tuple[float, float]] = []  # s/n and the share of unstable bits
        off = np.abs(bit_error(np.array([*TABLE])) / [*TABLE.values()] - 1)
        yield at_most("½ erfc √(n/2s) off the published table, relative", off, 0.02, kind="TABLE")
        self.x = patterns(round(self.ratios[-1] * self.n), self.n, rng)
        self.c = crosstalk(self.x)
        yield equal("n (1 - 1/n) + n x C, and n x Wx", self.c + (self.n - 1), self.x * (self.x @ hebb(self.x)))

    def sample(self, rng: Generator) -> Checks:
        near, spread, n, last = [], [], self.n, self.ratios[-1]
        for ratio in self.ratios:
            s, nets = round(ratio * n), min(12, max(1, round(0.6 * (last / ratio) ** 2)))
            (share, square), (error, square_error) = unstable_share(s, n, nets, rng), standard_errors(s, n, nets)
            p, gauss = exact_bit_error(s, n), float(bit_error(s / n))
            self.found.append((ratio, share))
            spread.append(abs(square - (n - 1) * (s - 1) / n**2) / square_error)
            if p * n * s * nets >= 10:
                row = within(f"share of unstable bits, s/n = {ratio:g}", share, p, error)
                yield headline(row) if ratio == last else row
            if 4 * error + abs(p - gauss) <= 0.1 * gauss:
                near.append(abs(share / gauss - 1))
        yield at_most("variance of C off (n-1)(s-1)/n², in standard errors", spread, 4, kind="STAT")
        if near:
            yield at_most("share off ½ erfc √(n/2s), relative", near, 0.1, kind="STAT")

    def control(self, rng: Generator) -> Checks:
        s, n = self.x.shape
        error, share = standard_errors(s, n, 1)[0], float(unstable(self.x, self.c).mean())
        integral = float(bit_error(s / n)) * (2 * np.pi * s / n) ** 0.5
        yield printed(within("unstable bits as ∫_1^∞ exp(-nz²/2s) dz", share, integral, error), "C4")
        large = within("bits that violate |C| < 1, as unstable bits", np.mean(np.abs(self.c) >= n - 1), share, error)
        yield because("|C| < 1 is more than is needed", vacuous(large, "C6"))
        x = biased(s, n, rng)
        wrong = float(unstable(x, crosstalk(x)).mean())
        yield because("70 % of the bits are +1", within("share of unstable bits", wrong, exact_bit_error(s, n), error))

    def plots(self) -> list[Panel]:
        a = np.linspace(self.ratios[0] * 0.9, self.ratios[-1] * 1.05, 300)
        left = Panel("Unstable bits follow the formula", "patterns per neuron s/n", "probability P", log="y")
        left.bound(a, bit_error(a), "½ erfc √(n/2s)").control(a, bit_error(a) * np.sqrt(2 * np.pi * a), "as printed")
        ratios, shares = np.transpose(self.found)
        left.points(ratios, shares, f"unstable bits, n = {self.n}", size=22)
        sd, z = ((self.n - 1) * (len(self.x) - 1)) ** 0.5 / self.n, np.linspace(-4, 4, 300)
        right = Panel(f"Crosstalk is Gaussian, s/n = {self.ratios[-1]:g}", "x C", "density")
        right.histogram(self.c / self.n, "measured", 60)
        right.bound(sd * z, np.exp(-(z**2) / 2) / (sd * (2 * np.pi) ** 0.5), "N(0, Var C)")
        return [left, right.mark(-1.0, "the bit turns left of -1").limits((-4 * sd, 4 * sd), (0, 0.5 / sd))]
