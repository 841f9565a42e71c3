from headway.lab.kit import Checks, Experiment, Generator, Panel, at_least, at_most, because, equal, headline, np, param
from headway.lab.pwl1d import pwl1d
from headway.lab.relu_net import ReluNet
from headway.lab.tools.gates import square_net
from headway.lab.tools.tents import TENT_ON_UNIT, low_tent


def dyadic(m: int) -> np.ndarray:
    """All k/2^m of [0, 1]."""
    return np.arange(2**m + 1) / 2**m


def gap(net: ReluNet, x: np.ndarray) -> np.ndarray:
    return net.at(x) - x * x


class YarotskySquare(Experiment):
    """A net with m hidden layers of 4 units interpolates x² at all k/2^m, so its error on [0, 1] is exactly 4^{-m}/4.

    With the tent map Δ applied s times,

        f_m(x) = x - Σ_{s=1}^m Δ^s(x) / 4^s,     f_m(k/2^m) = (k/2^m)²,     sup_{[0,1]} |f_m - x²| = 2^{-2m-2},

    attained at every midpoint (k + ½)/2^m. Depth m + 1 and O(m) units: each layer holds a tent and one channel for the sum, which is not
    negative. Between knots at a distance h the chord lies above x² by at most h²/4, so midpoints and knots give the exact supremum.

    Notes: A, B. Source: Yarotsky 2017, proposition 2, https://arxiv.org/abs/1610.01145
    Assumes: x is in [0, 1]; the layers hold Δ, which maps [0, 1] onto [0, 1].
    Deviates: float64 is exact, as every number is a fraction with denominator 2^k, k <= 52. Also: squaring network; x squared in depth m.
    """

    m = param(12, "the largest number of hidden layers; all from 1 on are tried", least=2, most=15, small=7)

    def measure(self, rng: Generator) -> Checks:
        self.ms, grid = np.arange(1, self.m + 1), dyadic(self.m + 2)
        nets = {m: square_net(m) for m in self.ms.tolist()}
        sizes = [[net.depth, net.nodes, net.weights] for net in nets.values()]
        yield equal("depth m + 1, units 4m, weights 15m - 5", sizes, np.outer(self.ms, [1, 4, 15]) + [1, 0, -5])
        self.sup = np.array([np.max(np.abs(gap(net, dyadic(m + 1)))) for m, net in nets.items()])  # knots and middles
        name = f"sup |f_m - x²| is 2^(-2m-2) to the last bit, m = 1 … {self.m}"
        yield headline(equal(name, self.sup, 2.0 ** (-2 * self.ms - 2)))
        bends = {m: pwl1d(net).simplified().knots for m, net in nets.items()}
        inside = [np.array_equal(t[(t > 0) & (t < 1)], dyadic(m)[1:-1]) for m, t in bends.items()]
        yield equal("pieces end exactly at k/2^m", inside, True)
        gaps = {m: gap(net, dyadic(m + 1)) * 4.0 ** (m + 1) for m, net in nets.items()}
        wrong = [np.sum(found != np.arange(found.size) % 2) for found in gaps.values()]
        yield equal("the error is 0 at every knot and 2^(-2m-2) at every midpoint, wrong at", wrong, 0)
        above = [np.min(gap(net, grid)) for net in nets.values()]
        yield at_least(f"f_m - x² on a grid of 1/{2 ** (self.m + 2)}", above, 0.0, kind="EXACT")
        short = [np.sum(square_net(m, TENT_ON_UNIT).at(grid) != net.at(grid)) for m, net in nets.items()]
        yield equal("three units for each layer are the same on [0, 1], wrong at", short, 0)

    def control(self, rng: Generator) -> Checks:
        m, x, bound = self.m, dyadic(self.m + 1), 2.0 ** (-2 * self.m - 2)
        check = at_most(f"sup |f_m - x²| on [-1, 0], m = {m}", np.max(np.abs(gap(square_net(m), -x))), bound)
        yield because("x is negative", check)
        low = square_net(m, low_tent(0.98))
        yield because("the tent is 0.98 high", at_most(f"sup |f_m - x²|, m = {m}", np.max(np.abs(gap(low, x))), bound))

    def plots(self) -> list[Panel]:
        x, names = np.linspace(0, 1, 257), {1: "f₁: 2 pieces", 2: "f₂: 4 pieces", 3: "f₃: 8 pieces"}
        left = Panel("Chords above the parabola", "x", "100 (fₘ - x²)")
        left.curve(x, {name: 100 * gap(square_net(m), x) for m, name in names.items()})
        right = Panel("Each layer divides the error by four", "hidden layers m", "sup |fₘ - x²| on [0, 1]", log="y")
        right.series(self.ms, self.sup, "measured")
        return [left, right.bound(self.ms, 2.0 ** (-2 * self.ms - 2), "2^(-2m-2)")]
