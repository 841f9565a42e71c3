from itertools import pairwise

from headway.lab.kit import Checks, Experiment, Generator, Panel, at_least, at_most, because, close, equal, headline, np, param
from headway.lab.pwl1d import pwl1d
from headway.lab.relu_net import ReluNet
from headway.lab.tools.gates import fewest_pieces, rival_error, shallow_square, square_net, sup_to_square
from headway.lab.tools.line_fits import best_uniform_line
from headway.lab.tools.tents import TENT_ON_UNIT


class SquareShallowVsDeep(Experiment):
    """To square up to ε one hidden layer needs about 1/√(8ε) units, a deep net 3⌈½ log₂(1/4ε)⌉.

    A line follows x² on an interval of length h no better than h²/8, and some piece of N is at least 1/N long, so

        N pieces: sup |f - x²| >= 1/(8N²)   hence   N >= 1/√(8ε),   and so N - 1 units or more in one layer.

    N chords at k/N, lowered by 1/(8N²), attain it with N units: equal pieces are the best because f'' is constant. The squaring net
    reaches 2^{-2m-2} <= ε with m = ⌈½ log₂(1/4ε)⌉ layers of 3 units (two for the tent, one for the sum). It is smaller from ε = 2^{-11} on.

    Notes: A, B. Source: Yarotsky 2017, section 3, https://arxiv.org/abs/1610.01145; Liang, Srikant 2017, https://arxiv.org/abs/1610.04161
    Assumes: x is in [0, 1]; units are ReLU; f'' is constant. Also: squaring: shallow versus deep; best piecewise linear parabola.
    """

    last = param(30, "the smallest error is 2^-last; all from 2^-4 on are counted", least=24, most=36, small=24)
    built = param(20, "one hidden layer is measured down to 2^-built, deep nets always", least=8, most=24, small=14)
    rivals = param(200, "other functions with N pieces, at random knots", least=10, most=2000, small=20)

    def measure(self, rng: Generator) -> Checks:
        self.e = np.arange(4, self.last + 1)
        epsilon, m = 2.0**-self.e, -((2 - self.e) // 2)  # ⌈(e - 2)/2⌉
        deep = {k: square_net(k, TENT_ON_UNIT) for k in range(1, int(m.max()) + 1)}
        grids = {k: np.arange(2 ** (k + 1) + 1) / 2 ** (k + 1) for k in deep}  # knots and middles: `yarotsky-square`
        errors = np.array([0.25, *(np.max(np.abs(net.at(grids[k]) - grids[k] ** 2)) for k, net in deep.items())])
        self.deep = np.array([deep[k].nodes for k in m.tolist()])
        yield at_most(f"deep: error of ⌈½ log₂(1/4ε)⌉ layers, ε = 2^-4 … 2^-{self.last}", errors[m], epsilon)
        yield at_least("deep: error of one layer fewer, over ε", errors[m - 1], np.nextafter(epsilon, 1))
        yield equal("deep: units are 3m", self.deep, 3 * m)
        self.N = np.array([fewest_pieces(e) for e in self.e.tolist()])
        N = self.N[self.e <= self.built]
        functions = {n: pwl1d(shallow_square(n)) for n in sorted({*N.tolist(), *(N[1:] - 1).tolist()})}
        error = {n: sup_to_square(f) for n, f in functions.items()}
        sizes = [[shallow_square(n).nodes, functions[n].pieces(0, 1)] for n in N.tolist()]
        yield equal("shallow: N units have N pieces", sizes, np.stack([N, N], axis=1))
        found, fewer = [error[n] for n in N.tolist()], [error[n - 1] for n in N[1:].tolist()]
        yield headline(at_most("shallow: error of N = ⌈1/√8ε⌉ pieces, ε", found, epsilon[: N.size], rounding=1e-9))
        yield at_least("shallow: error of N - 1 pieces, over ε", fewer, epsilon[1 : N.size] * (1 + 1e-9))
        lines = [best_uniform_line(np.square, a, a + h) / h**2 for a, h in rng.uniform(1e-3, 0.1, (12, 2))]
        yield close("best line on 12 intervals, by a linear program: error / h²", lines, 1 / 8, 1e-5)
        others = rng.integers(2, 33, self.rivals)
        found = [rival_error(n, rng) * 8 * n**2 for n in others.tolist()]
        yield at_least(f"error of {self.rivals} others with N pieces / (1/8N²)", found, 1.0)
        crossover = [int(self.e[self.deep >= units].max()) + 1 for units in (self.N, self.N - 1)]
        yield equal("the deep net is smaller than N from ε = 2^-11 on, than N - 1 from 2^-12 on", crossover, [11, 12])

    def examine(self, network: ReluNet, rng: Generator) -> Checks:
        f = pwl1d(network)
        N = f.pieces(0, 1)
        yield headline(at_least(f"error of your net with {N} pieces, 1/(8N²)", sup_to_square(f), 1 / (8 * N**2)))

    def control(self, rng: Generator) -> Checks:
        even, crowded = np.arange(9) / 8, (np.arange(9) / 8) ** 0.5  # x⁴ bends like 12x²: knots should crowd at 1
        worst = [max(best_uniform_line(lambda x: x**4, a, b) for a, b in pairwise(k)) for k in (even, crowded)]
        yield because("f'' varies", at_most("x⁴: error of 8 equal pieces, of 8 that crowd at 1", worst[0], worst[1]))
        far = abs(shallow_square(fewest_pieces(self.built)).at(2.0) - 4)
        yield because("x is not in [0, 1]", at_most("error of N pieces at 2, ε", far, 2.0**-self.built))

    def plots(self) -> list[Panel]:
        x, nets = np.linspace(0, 1, 601), {"3 pieces, lowered": shallow_square(3), "deep net, m = 2": square_net(2)}
        left = Panel("The best error goes up and down alike", "x", "100 (f - x²)")
        left.curve(x, {name: 100 * (net.at(x) - x * x) for name, net in nets.items()})
        left.level(100 / 72, "1/(8N²), N = 3").level(-100 / 72, "")
        right = Panel("Units for the error ε", "1/ε", "hidden units", log="xy").mark(2.0**11, "ε = 2⁻¹¹")
        right.series(2.0**self.e, {"one layer: N": self.N, "deep: 3m": self.deep})
        return [left, right.bound(2.0**self.e, np.sqrt(2.0**self.e / 8), "1/√(8ε)")]
