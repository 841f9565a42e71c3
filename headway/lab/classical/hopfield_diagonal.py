from scipy.special import ndtr

from headway.lab import style
from headway.lab.kit import Checks, Experiment, Generator, Panel, at_most, because, close, equal, headline, np, param, printed, published
from headway.lab.tools.hopfield import biased, hebb, patterns, recall, stable_shares

NOISE = (0.05, 0.15, 0.25, 0.35, 0.45)  # shares of flipped bits that recall starts from


def theory(a: np.ndarray) -> dict[str, np.ndarray]:
    """The shares of stable bits, in the order of `stable_shares`."""
    found = {"stored, w_ii = s/n": ndtr((1 + a) / np.sqrt(a)), "random, w_ii = s/n": ndtr(np.sqrt(a))}
    return found | {"stored, w_ii = 0": ndtr(1 / np.sqrt(a)), "random, w_ii = 0": np.full_like(a, 0.5)}


class HopfieldDiagonal(Experiment):
    """With self-coupling w_ii = s/n every state looks stable, stored or not, and recall from 15 % noise does not improve.

    Hebb's rule gives w_ii = s/n, which adds (s/n) x_i to the field of each bit. The share of stable bits at α = s/n is then

        stored pattern: Φ((1+α)/√α), least at α = 1 (0.977),      random state: Φ(√α) -> 1,

    while with w_ii = 0 it is Φ(1/√α) and ½: only without the diagonal does stability say that something was stored. Recall at α = 0.1 is
    not better with it from 15 % noise, worse from 25 % (n = 400, by 0.09 ± 0.02) and better from 5 % (n = 200, by 0.03 ± 0.01).

    Notes: C. Source: Folli, Leonetti, Ruocco 2017, https://doi.org/10.3389/fncom.2016.00144; Hopfield 1982, https://doi.org/10.1073/pnas.79.8.2554
    Assumes: independent patterns of independent fair signs; large n, for the Gaussian crosstalk; stability as evidence: w_ii = 0.
    Also: self-coupling in Hopfield networks; zero diagonal.
    """

    n = param(200, "neurons", least=150, most=400)
    ratios = param((0.1, 0.5, 2.0, 5.0), "patterns for each neuron α = s/n", least=0.05, most=10.0, small=(0.1, 2.0))
    nets = param(20, "for each ratio and seed, with 40 stored and 40 random states each", least=20, most=200)
    recalls = param(8, "nets whose patterns are recalled, α = 0.1", least=2, most=40, small=2)

    def measure(self, rng: Generator) -> Checks:
        self.runs: list[tuple[np.ndarray, np.ndarray]] = []  # shares of stable bits, and of patterns recalled
        a = np.exp(np.linspace(-3, 3, 2001))
        stored = theory(a)["stored, w_ii = s/n"]
        yield published("least share of a stored pattern, w_ii = s/n", stored.min(), 0.977, 5e-4)
        yield close("the α of that", a[stored.argmin()], 1.0)

    def sample(self, rng: Generator) -> Checks:
        """A random state's share scatters by 0.053 (n = 200; half of it the common σᵀWσ), so 800 of them by 0.0019: 0.01 is 5 of those."""
        found = np.array([stable_shares(round(a * self.n), self.n, self.nets, rng) for a in self.ratios])
        expected = theory(np.array(self.ratios))
        off = {name: np.abs(row - expected[name]) for name, row in zip(expected, found.T, strict=True)}
        yield headline(at_most("share of stable bits off its formula", off, 0.01, kind="STAT"))
        right = (recall(self.n, self.recalls, NOISE, rng) == 1).astype(float)
        gain = right[1, 1] - right[0, 1]  # for each pattern; where no pattern differs, one of them is the resolution
        error = max(float(gain.std(ddof=1)) / gain.size**0.5, 1 / gain.size)
        yield at_most("exact recall from 15 % noise, gain by the diagonal", float(gain.mean()), 4 * error, kind="STAT")
        self.runs.append((found, right.mean(axis=2)))

    def control(self, rng: Generator) -> Checks:
        x = patterns(self.n // 10, self.n, rng)
        yield printed(equal("w_ii = 0 with W = (1/n) Σ x xᵀ", float((x.T @ x)[0, 0]) / self.n, 0.0), "C3")
        share = stable_shares(2 * self.n, self.n, 5, rng)[1]
        yield because("w_ii = s/n", at_most("stable bits of random states, α = 2", share, 0.6, kind="STAT"))
        x = biased(self.n, self.n, rng)
        off = np.abs(np.mean((x @ hebb(x) < 0) == (x < 0)) - ndtr(1))
        yield because("70 % of the bits are +1", at_most("share off its formula, α = 1", off, 0.01, kind="STAT"))

    def plots(self) -> list[Panel]:
        a = np.geomspace(min(self.ratios) / 1.3, max(self.ratios) * 1.3, 200)
        left = Panel("With w_ii = s/n all states are stable", "patterns per neuron α", "share of stable bits", log="x")
        left.curve(a, theory(a))
        found, (without, with_) = (np.mean(each, axis=0) for each in zip(*self.runs, strict=True))
        for column, colour in zip(found.T, style.SERIES, strict=False):
            left.points(self.ratios, column, colour=colour, size=24)
        right = Panel("… and recall from 15 % no better", "flipped bits at first (%), α = 0.1", "recalled exactly (%)")
        return [left, right.series(100 * np.array(NOISE), {"w_ii = 0": 100 * without, "w_ii = s/n": 100 * with_})]
