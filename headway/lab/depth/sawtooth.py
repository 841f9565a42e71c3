from headway.lab.kit import Checks, Experiment, Generator, Panel, at_least, at_most, because, equal, headline, np, param
from headway.lab.pwl1d import Pwl, pwl1d
from headway.lab.relu_net import random_net
from headway.lab.tools.tents import TENT, TENT_ON_UNIT, low_tent, shallow_teeth, teeth

SHALLOW = 10  # one hidden layer is built up to this p


def maxima(f: Pwl) -> int:
    """How many knots are strictly above both neighbours."""
    v = f.values
    return int(np.sum((v[1:-1] > v[:-2]) & (v[1:-1] > v[2:])))


class Sawtooth(Experiment):
    """The tent map composed p times has 2^p pieces on [0, 1], from 3p units; one hidden layer needs at least 2^p - 1.

    With σ(x) = max(x, 0) and three units,

        Δ(x) = 2σ(x) - 4σ(x - ½) + 2σ(x - 1),     Δ^p(k/2^p) = 1 for odd k, 0 for even k,

    linear between, with slopes ±2^p: 2^{p-1} teeth, because Δ maps [0, 1] twice onto itself. On [0, 1] the third unit
    of each layer rests, so 2p units are enough (from p = 2 on even on the line, because the next layer cuts off what is
    negative). A hidden layer of N units bends in at most N places and Δ^p bends in 2^p - 1 places inside (0, 1); on the
    whole line 2^p + 1 units are needed and enough.

    Notes: A. Source: Telgarsky 2015, Representation benefits of deep feedforward networks,
    https://arxiv.org/abs/1509.08101
    Assumes: the tent reaches from 0 to 1; for 2p units x is in [0, 1] or p >= 2.
    Also: tent map; exponential oscillation by composition.
    """

    p = param(14, "the largest number of compositions; all from 1 on are tried", least=6, most=17, small=8)

    def measure(self, rng: Generator) -> Checks:
        self.ps = np.arange(1, self.p + 1)
        nets = [(teeth(p), teeth(p, TENT_ON_UNIT)) for p in self.ps.tolist()]
        self.units = np.array([[net.nodes for net in pair] for pair in nets])
        yield equal("units are 3p, and 2p on [0, 1]", self.units, np.outer(self.ps, [3, 2]))
        functions = [[pwl1d(net) for net in pair] for pair in nets]
        self.pieces = np.array([[f.pieces(0, 1) for f in pair] for pair in functions])
        yield headline(
            equal(f"pieces on [0, 1] are 2^p, p = 1 … {self.p}, both nets", self.pieces, np.outer(2**self.ps, [1, 1]))
        )
        simple = [f.simplified() for f, _ in functions]
        yield equal("teeth are 2^(p-1)", np.array([maxima(f) for f in simple]), 2 ** (self.ps - 1))
        k = [np.arange(2**p + 1) for p in self.ps.tolist()]
        knots = [np.array_equal(f.knots, i / (i.size - 1)) for f, i in zip(simple, k, strict=True)]
        yield equal("knots are k/2^p", np.array(knots), np.ones(self.p, dtype=bool))
        slopes = [
            np.array_equal(f.slopes[1:-1], np.where(i[:-1] % 2, -1.0, 1.0) * (i.size - 1))
            for f, i in zip(simple, k, strict=True)
        ]
        yield equal("slopes are ±2^p by turns", np.array(slopes), np.ones(self.p, dtype=bool))
        wrong = [[np.sum(net.at(i / (i.size - 1)) != i % 2) for net in pair] for pair, i in zip(nets, k, strict=True)]
        yield equal("both nets at k/2^p are k mod 2", np.array(wrong), np.zeros((self.p, 2), dtype=int))
        few = min(self.p, SHALLOW)
        bends = np.array([f.knots.size for f in simple[:few]])
        yield equal("bends on the line, so units of one hidden layer, are 2^p + 1", bends, 2 ** self.ps[:few] + 1)
        shallow = [shallow_teeth(p) for p in range(1, few + 1)]
        x = np.arange(-(2**few), 2 ** (few + 1) + 1, 2 ** max(0, few - 8)) / 2**few
        same = [
            int(net.nodes == b and np.array_equal(net.at(x), deep.at(x)))
            for net, b, (deep, _) in zip(shallow, bends, nets, strict=False)
        ]
        yield equal("one hidden layer of so many units is Δ^p on [-1, 2]", np.array(same), np.ones(few, dtype=int))
        gaps = [int(np.sum(short.at(x) != deep.at(x))) for deep, short in nets[1:few]]
        yield equal("the net of 2p units is Δ^p on [-1, 2] from p = 2 on", np.array(gaps), np.zeros(few - 1, dtype=int))
        pieces = [pwl1d(random_net([1, n, 1], rng)).pieces() for n in range(1, 41)]
        yield at_most("pieces of one random hidden layer of n units, n + 1", pieces, np.arange(2, 42), kind="EXACT")

    def control(self, rng: Generator) -> Checks:
        yield because(
            "the tent is 0.9 high",
            equal(f"pieces on [0, 1], p = {self.p}", pwl1d(teeth(self.p, low_tent(0.9))).pieces(0, 1), 2**self.p),
        )
        outside = equal("the net of 2p units is Δ^p at 1.5, p = 1", float(TENT_ON_UNIT.at(1.5)), float(TENT.at(1.5)))
        yield because("x is not in [0, 1], and p = 1", outside)
        flat = random_net([1, 3 * self.p, 1], rng)
        yield because(
            "they are in one layer",
            at_least(f"pieces of {flat.nodes} units", pwl1d(flat).pieces(), 2**self.p, kind="EXACT"),
        )

    def plots(self) -> list[Panel]:
        left, shown = (
            Panel("The tent map, folded over itself", "x", "Δ^p, each from 0 to 1"),
            {1: "Δ", 2: "Δ²", 3: "Δ³", 6: "Δ⁶"},
        )
        for row, p in enumerate(shown):
            x = np.arange(2**p + 1) / 2**p
            left.curve(x, teeth(p).at(x) + 1.35 * (3 - row), f"{2 ** (p - 1)} teeth" if p > 1 else "1 tooth")
        left.ticks(y={1.35 * (3 - row): name for row, name in enumerate(shown.values())})
        right = Panel("Units add, pieces multiply", "compositions p", "number", log="y").ticks(
            x={p: str(p) for p in self.ps[1::2].tolist()}
        )
        right.series(self.ps, {"pieces on [0, 1]": self.pieces[:, 0], "units, deep: 3p": self.units[:, 0]})
        return [left, right.bound(self.ps, 2**self.ps - 1, "units, one layer: 2^p - 1")]
