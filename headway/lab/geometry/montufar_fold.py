from headway.lab.kit import Checks, Experiment, Generator, Panel, at_least, at_most, because, equal, headline, math, np, param, printed
from headway.lab.relu_net import random_net
from headway.lab.tools.folding import folding_net
from headway.lab.tools.mosaic import mosaic
from headway.lab.tools.regions import Polygon, cells, most_regions, zaslavsky

SIZES = {(1, 3, 2): 13, (1, 4, 3): 82}  # (inputs, width, layers): regions of the folding net


class MontufarFold(Experiment):
    """A deep net that folds its input has ⌊m/n⌋^{n(L-1)} Σ_{j<=n} C(m, j) regions or more: exponential in the depth.

        max over weights of regions >= (∏_{ℓ<L} ⌊n_ℓ/n⌋^n) Σ_{j=0}^{n} C(n_L, j)

    With p = ⌊m/n⌋ units for each coordinate a layer maps p^n small cubes onto the whole one, so whatever the next
    layers draw in the cube appears p^n times in its input. One layer with as many units has only Σ C(mL, j) regions, a
    polynomial. The earlier bound of Pascanu, Montúfar and Bengio has the exponent L - 1 in the place of n(L - 1).

    Notes: B, C. Source: Montúfar, Pascanu, Cho and Bengio 2014, https://arxiv.org/abs/1402.1869
    Assumes: the weights are chosen; m >= 2n.
    Also: folding networks; lower bound on linear regions.
    """

    cost = "M"
    m = param(4, "units in each hidden layer of the nets with two inputs", least=4, most=8)
    depth = param(3, "the largest number L of their hidden layers", least=2, most=4, small=2)

    def conditions(self) -> list[tuple[bool, str]]:
        return [(self.bound(2, self.m, self.depth) <= 3000, "there are too many regions to list: `m` or `depth` must be smaller")]

    def bound(self, n: int, m: int, layers: int) -> int:
        return (m // n) ** (n * (layers - 1)) * zaslavsky(n, m)

    def measure(self, rng: Generator) -> Checks:
        self.sizes = [(2, self.m, L) for L in range(1, self.depth + 1)]
        sizes = list(dict.fromkeys([*SIZES, *self.sizes, (2, 6, 2)]))
        found = {size: len(cells(folding_net(*size, rng))) for size in sizes}
        self.counts = [found[size] for size in self.sizes]
        yield headline(at_least("regions of folding nets (n, m, L)", found, [self.bound(*size) for size in sizes]))
        yield at_most("∏ Σ C(m, j), the most there can be", found, [most_regions(n, (m,) * L) for n, m, L in sizes])
        one = np.array([found[size] for size in SIZES])
        yield equal("one input: 12 or 80, and those beside [0, 1]", one, list(SIZES.values()))
        deep = {size: count for size, count in found.items() if size[2] > 1}
        yield at_least("more than any net of one layer with mL units, L >= 2", deep, [zaslavsky(n, m * L) + 1 for n, m, L in deep])
        inside = len(cells(folding_net(2, self.m, 2, rng), Polygon.square(0, 1)))
        yield equal("inside the square: exactly ⌊m/2⌋² Σ C(m, j), L = 2", inside, self.bound(2, self.m, 2))
        self.shown = cells(folding_net(2, self.m, min(self.depth, 3), rng), Polygon.square(-0.1, 1.1))

    def control(self, rng: Generator) -> Checks:
        self.random = [len(cells(random_net([2, *[self.m] * L, 1], rng))) for _, _, L in self.sizes]
        n, m, L = 2, self.m, max(self.depth, 3)
        count = len(cells(random_net([n, *[m] * L, 1], rng)))
        yield because("the weights are random", at_least(f"regions of a random net, m = {m}, L = {L}", count, self.bound(n, m, L)))
        promised = math.prod(k ** min(n, k / 2) for k in (n, *[m] * L))
        most = most_regions(n, (m,) * L)
        yield printed(at_least(f"the most regions there can be, of those promised, m = {m}, L = {L}", most, promised), "B2")

    def plots(self) -> list[Panel]:
        left = mosaic("The square is folded onto itself", self.shown)
        x = [L for _, _, L in self.sizes]
        right = Panel("Depth multiplies", "hidden layers L", "regions", log="y").series(x, self.counts, "folding")
        right.bound(x, [self.bound(*size) for size in self.sizes], "lower bound")
        right.bound(x, [most_regions(2, (self.m,) * L) for L in x], "upper bound").control(x, self.random, "random net")
        right.series(x, [zaslavsky(2, self.m * L) for L in x], "one layer, mL units")
        return [left, right.ticks(x={float(L): str(L) for L in x})]
