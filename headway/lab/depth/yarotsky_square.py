from headway.lab.kit import Checks, Experiment, Generator, Panel, at_least, at_most, because, equal, headline, np, param
from headway.lab.pwl1d import pwl1d
from headway.lab.tools.gates import square_net
from headway.lab.tools.tents import TENT_ON_UNIT


class YarotskySquare(Experiment):
    """A net with m hidden layers of 4 units interpolates x² at all k/2^m, so its error on [0, 1] is exactly 4^{-m}/4.

    With the tent map Δ applied s times,

        f_m(x) = x - Σ_{s=1}^m Δ^s(x) / 4^s,     f_m(k/2^m) = (k/2^m)²,     sup_{[0,1]} |f_m - x²| = 2^{-2m-2},

    attained at every midpoint (k + ½)/2^m. Depth m + 1 and O(m) units: each layer holds a tent and one channel for the
    sum, which is not negative. Between knots at a distance h the chord lies above x² by at most h²/4, so midpoints and
    knots give the exact supremum.

    Notes: A, B. Source: Yarotsky 2017, proposition 2, https://arxiv.org/abs/1610.01145
    Assumes: x is in [0, 1]; the layers hold Δ, which maps [0, 1] onto [0, 1].
    Deviates: float64 is exact here, because every number is a fraction with denominator 2^k, k <= 52.
    Also: squaring network; x squared in depth m.
    """

    m = param(12, "the largest number of hidden layers; all from 1 on are tried", least=2, most=15, small=7)

    def measure(self, rng: Generator) -> Checks:
        self.ms = np.arange(1, self.m + 1)
        nets = [square_net(m) for m in self.ms.tolist()]
        sizes = np.array([(net.depth, net.nodes, net.weights) for net in nets]).T
        yield equal(
            "depth m + 1, units 4m, weights 15m - 5", sizes, np.stack([self.ms + 1, 4 * self.ms, 15 * self.ms - 5])
        )
        knots, values, middles, above, short, sups = [], [], [], [], [], []
        every = np.arange(2 ** (self.m + 2) + 1) / 2 ** (self.m + 2)
        for m, net in zip(self.ms.tolist(), nets, strict=True):
            x = np.arange(2**m + 1) / 2**m
            middle, bends = (x[1:] + x[:-1]) / 2, pwl1d(net).simplified().knots
            knots.append(np.array_equal(bends[(bends > 0) & (bends < 1)], x[1:-1]))
            values.append(np.sum(net.at(x) != x * x))
            gap = net.at(middle) - middle**2
            middles.append(np.sum(gap != 2.0 ** (-2 * m - 2)))
            sups.append(max(np.max(np.abs(gap)), np.max(np.abs(net.at(x) - x * x))))
            above.append(np.min(net.at(every) - every**2))
            short.append(np.sum(square_net(m, TENT_ON_UNIT).at(every) != net.at(every)))
        self.sup, none = np.array(sups), np.zeros(self.m, dtype=int)
        yield headline(
            equal(f"sup |f_m - x²| is 2^(-2m-2) to the last bit, m = 1 … {self.m}", self.sup, 2.0 ** (-2 * self.ms - 2))
        )
        yield equal("pieces end exactly at k/2^m", np.array(knots), np.ones(self.m, dtype=bool))
        yield equal("f_m(k/2^m) is (k/2^m)², wrong at", np.array(values), none)
        yield equal("the error at every midpoint is 2^(-2m-2), wrong at", np.array(middles), none)
        yield at_least(f"f_m - x² on a grid of 1/{2 ** (self.m + 2)}", above, 0.0, kind="EXACT")
        yield equal("three units for each layer are the same on [0, 1], wrong at", np.array(short), none)

    def control(self, rng: Generator) -> Checks:
        x, bound = np.arange(2 ** (self.m + 1) + 1) / 2 ** (self.m + 1), 2.0 ** (-2 * self.m - 2)
        left = np.max(np.abs(square_net(self.m).at(-x) - x * x))
        yield because("x is negative", at_most(f"sup |f_m - x²| on [-1, 0], m = {self.m}", left, bound))
        fewer = np.max(np.abs(square_net(self.m - 1).at(x) - x * x))
        yield because(
            "one layer is missing", at_most(f"sup |f_{self.m - 1} - x²|, 2^(-2m-2), m = {self.m}", fewer, bound)
        )
        (w, b), (v, c) = TENT_ON_UNIT.layers
        low = type(TENT_ON_UNIT)(((w, b), (0.98 * v, c)))
        worst = np.max(np.abs(square_net(self.m, low).at(x) - x * x))
        yield because("the tent is 0.98 high", at_most(f"sup |f_m - x²|, m = {self.m}", worst, bound))

    def resolution(self, rng: Generator) -> Checks:
        x = np.arange(2 ** (self.m + 1) + 1) / 2 ** (self.m + 1)
        yield at_most(
            "2^s in place of 4^s", np.max(np.abs(square_net(self.m, base=2.0).at(x) - x * x)), 2.0 ** (-2 * self.m - 2)
        )

    def plots(self) -> list[Panel]:
        x = np.linspace(0, 1, 257)
        left = Panel("Chords of the parabola", "x", "value").target(x, x * x, "x²")
        for m, name in ((1, "f₁: 2 pieces"), (2, "f₂: 4 pieces"), (3, "f₃: 8 pieces")):
            knots = np.arange(2**m + 1) / 2**m
            left.series(knots, square_net(m).at(knots), name)
        right = Panel("Each layer divides the error by four", "hidden layers m", "sup |fₘ - x²| on [0, 1]", log="y")
        return [
            left,
            right.series(self.ms, self.sup, "measured").bound(self.ms, 2.0 ** (-2 * self.ms - 2), "2^(-2m-2)"),
        ]
