"""How many Boolean functions one threshold unit computes."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from headway.core.config import require
from headway.lab import style
from headway.lab.checks import Check, at_least, at_most, equal, published
from headway.lab.classical.boolean_functions import by_weights, classes, codes, mcculloch_pitts, tables
from headway.lab.classical.cover_count import cover, separable
from headway.lab.classical.threshold_unit import cube
from headway.lab.old import Experiment

SEPARABLE = {1: 4, 2: 14, 3: 104, 4: 1882, 5: 94572}  # OEIS A000609
CLASSES = {1: 2, 2: 4, 3: 14, 4: 222}  # OEIS A000370: up to permuting and negating inputs and negating the output


@dataclass(frozen=True)
class Config:
    n: int = 4  # inputs up to which every symmetry class is decided
    programs: int = 3  # inputs up to which a linear program (HiGHS) decides; beyond, least squares with Gordan's certificate
    exhaustive: int = 3  # inputs up to which every function is tried, without symmetry
    weights: int = 5  # largest integer weight in the construction for five inputs

    def __post_init__(self) -> None:
        require((2 <= self.n <= 4, "n is 2 to 4 (five inputs have 2^32 functions)"), (2 <= self.exhaustive <= 4, "exhaustive is 2 to 4"))
        require((1 <= self.weights <= 9, "weights is 1 to 9"))


def feasible(f: np.ndarray, n: int) -> bool:
    """Linear program: is there (w, b) with y_i (wᵀx_i + b) >= 1 for y = 2f - 1?"""
    from scipy.optimize import linprog

    z = (2.0 * f - 1)[:, None] * np.hstack([cube(n), np.ones((2**n, 1))])
    return linprog(np.zeros(n + 1), -z, -np.ones(2**n), bounds=(None, None)).status == 0


def certified(f: np.ndarray, n: int) -> bool:
    """The same by a second way, faster and with a certificate either way (Gordan)."""
    return separable((2.0 * f - 1)[:, None] * np.hstack([cube(n), np.ones((2**n, 1))]))


class ThresholdFunctionCount(Experiment):
    """Of the 2^(2^n) Boolean functions a linear threshold unit computes 4, 14, 104, 1882, 94572 for n = 1 … 5.

    f is linearly separable if a linear program finds real (w, b) with

        y_i (wᵀx_i + b) >= 1     for all x_i ∈ {0, 1}^n,     y_i = 2 f(x_i) - 1.

    Units with all weights ±1 compute only 2 + n 2^n: 4, 10, 26, 66. At n = 2 the missing functions are XOR and XNOR. Cover's count for
    2^n points in general position in dimension n + 1 is 4, 14, 128, 3882: attained for n <= 2 only, since corners of a cube are not in
    general position. For n = 4 one function of each of the 222 symmetry classes is tried; for n = 5 all functions of integer weights up
    to 5 are built: a lower bound, which equals the published number.
    """

    lecture = "C, E"
    kinds = ("EXACT", "TABLE")
    cost = "M"
    source = (
        "Muroga 1971, Threshold Logic and Its Applications; https://oeis.org/A000609; Cover 1965, https://doi.org/10.1109/PGEC.1965.264137"
    )
    assumptions = ("real weights and a threshold", "inputs are 0 or 1")
    aliases = ("number of threshold functions", "linearly separable Boolean functions")
    panels = 1
    small = {"n": 3}
    full = {"programs": 4, "exhaustive": 4, "weights": 6}

    def measure(self, c: Config, rng: np.random.Generator) -> Iterator[Check]:
        self.separable, self.pitts = {}, {n: mcculloch_pitts(n).size for n in range(1, 6)}
        for n in range(1, c.n + 1):
            first, sizes = classes(n)
            yield equal(f"symmetry classes, n = {n}", first.size, CLASSES[n])
            good = np.array([feasible(f, n) if n <= c.programs else certified(f, n) for f in tables(n)[first]])
            self.separable[n] = int(sizes[good].sum())
            yield equal(f"separable, n = {n}", self.separable[n], SEPARABLE[n])
            yield at_most(f"Cover's count for general position, n = {n}", self.separable[n], cover(2**n, n + 1), kind="EXACT")
        yield equal("Cover's count is attained, n = 2", self.separable[2], cover(4, 3))
        for n in range(1, c.exhaustive + 1):
            every = np.array([certified(f, n) for f in tables(n)[: 2 ** (2**n) // 2]])
            yield equal(f"every function tried, n = {n}", 2 * int(every.sum()), SEPARABLE[n])
            if n == 2:
                missing = np.flatnonzero(~np.append(every, every[::-1]))
                yield equal("the functions missing at n = 2 are XOR and XNOR", missing, codes(np.array([[0, 1, 1, 0], [1, 0, 0, 1]])))
        for n, known in zip(range(1, 5), (4, 10, 26, 66), strict=True):
            yield equal(f"units with weights ±1, n = {n}", self.pitts[n], known)
        yield equal("2 + n 2^n of them, n = 5", self.pitts[5], 2 + 5 * 2**5)
        built = by_weights(5, c.weights)
        self.separable[5] = built.size
        yield published(f"built with integer weights up to {c.weights}, n = 5", built.size, SEPARABLE[5], 0)
        yield at_least("the ±1 units are among them, n = 5", int(np.isin(mcculloch_pitts(5), built).sum()), self.pitts[5], kind="EXACT")

    def control(self, c: Config, rng: np.random.Generator) -> Iterator[Check]:
        yield equal("a linear program separates XOR", feasible(np.array([0, 1, 1, 0]), 2), True)
        yield equal("corners of a cube as if in general position, n = 3", self.separable[3], cover(8, 4))
        yield equal("weights ±1 are enough for all separable functions, n = 2", self.pitts[2], SEPARABLE[2])
        yield equal("integer weights up to 4 are enough, n = 5", by_weights(5, 4).size, SEPARABLE[5])

    def plot(self, c: Config, axes: "style.Panels") -> None:
        n = range(1, 6)
        counts = {"all Boolean functions": [2 ** (2**k) for k in n], "Cover's count": [cover(2**k, k + 1) for k in n]}
        counts |= {"linearly separable": [self.separable.get(k, SEPARABLE[k]) for k in n], "weights ±1": [self.pitts[k] for k in n]}
        for i, (name, colour) in enumerate(zip(counts, (style.LINE, "none", style.BLUE, style.ORANGE), strict=True)):
            look = {"color": colour, "edgecolor": style.SOFT, "linewidth": 0.8, "linestyle": "--" if colour == "none" else "-"}
            bars = axes[0].bar(np.arange(1, 6) + 0.235 * (i - 1.5), counts[name], 0.22, **look, label=name)
            axes[0].bar_label(bars, [{412736: "4.1·10⁵", 2**32: "4.3·10⁹"}.get(v, str(v)) for v in counts[name]], padding=2, fontsize=7.5)
        axes[0].set(title="Few functions are linearly separable", xlabel="inputs n", ylabel="Boolean functions")
        axes[0].set(yscale="log", ylim=(1, 1e11))
        axes[0].legend(loc="upper left")
