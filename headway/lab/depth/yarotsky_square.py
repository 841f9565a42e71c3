"""Squaring by a deep net."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from headway.core.config import require
from headway.lab import style
from headway.lab.checks import Check, at_least, at_most, equal
from headway.lab.depth.sawtooth import TENT, TENT_ON_UNIT
from headway.lab.old import Experiment
from headway.lab.pwl1d import pwl1d
from headway.lab.relu_net import ReluNet


@dataclass(frozen=True)
class Config:
    m: int = 12  # the largest depth; all from 1 on are tried

    def __post_init__(self) -> None:
        require((2 <= self.m <= 16, "m is 2 to 16 (f_16 has 2^16 pieces)"))


def square_net(m: int, tent: ReluNet = TENT, base: float = 4.0) -> ReluNet:
    """f_m as a net of m hidden layers, each with the units of a tent and one channel for the sum so far.

    After s layers the units hold those of Δ^s and the channel holds f_{s-1}(x), which is not negative, so ReLU leaves it alone. The
    next layer adds -Δ^s / base^s to the channel. With `TENT` a layer has 4 units, with `TENT_ON_UNIT` 3; both are x² on [0, 1] only.
    """
    (w, b), (v, _) = tent.layers
    first = (np.vstack([w, [[1.0]]]), np.append(b, 0.0))  # the units of Δ, and x itself

    def onward(s: int) -> np.ndarray:
        """From layer s, the two numbers that go on: Δ^s(x) and f_s(x)."""
        return np.vstack([np.append(v, 0.0), np.append(-v / base**s, 1.0)])

    inner = [(np.vstack([np.outer(w, onward(s)[0]), onward(s)[1]]), np.append(b, 0.0)) for s in range(1, m)]
    return ReluNet((first, *inner, (onward(m)[1:], [0.0])))


class YarotskySquare(Experiment):
    """A net with m hidden layers of 4 units interpolates x² at all k/2^m, so its error on [0, 1] is exactly 4^{-m}/4.

    With the tent map Δ applied s times,

        f_m(x) = x - Σ_{s=1}^m Δ^s(x) / 4^s,     f_m(k/2^m) = (k/2^m)²,     sup_{[0,1]} |f_m - x²| = 2^{-2m-2},

    attained at every midpoint (k + ½)/2^m. Depth m + 1 and O(m) units: each layer holds a tent and one channel for the sum, which is not
    negative. Between knots at a distance h the chord lies above x² by at most h²/4, so midpoints and knots give the exact supremum.
    """

    lecture = "A, B"
    kinds = ("EXACT",)
    cost = "S"
    source = "Yarotsky 2017, proposition 2, https://arxiv.org/abs/1610.01145"
    assumptions = ("x in [0, 1]", "float64 is exact here: every number is a fraction with denominator 2^k, k <= 52")
    aliases = ("squaring network", "x squared in depth m")
    panels = 2
    small = {"m": 7}

    def measure(self, c: Config, rng: np.random.Generator) -> Iterator[Check]:
        self.m = np.arange(1, c.m + 1)
        nets = [square_net(int(m)) for m in self.m]
        yield equal(f"depth is m + 1, m = 1 … {c.m}", np.array([net.depth for net in nets]), self.m + 1)
        yield equal("units are 4m", np.array([net.nodes for net in nets]), 4 * self.m)
        yield equal("weights are 15m - 5", np.array([net.weights for net in nets]), 15 * self.m - 5)
        knots, values, middles, above, short, self.sup = [], [], [], [], [], []
        for m, net in zip(self.m, nets, strict=True):
            x = np.arange(2**m + 1) / 2**m
            f, middle = pwl1d(net), (x[1:] + x[:-1]) / 2
            bends = f.simplified().knots
            inside = bends[(bends > 0) & (bends < 1)]
            knots.append(inside.size == 2**m - 1 and np.array_equal(inside, x[1:-1]))
            values.append(int(np.sum(net.at(x) != x * x)))
            gap = net.at(middle) - middle**2
            middles.append(int(np.sum(gap != 2.0 ** (-2 * m - 2))))
            self.sup.append(max(float(gap.max()), float(np.max(np.abs(net.at(x) - x * x)))))
            every = np.arange(2 ** (c.m + 2) + 1) / 2 ** (c.m + 2)
            above.append(float(np.min(net.at(every) - every**2)))
            short.append(int(np.sum(square_net(int(m), TENT_ON_UNIT).at(every) != net.at(every))))
        none = np.zeros(c.m, dtype=int)
        yield equal("pieces end exactly at k/2^m", np.array(knots), np.ones(c.m, dtype=bool))
        yield equal("f_m(k/2^m) is not (k/2^m)², at so many places", np.array(values), none)
        yield equal("the error at a midpoint is not 2^(-2m-2), at so many places", np.array(middles), none)
        yield equal("sup |f_m - x²| is 2^(-2m-2), to the last bit", np.array(self.sup), 2.0 ** (-2 * self.m - 2))
        yield equal("f_m(0)", np.array([float(net.at(0.0)) for net in nets]), np.zeros(c.m))
        yield equal("f_m(1)", np.array([float(net.at(1.0)) for net in nets]), np.ones(c.m))
        yield at_least(f"f_m - x² on a grid of 1/{2 ** (c.m + 2)}", above, 0.0, kind="EXACT")
        yield equal("three units for each layer are the same on [0, 1]", np.array(short), none)

    def control(self, c: Config, rng: np.random.Generator) -> Iterator[Check]:
        x = np.arange(2 ** (c.m + 1) + 1) / 2 ** (c.m + 1)
        fewer, halves = square_net(c.m - 1), square_net(c.m, base=2.0)
        yield at_most("one layer fewer", float(np.max(np.abs(fewer.at(x) - x * x))), 2.0 ** (-2 * c.m - 2), kind="EXACT")
        yield at_most("2^s in place of 4^s", float(np.max(np.abs(halves.at(x) - x * x))), 2.0 ** (-2 * c.m - 2), kind="EXACT")
        yield at_most("x in [-1, 0]", float(np.max(np.abs(square_net(c.m).at(-x) - x * x))), 2.0 ** (-2 * c.m - 2), kind="EXACT")

    def plot(self, c: Config, axes: "style.Panels") -> None:
        x = np.linspace(0, 1, 257)
        axes[0].plot(x, x * x, **style.TARGET, label="x²")
        for i, m in enumerate((1, 2, 3)):
            knots = np.arange(2**m + 1) / 2**m
            look = style.series(i) | {"markersize": 4, "linewidth": 1.3}
            axes[0].plot(knots, square_net(m).at(knots), **look, label=f"f_{m}: {2**m} pieces")
        axes[0].set(title="Chords of the parabola", xlabel="x", ylabel="value")
        axes[0].legend(loc="upper left")
        axes[1].semilogy(self.m, self.sup, **style.MEASURED | {"linestyle": "none"}, label="sup |f_m - x²|")
        axes[1].semilogy(self.m, 2.0 ** (-2 * self.m - 2), **style.BOUND, label="2^(-2m-2)")
        axes[1].set(title="Each layer divides the error by four", xlabel="hidden layers m", ylabel="error on [0, 1]")
        axes[1].legend()
