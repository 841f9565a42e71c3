from headway.lab.kit import Checks, Experiment, Generator, Panel, at_most, because, close, headline, np, param, slope, vacuous
from headway.lab.tools.freudenthal import interpolant_net, interpolate, multilinear, tabulate
from headway.lab.tools.function_tree import FOLDED, KINDS, root, ternary, tree_errors

LIPSCHITZ, SECOND = max(k.lipschitz for k in KINDS), max(k.second for k in KINDS)


def size(gaps: np.ndarray) -> float:
    """The root of the mean square."""
    return float(np.sqrt(np.mean(gaps**2)))


class PoggioTree(Experiment):
    """A binary tree of smooth functions of two variables needs ε^{-2/m} parameters, whatever the number n of its variables.

    Let f be a tree of n - 1 constituents h: [0, 1]² -> [0, 1] with m = 2 bounded derivatives and the Lipschitz constant λ in the max
    norm. With interpolants on K×K Freudenthal triangles, which err by ε' = H/(8K²), H >= |h_aa| + 2|h_ab| + |h_bb|,

        error at a node <= ε' + λ max(errors below),     error at the root <= ε' (1 + λ + … + λ^{J-1}),     J = log₂ n,

    with (n - 1)(K + 1)² parameters, so the error falls like parameters^{-1}; a grid in n dimensions gives parameters^{-2/n}.
    The interpolant is Σ h(i/K, j/K) φ(Kx - (i, j)) with a ReLU net φ.

    Notes: B. Source: Poggio, Mhaskar, Rosasco, Miranda and Liao 2017, theorems 1 and 2, https://arxiv.org/abs/1611.00740
    Assumes: f is a binary tree, which is known; constituents have two bounded derivatives and values in [0, 1].
    Deviates: the rate is that of the root mean square error at random places, which is below the supremum; above it is the proved bound.
    Also: compositional functions; hierarchically local functions.
    """

    leaves = param((2, 4, 8, 16), "n, variables of the trees, powers of two", least=2, most=32, small=(4, 8))
    grids = param((8, 16, 32, 64, 128), "K of (K + 1)² values of each", least=4, most=256, count=4, small=(8, 16, 32, 64))
    points = param(4000, "random places where the errors are measured", least=300, most=50_000, small=500)

    def conditions(self) -> list[tuple[bool, str]]:
        powers = all(n & (n - 1) == 0 for n in self.leaves)
        return [(powers and {4, 8} <= {*self.leaves}, "`leaves` must be powers of two, 4 and 8 among them")]

    def measure(self, rng: Generator) -> Checks:
        self.K, self.error, self.count, self.grid, worst, nodes, same = np.array(self.grids), {}, {}, {}, {}, {}, {}
        for n in self.leaves:
            x = rng.random((self.points, n))
            found = zip(*[tree_errors(n, K, x) for K in self.grids], strict=True)
            self.count[n], gaps, nodes[n] = (np.array(column) for column in found)
            self.error[n], worst[n] = np.array([size(row) for row in gaps]), gaps.max(axis=1)
            if 4 <= n <= 8:
                some = x[: max(300, self.points // n**2)]
                sides = [max(1, int(p ** (1 / n) + 1e-9) - 1) for p in self.count[n]]  # with as many parameters
                self.grid[n] = [size(multilinear(root, K, some) - root(some)) for K in self.grids]
                same[n] = [size(multilinear(root, K, some) - root(some)) for K in sides]
        for n in self.leaves:
            rate = slope(f"tree of {n} variables: error in parameters", self.count[n], self.error[n], -1.0, 0.1)
            yield headline(rate) if n == max(self.leaves) else rate
        for n, errors in self.grid.items():
            yield slope(f"grid in {n} dimensions: error in parameters", (self.K + 1.0) ** n, errors, -2 / n, 0.2 / n)
        yield at_most("error of the tree, that of a grid with as many parameters", {n: self.error[n] for n in same}, same)
        yield at_most("error of any node / (ε' + λ max(errors below))", nodes, 1.0, rounding=1e-9)
        sums = {n: sum(LIPSCHITZ**j for j in range(n.bit_length() - 1)) for n in self.leaves}
        proved = {n: SECOND / (8 * self.K**2) * total for n, total in sums.items()}
        yield at_most("largest error found, ε'(1 + λ + … + λ^(J-1))", worst, proved)
        table, x = tabulate(KINDS[0].h, 4), rng.random((100, 2))
        yield close("a constituent, interpolated and as a ReLU net", interpolate(table, x), interpolant_net(table)(x)[:, 0])

    def control(self, rng: Generator) -> Checks:
        b, y = rng.uniform(0.15, 0.65, self.points), rng.random((self.points // 4, 9))
        ridge = np.stack([1.3 - 2 * b, b], axis=1)  # the exact value is 0 there
        rough = [size(interpolate(tabulate(FOLDED.h, K), ridge)) for K in self.grids]
        yield because("it has one derivative", slope("|a + 2b - 1.3|/1.7: error", (self.K + 1) ** 2, rough, -1.0, 0.1))
        gaps = [size(ternary(y, K) - ternary(y)) for K in self.grids]
        check = slope("9 variables in a ternary tree, as if ε^(-9/2)", 4 * (self.K + 1.0) ** 3, gaps, -2 / 9, 0.05)
        yield because("a tree that is not binary is no generic function", vacuous(check, "B12"))

    def plots(self) -> list[Panel]:
        left = Panel("Trees: the rate does not depend on n", "parameters", "root mean square error", log="xy")
        right = Panel("Grids: slope -2/n", "parameters", "root mean square error", log="xy")
        for n in self.leaves:
            left.series(self.count[n], self.error[n], f"tree, n = {n}")
        count, error = self.count[self.leaves[0]], self.error[self.leaves[0]]
        left.bound(count, 0.4 * error[0] * count[0] / count, "slope -1")
        for n, errors in self.grid.items():
            right.series((self.K + 1.0) ** n, errors, f"grid, n = {n}")
            right.series(self.count[n], self.error[n], f"tree, n = {n}")
        return [left, right]
