from headway.lab.kit import Checks, Experiment, Generator, Panel, at_most, because, close, equal, headline, np, param, published
from headway.lab.relu_net import ReluNet
from headway.lab.tools.gates import cell_middles, product_error, product_gap, product_net

REFERENCE = {3: 0.1406, 6: 2.196e-3, 9: 3.43e-5}  # worst error for M = 3, by m


class YarotskyProduct(Experiment):
    """Three squaring nets multiply up to 6M² 2^{-2m-2}, in fact two thirds of it, and exactly where a factor is 0.

    For |x|, |y| <= M and the squaring net f_m,

        ×̃(x, y) = 2M² (f_m(|x + y| / 2M) - f_m(|x| / 2M) - f_m(|y| / 2M)),
        |×̃(x, y) - xy| <= 6M² 2^{-2m-2},     ×̃(x, 0) = ×̃(0, y) = 0.

    With e = f_m - x², which lies between 0 and 2^{-2m-2}, the error is 2M² (e(x + y) - e(x) - e(y)). The gate is linear on triangles cut
    by x, y and x + y at multiples of 2M/2^m, and xy is a saddle, so the error is largest at a corner, where it is 0, or in the middle of
    a diagonal, where it is -4M² 2^{-2m-2}. Hence ×̃ <= xy, and the middles of all cells give the exact supremum.

    Notes: A, B. Source: Yarotsky 2017, proposition 3, https://arxiv.org/abs/1610.01145 (some versions print M²/8 in place of 2M²)
    Assumes: |x|, |y| <= M; the squaring net, which is x² on [0, 1], sees absolute values. Also: multiplication gate; product network.
    """

    bounds = param((1.0, 3.0, 10.0), "M: both factors are at most M in modulus", least=0.01, most=1000.0)
    m = param(12, "the largest depth of the squares; all from 2 on are tried", least=3, most=14, small=6)
    pairs = param(2000, "random pairs for each M and m", least=100, most=200_000, small=500, full=200_000)

    def measure(self, rng: Generator) -> Checks:
        self.ms, self.worst, random, above, zeros = np.arange(2, self.m + 1), {}, {}, [], []
        for M in self.bounds:
            rows = []
            for m in self.ms.tolist():
                net, (x, y) = product_net(m, M), rng.uniform(-M, M, (2, self.pairs))
                middle, anywhere = product_gap(net, *cell_middles(m, M, rng)), product_gap(net, x, y)
                rows.append([np.max(-middle), np.max(np.abs(anywhere))])
                above.append(max(anywhere.max(), middle.max()) / M**2)
                zeros.append([np.sum(product_gap(net, x, 0 * x) != 0), np.sum(product_gap(net, 0 * y, y) != 0)])
            self.worst[f"M = {M:g}"], random[f"M = {M:g}"] = np.array(rows).T
        self.allowed = {f"M = {M:g}": 1.5 * product_error(self.ms, M) for M in self.bounds}
        yield headline(at_most(f"sup |×̃ - xy|, 6M² 2^(-2m-2), m = 2 … {self.m}", self.worst, self.allowed))
        shares = [self.worst[name] / bound for name, bound in self.allowed.items()]
        yield close("the supremum is two thirds of that", shares, 2 / 3, 1e-6)
        yield at_most(f"|×̃ - xy| at {self.pairs} random pairs, the supremum", random, self.worst, rounding=1e-6)
        yield at_most("×̃ - xy above 0, as a share of M²: rounding only", above, 2e-15, kind="EXACT")
        yield equal("×̃(x, 0) and ×̃(0, y) other than 0", zeros, 0)
        sizes = [[net.nodes, net.depth] for net in (product_net(m, 1.0) for m in self.ms.tolist())]
        yield equal("units are 12m + 9, depth m + 3", sizes, np.outer(self.ms, [12, 1]) + [9, 3])
        for m, value in REFERENCE.items() if 3.0 in self.bounds else ():
            if m <= self.m:
                yield published(f"M = 3, m = {m}", self.worst["M = 3"][m - 2], value, 1e-3 * value)

    def control(self, rng: Generator) -> Checks:
        M, m = self.bounds[-1], 6
        (x, y), bound, gate = rng.uniform(-M, M, (2, 2000)), 6 * M * M * 2.0 ** (-2 * m - 2), product_net(m, M)
        yield because("|x|, |y| reach 2M", at_most("|×̃ - xy|", np.max(np.abs(product_gap(gate, 2 * x, 2 * y))), bound))
        (w, b), *rest = gate.layers
        raw = product_gap(ReluNet(((np.vstack([w[:3], 0 * w[3:]]), b), *rest)), x, y)
        yield because("σ(z) stands for |z|", at_most("|×̃ - xy| of half of the gate", np.max(np.abs(raw)), bound))

    def resolution(self, rng: Generator) -> Checks:
        M, m = self.bounds[-1], 6
        slip = np.max(np.abs(product_gap(product_net(m, M, factor=1 / 8), *rng.uniform(-M, M, (2, 2000)))))
        yield at_most("the factor M²/8 in place of 2M²", slip, 6 * M * M * 2.0 ** (-2 * m - 2))

    def plots(self) -> list[Panel]:
        x = np.linspace(-1, 1, 257)
        gap = 1000 * product_gap(product_net(2, 1.0), *np.meshgrid(x, x))
        left = Panel("The error of the gate, M = 1, m = 2", "x", "y")
        left.image(gap, (-1, 1, -1, 1), scale="1000 (×̃ - xy)", stretch=False)
        right = Panel("Two thirds of the bound", "layers m of the squares", "sup |×̃ - xy|", log="y")
        right.series(self.ms, self.worst)
        for i, bound in enumerate(self.allowed.values()):
            right.bound(self.ms, bound, "" if i else "bounds")
        return [left, right]
