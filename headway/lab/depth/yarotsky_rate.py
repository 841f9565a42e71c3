from headway.lab.checks import line_fit
from headway.lab.kit import Checks, Experiment, Generator, Panel, at_most, because, equal, headline, linear_slope, math, np, param, slope
from headway.lab.tools.taylor_net import TaylorNet

CASES = ((1, 1), (1, 2), (2, 2), (4, 2), (4, 4), (8, 2))  # (d, n)


def built_weights(d: int, n: int, m: int) -> int:
    """Weights of the net with N = 1 from the matrices of its terms: 2^d centres, and a difference has no bias at half of them."""
    terms = enumerate(TaylorNet(d, n, 1, m).generic)
    return sum(2**d * math.comb(d + j - 1, j) * (net.weights - j) for j, net in terms)


class YarotskyRate(Experiment):
    """The net that approximates all functions with n bounded derivatives in d dimensions has ε^{-d/n} ln(1/ε) weights.

    Counted, not evaluated, for the architecture of `yarotsky-network`:

        weights = (N + 1)^d Σ_{j<n} C(d+j-1, j) (a_j + b_j m) - zeros,     depth = 2 + (d + n - 2)(m + 2),
        N ~ ε^{-1/n},     m ~ ln(1/ε) / ln 4.

    So log(weights / ln(1/ε)) against log(1/ε) has the slope d/n, and the depth grows by (d + n - 2)/ln 4 for each unit of ln(1/ε).
    The first is asymptotic: m is ln(1/ε)/ln 4 plus a constant that depends on d and n. For d = n = 1 no gate is needed.

    Notes: A, B. Source: Yarotsky 2017, theorem 1, https://arxiv.org/abs/1610.01145
    Assumes: all derivatives up to the order n are at most 1 in modulus on [0, 1]^d; ε is small, for the rate; a product with 0 is 0.
    Deviates: the rate of weights is fitted to ε from 10^-16 to 10^-64; between 10^-1 and 10^-8 it is up to 14 % too small.
    Also: rate of smooth approximation; smoothness against dimension.
    """

    digits = param(8, "the depth is fitted to ε = 10^-1 … 10^-digits", least=5, most=16)
    far = param((16, 24, 32, 48, 64), "the weights are fitted to ε = 10^-far", least=16, most=64, count=4)
    dimensions = param(12, "the curse is drawn for d = 1 … dimensions", least=2, most=20, small=4)

    def measure(self, rng: Generator) -> Checks:
        self.epsilon = np.array([float(f"1e-{k}") for k in range(1, self.digits + 1)])  # the counter takes decimals
        far = [float(f"1e-{k}") for k in self.far]
        sizes = {case: [TaylorNet.reaching(*case, e).size for e in self.epsilon.tolist()] for case in CASES}
        self.weights = {case: np.array([float(size.weights) for size in found]) for case, found in sizes.items()}
        self.depth = {case: np.array([size.depth for size in found]) for case, found in sizes.items()}
        for d, n in CASES:
            weights = [TaylorNet.reaching(d, n, e).size.weights / math.log(1 / e) for e in far]
            rate = slope(f"d = {d}, n = {n}: weights / ln(1/ε)", 1 / np.array(far), weights, d / n, 0.05 * d / n)
            yield headline(rate) if (d, n) == CASES[-1] else rate
        fits = {case: line_fit(np.log(1 / self.epsilon), self.depth[case])[0] for case in CASES[1:]}
        off = {f"d = {d}, n = {n}": abs(fit * math.log(4) / (d + n - 2) - 1) for (d, n), fit in fits.items()}
        yield at_most("depth in ln(1/ε): slope off (d + n - 2)/ln 4", off, 0.05, kind="RATE")
        yield equal("d = n = 1: depth at every ε", self.depth[1, 1], 2)
        counted, built = zip(*[(TaylorNet(d, n, 1, 5).size.weights, built_weights(d, n, 5)) for d, n in CASES], strict=True)
        yield equal("N = 1, m = 5: weights counted and built", np.array(counted), built)

    def control(self, rng: Generator) -> Checks:
        log = np.log(1 / self.epsilon)
        check = slope("d = 1, n = 2: weights / ln(1/ε) from 10^-1 on", 1 / self.epsilon, self.weights[1, 2] / log, 0.5, 0.025)
        yield because("ε is not small against the constants", check)
        # every one of the (N + 1)^d terms errs at every place, not 2^d of them: each may err by that much less
        nets = {e: TaylorNet.reaching(4, 2, e) for e in self.epsilon.tolist()}
        depth = [TaylorNet.reaching(4, 2, e, (2 / (net.N + 1)) ** 4).size.depth for e, net in nets.items()]
        check = linear_slope("d = 4, n = 2: depth in ln(1/ε)", log, depth, 4 / math.log(4), 0.05 * 4 / math.log(4))
        yield because("a product with 0 is not 0", check)

    def plots(self) -> list[Panel]:
        left = Panel("Weights: dashed slopes are d/n", "1/ε", "weights", log="xy")
        for (d, n), weights in self.weights.items():
            left.series(1 / self.epsilon, weights, f"d = {d}, n = {n}")
            left.bound(1 / self.epsilon, weights[-1] * (self.epsilon[-1] / self.epsilon) ** (d / n))
        right = Panel("The curse of dimension, ε = 0.01", "dimension d", "weights", log="y")
        every = range(1, self.dimensions + 1)
        for n in (1, 2, 4):
            right.series(every, [float(TaylorNet.reaching(d, n, 0.01).size.weights) for d in every], f"n = {n}")
        return [left, right]
