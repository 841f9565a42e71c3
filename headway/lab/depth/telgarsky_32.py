from fractions import Fraction

from headway.lab.kit import Checks, Experiment, Generator, Panel, at_least, at_most, because, equal, headline, np, param, published, vacuous
from headway.lab.pwl1d import constant, l1_distance, pwl1d
from headway.lab.relu_net import ReluNet
from headway.lab.tools.adam_fits import adam_fits, bent_net
from headway.lab.tools.line_fits import best_fit, best_lines
from headway.lab.tools.tents import low_tent, shallow_teeth, some_teeth, teeth


def certificate(L: int) -> Fraction:
    """(2^{p-1} - 1 - N) 2^{-p-2}, p = L² + 2, N = ⌊(2·2^L / L)^L⌋: what the counting argument proves."""
    p, N = L * L + 2, (2 * 2**L) ** L // L**L
    return Fraction(2 ** (p - 1) - 1 - N, 2 ** (p + 2))


class Telgarsky32(Experiment):
    """A net with about 3L² nodes is further than 1/32 in L1 from every net with L layers and 2^L nodes.

    For L >= 2 let f = Δ^p, the tent map applied p = L² + 2 times (3L² + 6 nodes). For every ReLU net g of at most L layers and 2^L nodes

        ∫_0^1 |f - g| dx >= 1/32.

    Counting: f crosses ½ every 2^{-p}, which leaves 2^p - 1 triangles of area 2^{-p-2}, by turns above and below ½. A g with N pieces
    changes sides at most N times, so it misses at least 2^{p-1} - 1 - N of them, and N <= (2·2^L / L)^L <= 2^{L²} = 2^{p-2}.

    Notes: A. Source: Telgarsky 2015, https://arxiv.org/abs/1509.08101; Telgarsky 2016, https://arxiv.org/abs/1602.04485
    Assumes: L >= 2; g is a ReLU net; at most L layers and 2^L nodes; p = L² + 2. Also: Telgarsky's depth separation; benefits of depth.
    """

    cost = "M"
    L = param(2, "hidden layers of the shallow nets; f is the tent map applied L² + 2 times", least=2, most=3)
    largest = param(5, "the counting bound is computed for L = 2 … largest", least=2, most=40, small=3)
    restarts = param(20, "nets of each shape that are trained", least=2, most=100, small=4)

    def measure(self, rng: Generator) -> Checks:
        L, p = self.L, self.L**2 + 2
        counted = {f"L = {k}": certificate(k) for k in range(2, self.largest + 1)}
        yield headline(at_least(f"the least L1 error that counting proves, L = 2 … {self.largest}", counted, 1 / 32))
        self.f = f = pwl1d(teeth(p)).simplified()
        yield equal("nodes of f", teeth(p).nodes, 3 * L**2 + 6)
        yield at_most("layers of f, 2L² + 4", teeth(p).depth, 2 * L**2 + 4, kind="EXACT")
        yield equal("f crosses ½ so often", f.crossings(0.5, 0, 1), 2**p)
        yield equal("area between f and ½", l1_distance(f, constant(0.5)), 0.25)
        nets = {}
        for shape in ((2**L,), (2,) * L):
            starts = [bent_net(shape, rng) for _ in range(self.restarts)]
            nets[" + ".join(map(str, shape)) + " units"] = [pwl1d(net) for net in adam_fits(f, starts, rng)]
        near = [some_teeth(p, j, 15) for j in rng.integers(0, 2**p - 14, self.restarts).tolist()]
        nets["15 units"] = [pwl1d(net) for net in adam_fits(f, near, rng, rate=0.003)]
        self.found = {name: [l1_distance(f, g) for g in every] for name, every in nets.items()}
        most = [g.pieces(0, 1) for every in nets.values() for g in every]
        yield at_most("pieces of the trained nets, 2^(L²)", most, 2 ** (L**2), kind="EXACT")
        yield at_least(f"L1 error of {len(most)} nets trained by Adam", self.found, 1 / 32)
        self.best = best_fit(*best_lines(f), 64) if L == 2 else None
        if self.best:
            yield at_least("L1 error of the best 16 lines on a 1/128 grid, jumps allowed", self.best[0][15], 1 / 32)
            yield published("the best 16 lines", self.best[0][15], 0.1914, 5e-4)

    def examine(self, network: ReluNet, rng: Generator) -> Checks:
        yield at_most("layers of your net", len(network.widths), self.L)
        yield at_most("nodes of your net", network.nodes, 2**self.L)
        self.f = pwl1d(teeth(self.L**2 + 2)).simplified()
        yield headline(at_least("L1 distance of your net", l1_distance(self.f, pwl1d(network)), 1 / 32))

    def control(self, rng: Generator) -> Checks:
        p, height, tent = self.L**2 + 2, 1 - 2.0 ** (-self.L**2 - 6), pwl1d(teeth(1)).simplified()
        error = l1_distance(self.f, pwl1d(teeth(p, low_tent(height))))
        yield because(f"it has {p} hidden layers", at_least(f"L1 error of tents {height:.5g} high", error, 1 / 32))
        error = l1_distance(self.f, pwl1d(shallow_teeth(p, 2**p - 1)))
        yield because(f"it has {2**p - 1} nodes", at_least("L1 error of all teeth but the last", error, 1 / 32))
        trained = adam_fits(tent, [bent_net((2**self.L,), rng) for _ in range(8)], rng)
        error = min(l1_distance(tent, pwl1d(net)) for net in trained)
        yield because("p is 1", at_least(f"L1 error of the best of 8 nets of {2**self.L} units", error, 1 / 32))
        yield vacuous(because("L is 1", at_least("the L1 error that counting proves", certificate(1), 1 / 32)), "A10")

    def plots(self) -> list[Panel]:
        x = np.linspace(0, 1, 2049)
        left = Panel("What 16 lines can do", "x", "value").curve(x, self.f(x), f"f = Δ^{self.L**2 + 2}")
        right = Panel("No small net comes near", "linear pieces", "∫ |f - g|")
        if self.best:
            left.curve(*self.best[1:], "best 16 lines")
            right.curve(np.arange(1, 65), self.best[0], "best lines")
        for (name, errors), n in zip(self.found.items(), (2**self.L + 1, 3**self.L, 16), strict=True):
            right.points([n] * self.restarts, errors, name, size=18)
        return [left, right.level(1 / 32, "1/32").level(float(certificate(self.L)), "counting").limits(y=(0, 0.28))]
