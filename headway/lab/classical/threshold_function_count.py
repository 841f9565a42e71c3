from typing import Any

from headway.lab import style
from headway.lab.kit import Checks, Experiment, Generator, Panel, at_most, because, equal, headline, np, param
from headway.lab.tools.bits import codes, cube, tables
from headway.lab.tools.boolean_functions import by_signs, by_weights, classes
from headway.lab.tools.dichotomies import cover
from headway.lab.tools.programs import augmented, feasible, separable

SEPARABLE = {1: 4, 2: 14, 3: 104, 4: 1882, 5: 94572}  # OEIS A000609
CLASSES = {1: 2, 2: 4, 3: 14, 4: 222}  # OEIS A000370: up to permuting and negating inputs and negating the output


class ThresholdFunctionCount(Experiment):
    """Of the 2^(2^n) Boolean functions a linear threshold unit computes 4, 14, 104, 1882, 94572 for n = 1 … 5.

    f is linearly separable if a linear program finds real (w, b) with

        y_i (wᵀx_i + b) >= 1     for all x_i ∈ {0, 1}^n,     y_i = 2 f(x_i) - 1.

    Units with all weights ±1 compute only 2 + n 2^n: 4, 10, 26, 66. At n = 2 the missing functions are XOR and XNOR. Cover's count for 2^n
    points in dimension n + 1 is 4, 14, 128, 3882: attained for n <= 2 only, since corners of a cube are not in general position. One
    function of each symmetry class is tried; for n = 5 all functions of integer weights up to 5, a lower bound equal to the known number.

    Notes: C, E. Source: Muroga 1971, Threshold Logic and Its Applications; https://oeis.org/A000609
    Assumes: real weights and a threshold; n inputs 0 or 1 alone. Also: number of threshold functions; linearly separable Boolean functions.
    """

    cost = "M"
    n = param(4, "inputs up to which every symmetry class is decided", least=3, most=4, small=3)
    exhaustive = param(3, "inputs up to which every function is tried, without symmetry", least=2, most=4, full=4)
    weights = param(5, "largest integer weight in the construction for five inputs", least=5, most=7, full=6)

    def measure(self, rng: Generator) -> Checks:
        known, kinds = np.array([*SEPARABLE.values()]), {n: classes(n) for n in range(1, self.n + 1)}
        self.count = np.zeros(self.n, dtype=int)
        for n, (first, members) in kinds.items():
            found = [feasible(augmented(cube(n), f), np.ones(2**n)) is not None for f in tables(n)[first]]
            self.count[n - 1] = members[found].sum()
        yield headline(equal(f"separable functions of 1 … {self.n} inputs, by programs", self.count, known[: self.n]))
        sizes = [len(first) for first, _ in kinds.values()]
        yield equal("symmetry classes that were tried", sizes, np.array([*CLASSES.values()])[: self.n])
        tried = [[separable(augmented(cube(n), f)) for f in tables(n)] for n in range(1, self.exhaustive + 1)]
        yield equal(f"every function tried, 1 … {self.exhaustive} inputs", [*map(sum, tried)], known[: len(tried)])
        missing, xor = np.flatnonzero(~np.array(tried[1])), codes(np.array([[0, 1, 1, 0], [1, 0, 0, 1]]))
        yield equal("the functions missing at n = 2 are XOR and XNOR", missing, xor)
        yield at_most("Cover's count, general position", self.count, [cover(2**n, n + 1) for n in kinds], kind="EXACT")
        self.signs = [by_signs(n).size for n in range(1, 6)]
        yield equal("weights ±1: 2 + n 2^n functions, n = 1 … 5", self.signs, np.array([4, 10, 26, 66, 162]))
        built = by_weights(5, self.weights).size
        yield equal(f"built with integer weights up to {self.weights}, n = 5", built, SEPARABLE[5])

    def control(self, rng: Generator) -> Checks:
        found = sum(separable(augmented(np.column_stack([cube(2), cube(2).prod(axis=1)]), f)) for f in tables(2))
        yield because("the unit also sees x₁x₂", equal("separable functions of 2 inputs", found, SEPARABLE[2]))
        yield because("weights are ±1", equal("functions of 2 inputs", self.signs[1], SEPARABLE[2]))
        yield because("weights are integers up to 4", equal("functions of 5 inputs", by_weights(5, 4).size, SEPARABLE[5]))
        general = equal("separable functions of 3 inputs, by Cover's count", self.count[2], cover(8, 4))
        yield because("corners of a cube are not in general position", general)

    def plots(self) -> list[Panel]:
        n, colours = range(1, 6), (style.LINE, "none", style.BLUE, style.ORANGE)
        counts = {"all": [2 ** (2**k) for k in n], "Cover's count": [cover(2**k, k + 1) for k in n]}
        counts |= {"linearly separable": [*SEPARABLE.values()], "weights ±1": self.signs}

        def draw(axes: Any) -> None:
            for i, (name, values) in enumerate(counts.items()):
                at = np.array(n) + 0.235 * (i - 1.5)
                bars = axes.bar(at, values, 0.22, color=colours[i], edgecolor=style.SOFT, label=name)
                texts = [{412736: "4·10⁵", 2**32: "4·10⁹"}.get(v, str(v)) for v in values]
                axes.bar_label(bars, texts, padding=2, fontsize=7.5)

        panel = Panel("Few functions are linearly separable", "inputs n", "Boolean functions", log="y")
        return [panel.custom(draw).limits(y=(1, 3e10))]
