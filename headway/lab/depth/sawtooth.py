from headway.lab.kit import Checks, Experiment, Generator, Panel, at_least, at_most, because, equal, headline, np, param
from headway.lab.pwl1d import pwl1d
from headway.lab.relu_net import random_net
from headway.lab.tools.tents import TENT, TENT_ON_UNIT, low_tent, shallow_teeth, teeth

SHALLOW = 10  # one hidden layer is built up to this p
SHOWN = {1: "Δ", 2: "Δ²", 3: "Δ³", 6: "Δ⁶"}


class Sawtooth(Experiment):
    """The tent map composed p times has 2^p pieces on [0, 1], from 3p units; one hidden layer needs at least 2^p - 1.

    With σ(x) = max(x, 0) and three units,

        Δ(x) = 2σ(x) - 4σ(x - ½) + 2σ(x - 1),     Δ^p(k/2^p) = 1 for odd k, 0 for even k,

    linear between, with slopes ±2^p: 2^{p-1} teeth, because Δ maps [0, 1] twice onto itself. On [0, 1] the third unit of each layer
    rests, so 2p units are enough (from p = 2 on even on the line, because the next layer cuts off what is negative). A hidden layer of N
    units bends in at most N places and Δ^p bends in 2^p - 1 places inside (0, 1); on the whole line 2^p + 1 units are needed and enough.

    Notes: A. Source: Telgarsky 2015, Representation benefits of deep feedforward networks, https://arxiv.org/abs/1509.08101
    Assumes: the tent reaches from 0 to 1; for 2p units x is in [0, 1] or p >= 2. Also: tent map; exponential oscillation by composition.
    """

    p = param(14, "the largest number of compositions; all from 1 on are tried", least=6, most=17, small=8)

    def measure(self, rng: Generator) -> Checks:
        self.ps, few = np.arange(1, self.p + 1), min(self.p, SHALLOW)
        deep, short = ([teeth(p, tent) for p in self.ps.tolist()] for tent in (TENT, TENT_ON_UNIT))
        self.units = np.array([[net.nodes for net in nets] for nets in (deep, short)])
        yield equal("units are 3p, and 2p on [0, 1]", self.units, np.outer([3, 2], self.ps))
        functions = [[pwl1d(net) for net in nets] for nets in (deep, short)]
        self.pieces = np.array([[f.pieces(0, 1) for f in made] for made in functions])
        name = f"pieces on [0, 1] are 2^p, p = 1 … {self.p}, both nets"
        yield headline(equal(name, self.pieces, np.outer([1, 1], 2**self.ps)))
        k = [np.arange(2**p + 1) for p in self.ps.tolist()]
        simple = [f.simplified() for f in functions[0]]
        found = [np.stack([f.knots, f.values]) for f in simple]
        right = [np.array_equal(f, [i / i[-1], i % 2]) for f, i in zip(found, k, strict=True)]
        yield equal("the knots are all k/2^p, with the values k mod 2: 2^(p-1) teeth, slopes ±2^p", right, True)
        wrong = [np.sum(net.at(i / i[-1]) != i % 2) for net, i in zip(short, k, strict=True)]
        yield equal("the net of 2p units at k/2^p is k mod 2, wrong at", wrong, 0)
        x = np.arange(-(2**few), 2 ** (few + 1) + 1, 2 ** max(0, few - 8)) / 2**few  # of [-1, 2]
        flat, values = [shallow_teeth(p) for p in range(1, few + 1)], np.array([net.at(x) for net in deep[:few]])
        yield equal("the net of 2p units is Δ^p on [-1, 2] from p = 2 on", [net.at(x) for net in short[1:few]], values[1:])
        yield equal("one hidden layer is Δ^p on [-1, 2]", [net.at(x) for net in flat], values)
        bends = [f.knots.size for f in simple[:few]]
        yield equal("its 2^p + 1 units are as many as Δ^p has bends on the line", [net.nodes for net in flat], np.array(bends))
        pieces = [pwl1d(random_net([1, n, 1], rng)).pieces() for n in range(1, 41)]
        yield at_most("pieces of one random hidden layer of n units, n + 1", pieces, np.arange(2, 42), kind="EXACT")

    def control(self, rng: Generator) -> Checks:
        p, flat = self.p, random_net([1, 3 * self.p, 1], rng)
        low, beyond = pwl1d(teeth(p, low_tent(0.9))).pieces(0, 1), TENT_ON_UNIT.at(1.5)
        yield because("the tent is 0.9 high", equal(f"pieces on [0, 1], p = {p}", low, 2**p))
        yield because("x is not in [0, 1], and p = 1", equal("the net of 2p units is Δ^p at 1.5", beyond, TENT.at(1.5)))
        one = at_least(f"pieces of {flat.nodes} units", pwl1d(flat).pieces(), 2**p, kind="EXACT")
        yield because("they are in one layer", one)

    def plots(self) -> list[Panel]:
        left = Panel("The tent map, folded over itself", "x", "Δ^p, each from 0 to 1")
        for row, p in enumerate(SHOWN):
            x = np.arange(2**p + 1) / 2**p
            left.curve(x, teeth(p).at(x) + 1.35 * (3 - row), f"{2 ** (p - 1)} teeth" if p > 1 else "1 tooth")
        left.ticks(y={1.35 * (3 - row): name for row, name in enumerate(SHOWN.values())})
        right = Panel("Units add, pieces multiply", "compositions p", "number", log="y")
        right.series(self.ps, {"pieces on [0, 1]": self.pieces[0], "units, deep: 3p": self.units[0]})
        right.ticks(x={p: str(p) for p in self.ps[1::2].tolist()})
        return [left, right.bound(self.ps, 2**self.ps - 1, "units, one layer: 2^p - 1")]
