"""The tent map, folded over itself."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from headway.core.config import require
from headway.lab import style
from headway.lab.checks import Check, at_least, at_most, equal
from headway.lab.old import Experiment
from headway.lab.pwl1d import Pwl, pwl1d
from headway.lab.relu_net import ReluNet, hinges, power, random_net

TENT = hinges([0, 0.5, 1], [2, -4, 2])  # Δ(x) = 2σ(x) - 4σ(x - ½) + 2σ(x - 1) on the whole line
TENT_ON_UNIT = hinges([0, 0.5], [2, -4])  # the same on [0, 1], where the third unit is always 0


@dataclass(frozen=True)
class Config:
    p: int = 14  # the largest number of compositions; all from 1 on are tried

    def __post_init__(self) -> None:
        require((3 <= self.p <= 18, "p is 3 to 18 (Δ^18 has 2^18 pieces)"))


def teeth(p: int, tent: ReluNet = TENT) -> ReluNet:
    """Δ^p = Δ ∘ … ∘ Δ as a net: `TENT` on the line (3p units), `TENT_ON_UNIT` on [0, 1] (2p units)."""
    return power(tent, p)


def shallow_teeth(p: int) -> ReluNet:
    """The same function on the line with one hidden layer: a hinge at every k/2^p, 2^p + 1 of them."""
    jumps = np.where(np.arange(2**p + 1) % 2, -2.0, 2.0) * 2**p
    jumps[[0, -1]] /= 2
    return hinges(np.arange(2**p + 1) / 2**p, jumps)


def maxima(f: Pwl) -> int:
    """How many knots are strictly above both neighbours."""
    v = f.values
    return int(np.sum((v[1:-1] > v[:-2]) & (v[1:-1] > v[2:])))


class Sawtooth(Experiment):
    """The tent map composed p times has 2^p pieces on [0, 1], from 3p units; one hidden layer needs at least 2^p - 1.

    With σ(x) = max(x, 0) and three units,

        Δ(x) = 2σ(x) - 4σ(x - ½) + 2σ(x - 1),     Δ^p(k/2^p) = 1 for odd k, 0 for even k,

    linear between, with slopes ±2^p: 2^{p-1} teeth. On [0, 1] the third unit of each layer rests, so 2p units are enough (from p = 2 on
    even on the line, because the next layer cuts off what is negative). A hidden layer of N units bends in at most N places and Δ^p bends
    in 2^p - 1 places inside (0, 1); on the whole line 2^p + 1 units are needed and enough.
    """

    lecture = "A"
    kinds = ("EXACT",)
    cost = "S"
    source = "Telgarsky 2015, https://arxiv.org/abs/1509.08101"
    assumptions = ("the tent reaches from 0 to 1, so that it maps [0, 1] twice onto [0, 1]", "for 2p units: x in [0, 1] or p >= 2")
    aliases = ("tent map", "exponential oscillation by composition")
    panels = 2
    small = {"p": 8}

    def measure(self, c: Config, rng: np.random.Generator) -> Iterator[Check]:
        self.p = np.arange(1, c.p + 1)
        nets = [(teeth(p), teeth(p, TENT_ON_UNIT)) for p in self.p]
        self.units = np.array([net.nodes for net, _ in nets])
        yield equal(f"units of Δ^p are 3p, p = 1 … {c.p}", self.units, 3 * self.p)
        yield equal("units on [0, 1] are 2p", np.array([short.nodes for _, short in nets]), 2 * self.p)
        functions = [[pwl1d(net) for net in pair] for pair in nets]
        self.pieces = np.array([f.pieces(0, 1) for f, _ in functions])
        yield equal("pieces on [0, 1] are 2^p", self.pieces, 2**self.p)
        yield equal("pieces on [0, 1] with 2p units", np.array([short.pieces(0, 1) for _, short in functions]), 2**self.p)
        simple = [f.simplified() for f, _ in functions]
        yield equal("teeth are 2^(p-1)", np.array([maxima(f) for f in simple]), 2 ** (self.p - 1))
        for p, f in zip(self.p, simple, strict=True):
            if p in (1, 2, 3, 6, c.p):
                k = np.arange(2**p + 1)
                yield equal(f"knots are k/2^p, p = {p}", f.knots, k / 2**p)
                yield equal(f"slopes are ±2^p, p = {p}", f.slopes[1:-1], np.where(k[:-1] % 2, -1.0, 1.0) * 2**p)
        grids = [np.arange(2**p + 1) / 2**p for p in self.p]
        wrong = [int(np.sum(net.at(x) != np.arange(x.size) % 2)) for pair, x in zip(nets, grids, strict=True) for net in pair]
        yield equal("both nets at k/2^p are k mod 2", np.array(wrong), np.zeros(len(wrong)))
        yield from self.shallow(min(c.p, 10), rng)

    def shallow(self, most: int, rng: np.random.Generator) -> Iterator[Check]:
        """One hidden layer: as many units as bends, and the same function with exactly so many."""
        small = range(1, most + 1)
        bends = np.array([pwl1d(teeth(p)).simplified().knots.size for p in small])
        yield equal("bends on the line, so units of one hidden layer, are 2^p + 1", bends, 2 ** np.arange(1, most + 1) + 1)
        yield equal("and one hidden layer with so many exists", np.array([shallow_teeth(p).nodes for p in small]), bends)
        x = np.arange(-(2**most), 2 ** (most + 1) + 1, 2 ** max(0, most - 8)) / 2**most
        wrong = sum(int(np.sum(shallow_teeth(p).at(x) != teeth(p).at(x))) for p in small)
        yield equal("it is Δ^p at dyadic points of [-1, 2]", wrong, 0)
        wrong = sum(int(np.sum(teeth(p, TENT_ON_UNIT).at(x) != teeth(p).at(x))) for p in small if p >= 2)
        yield equal("and so is the net of 2p units, p >= 2", wrong, 0)
        pieces = [pwl1d(random_net([1, n, 1], rng)).pieces() for n in range(1, 41)]
        yield at_most("pieces of one random hidden layer of n units, n <= 40", pieces, np.arange(2, 42), kind="EXACT")

    def control(self, c: Config, rng: np.random.Generator) -> Iterator[Check]:
        low = hinges([0, 0.5, 1], [1.8, -3.6, 1.8])
        yield equal(f"pieces if the tent is only 0.9 high, p = {c.p}", pwl1d(teeth(c.p, low)).pieces(0, 1), 2**c.p)
        yield equal("2p units outside [0, 1]: the value at 1.5, p = 1", float(TENT_ON_UNIT.at(1.5)), float(TENT.at(1.5)))
        flat = random_net([1, 3 * c.p, 1], rng)
        yield at_least(f"pieces of {flat.nodes} units in one layer", pwl1d(flat).pieces(), 2**c.p, kind="EXACT")

    def plot(self, c: Config, axes: "style.Panels") -> None:
        for row, p in enumerate((1, 2, 3, 6)):
            x = np.arange(2**p + 1) / 2**p
            axes[0].plot(
                x,
                teeth(p).at(x) + 1.35 * (3 - row),
                color=style.SERIES[row],
                linewidth=1.5,
                label=f"{2 ** (p - 1)} teeth" if p > 1 else "1 tooth",
            )
        axes[0].set(title="The tent map, folded", xlabel="x in [0, 1]", ylabel="Δ^p, each from 0 to 1", xlim=(0, 1))
        axes[0].set_yticks(1.35 * np.arange(4)[::-1], ["Δ", "Δ²", "Δ³", "Δ⁶"])
        axes[0].legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
        axes[1].semilogy(self.p, self.pieces, **style.MEASURED, label="pieces on [0, 1]")
        axes[1].semilogy(self.p, self.units, **style.series(1), label="units of the deep net, 3p")
        axes[1].semilogy(self.p, 2**self.p - 1, **style.BOUND, label="units needed in one layer, 2^p - 1")
        axes[1].set(title="Units add, pieces multiply", xlabel="compositions p", ylabel="number")
        axes[1].legend()
