from headway.lab.kit import (
    Checks, Experiment, Generator, Panel, at_least, at_most, because, headline, math, mean_is, monotone, np, param, printed,
)  # fmt: skip
from headway.lab.tools.maxima import expected_most, normal_maximum, student_maximum

SIZES = 10 ** np.arange(1, 10)  # K
LARGE = 3  # from here on K is at least 10⁴
TIPPETT = [1.53875, 2.50759, 3.24144]  # √n E max for K = 10, 100, 1000


class FiniteClassGap(Experiment):
    """The best of K hypotheses looks better than it is: its training error is too low by up to √(2 ln K / n) standard deviations of a loss.

    For K independent errors ε_i ~ N(0, 1/n) of an empirical risk, and for K classifiers that guess n labels,

        E max ε_i <= √(2 ln K / n),    their ratio -> 1,        E max (½ - L̂_i) <= √(ln K / (2n)),

    since exp(s E max) <= Σ E exp(s ε_i) = K exp(s²/2n) for every s; s = √(2n ln K) is best. A loss of 0 or 1 has a variance of at most ¼.
    The next order is √(2 ln K) - (ln ln K + ln 4π - 2γ) / (2√(2 ln K)), from Gumbel's law.

    Notes: E. Source: Boucheron, Lugosi and Massart 2013, section 2.5; Tippett 1925 (expected maxima), https://doi.org/10.1093/biomet/17.3-4.364
    Assumes: the errors are sub-Gaussian with variance 1/n; they are independent (for the ratio).
    Also: maximum of K noisy losses; selection bias.
    """

    n = param(100, "labels of a training set", least=10, most=400)
    K = param(300, "classifiers that guess", least=10, most=2500)
    draws = param(200, "training sets", least=100, most=1000, small=150)

    def guesses(self, K: int) -> float:
        """2√n E max (½ - L̂_i), exactly."""
        return (2 * expected_most(K, self.n, 0.5) - self.n) / self.n**0.5

    def measure(self, rng: Generator) -> Checks:
        self.first = first = np.sqrt(2 * np.log(SIZES))
        second = first - (np.log(np.log(SIZES)) + math.log(4 * math.pi) - 2 * np.euler_gamma) / (2 * first)
        self.normal, self.guess = (np.array([f(int(K)) for K in SIZES]) for f in (normal_maximum, self.guesses))
        yield headline(at_most("√n E max of K Gaussians, √(2 ln K)", self.normal, first))
        yield at_most("its difference from Tippett's table", np.abs(self.normal[:LARGE] - TIPPETT), 5e-6)
        yield monotone("E max / √(2 ln K)", self.normal / first, "rises")
        yield at_least("E max / √(2 ln K) for K >= 10⁴", (self.normal / first)[LARGE:], 0.85)
        yield at_most("relative error of the next order, K >= 10⁴", np.abs(second / self.normal - 1)[LARGE:], 0.02)
        yield at_most("2√n E gap of K guesses, √(2 ln K)", self.guess, first)

    def sample(self, rng: Generator) -> Checks:
        n, K = self.n, self.K
        yield mean_is("√n E max of K Gaussians, drawn", rng.normal(size=(self.draws, K)).max(axis=1), normal_maximum(K))
        seen, fresh = np.empty(self.draws), np.empty(self.draws)
        for i in range(self.draws):
            answers, labels = rng.integers(0, 2, (K, n), dtype=np.int8), rng.integers(0, 2, (2, n), dtype=np.int8)
            right = np.count_nonzero(answers == labels[0], axis=1)
            best = int(np.argmax(right))
            seen[i], fresh[i] = (2 * right[best] - n) / n**0.5, np.mean(answers[best] == labels[1])
        yield mean_is("2√n gap of the best guesser", seen, self.guesses(K))
        yield mean_is("its share of right answers on new labels", fresh, 0.5)

    def control(self, rng: Generator) -> Checks:
        yield printed(at_most("√n E max of K Gaussians, √(ln K)", self.normal, np.sqrt(np.log(SIZES))), "E5")
        self.heavy = np.array([student_maximum(int(K)) for K in SIZES])
        yield because("Student's t is not sub-Gaussian", at_most("√n E max of K of them", self.heavy, self.first))
        alike = at_least("E max / √(2 ln K), K >= 10⁴", (0.1**0.5 * self.normal / self.first)[LARGE:], 0.85)
        yield because("the errors share a part, so that any two have correlation 0.9 and only √0.1 of each is its own", alike)

    def plots(self) -> list[Panel]:
        panel = Panel("The best of K grows like √(2 ln K)", "hypotheses K", "√n E max", log="x")
        panel.bound(SIZES, self.first, "√(2 ln K)").series(SIZES, {"Gaussian": self.normal, f"guesses, n = {self.n}": self.guess})
        panel.control(SIZES, np.sqrt(np.log(SIZES)), "√(ln K), as printed")
        tail = Panel("With heavy tails, like a power of K", "hypotheses K", "√n E max", log="xy")
        return [panel, tail.bound(SIZES, self.first, "√(2 ln K)").control(SIZES, self.heavy, "Student's t")]
