"""One hidden layer against many, on the parabola."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from headway.core.config import require
from headway.lab import style
from headway.lab.checks import Check, at_least, at_most, close, equal, slope
from headway.lab.depth.sawtooth import TENT_ON_UNIT
from headway.lab.depth.yarotsky_square import square_net
from headway.lab.old import Experiment
from headway.lab.pwl1d import Pwl, pwl1d
from headway.lab.relu_net import ReluNet, hinges


@dataclass(frozen=True)
class Config:
    last: int = 30  # the smallest error is 2^-last; all from 2^-4 on are counted
    built: int = 20  # shallow nets are built and measured down to 2^-built, deep nets always
    rivals: int = 200  # piecewise-linear functions at random knots

    def __post_init__(self) -> None:
        require((14 <= self.last <= 36, "last is 14 to 36"), (5 <= self.built <= min(24, self.last), "built is 5 to 24, not above last"))
        require((self.rivals >= 10, "rivals >= 10"))


def shallow_square(N: int) -> ReluNet:
    """The best N pieces: chords at k/N, lowered by 1/(8N²). One hidden layer of N units, on [0, 1]."""
    h = 1 / N
    return hinges(np.arange(N) / N, np.append(h, np.full(N - 1, 2 * h)), shift=-h * h / 8)


def fewest_pieces(e: int) -> int:
    """The smallest N with 1/(8N²) <= 2^-e, in whole numbers: 8N² >= 2^e."""
    N = math.isqrt(2**e // 8)
    return N if 2**e <= 8 * N * N else N + 1


def sup_to_square(f: Pwl) -> float:
    """max |f - x²| on [0, 1], exactly: on a piece of slope a it is attained at an end or where 2x = a."""
    t = np.unique(np.concatenate([[0.0, 1.0], f.knots[(f.knots > 0) & (f.knots < 1)]]))
    turn = np.clip(np.diff(f(t)) / np.diff(t) / 2, t[:-1], t[1:])
    x = np.concatenate([t, turn])
    return float(np.max(np.abs(f(x) - x * x)))


def best_line(f: Callable[[np.ndarray], np.ndarray], a: float, b: float) -> float:
    """The least max |f - line| over 41 points of [a, b], ends and middle included: a linear programme."""
    from scipy.optimize import linprog

    x = np.linspace(a, b, 41)
    A, one = np.stack([np.ones(41), x], axis=1), np.ones((41, 1))
    both = np.block([[A, -one], [-A, -one]])
    return float(linprog([0, 0, 1], both, np.append(f(x), -f(x)), bounds=[(None, None)] * 2 + [(0, None)]).fun)


class SquareShallowVsDeep(Experiment):
    """To square up to ε one hidden layer needs about 1/√(8ε) units, a deep net 3⌈½ log₂(1/4ε)⌉.

    A line follows x² on an interval of length h no better than h²/8, and some piece of N is at least 1/N long, so

        N pieces: sup |f - x²| >= 1/(8N²)     hence     N >= 1/√(8ε),     and so N - 1 units or more in one hidden layer.

    N chords at k/N, lowered by 1/(8N²), attain it with N units on [0, 1]: equal pieces are the best because the second derivative is
    constant. The squaring net reaches 2^{-2m-2} <= ε with m = ⌈½ log₂(1/4ε)⌉ layers of 3 units (two for the tent on [0, 1], one for the
    sum). It is the smaller one from ε = 2^-11 on.
    """

    lecture = "A, B"
    kinds = ("BOUND",)
    cost = "S"
    source = "Yarotsky 2017, section 3, https://arxiv.org/abs/1610.01145; Liang and Srikant 2017, https://arxiv.org/abs/1610.04161"
    assumptions = (
        "x in [0, 1]",
        "one hidden layer of N - 1 ReLU units has at most N pieces",
        "the second derivative is constant (equal pieces)",
    )
    aliases = ("squaring: shallow versus deep", "best piecewise linear parabola")
    panels = 2
    small = {"last": 20, "built": 14, "rivals": 20}

    def measure(self, c: Config, rng: np.random.Generator) -> Iterator[Check]:
        self.e = np.arange(4, c.last + 1)
        epsilon = 2.0**-self.e
        self.N = np.array([fewest_pieces(int(e)) for e in self.e])
        m = np.array([math.ceil((int(e) - 2) / 2) for e in self.e])
        deep = {k: square_net(k, TENT_ON_UNIT) for k in range(1, int(m.max()) + 1)}
        grids = {k: np.arange(2 ** (k + 1) + 1) / 2 ** (k + 1) for k in deep}  # knots and middles: `yarotsky-square`
        errors = {0: 0.25} | {k: float(np.max(np.abs(net.at(grids[k]) - grids[k] ** 2))) for k, net in deep.items()}
        self.deep = np.array([deep[k].nodes for k in m])
        shown = f"ε = 2^-4 … 2^-{c.last}"
        yield at_most(f"deep: error of ⌈½ log₂(1/4ε)⌉ layers, {shown}", [errors[k] for k in m], epsilon)
        yield at_least("deep: one layer fewer errs by more than ε", [errors[k - 1] for k in m], np.nextafter(epsilon, 1))
        yield equal("deep: units are 3m", self.deep, 3 * m)
        yield equal("shallow: N is ⌈1/√(8ε)⌉", self.N, np.ceil(1 / np.sqrt(8 * epsilon)).astype(int))
        built = self.e <= c.built
        shallow = [shallow_square(int(N)) for N in self.N[built]]
        functions = [pwl1d(net) for net in shallow]
        self.error = np.array([sup_to_square(f) for f in functions])
        yield equal(f"shallow: pieces of N units, ε >= 2^-{c.built}", np.array([f.pieces(0, 1) for f in functions]), self.N[built])
        yield equal("shallow: units are N", np.array([net.nodes for net in shallow]), self.N[built])
        yield at_most("shallow: error of N pieces", self.error, epsilon[built])
        yield close("shallow: the error is 1/(8N²), as a ratio", self.error * 8 * self.N[built] ** 2, np.ones(self.error.size), 1e-6)
        yield at_least("shallow: N - 1 pieces err by more", 1 / (8 * (self.N - 1.0) ** 2), np.nextafter(epsilon, 1))
        yield from self.optimum(c, rng)
        first = [int(self.e[self.deep >= units].max()) + 1 for units in (self.N, self.N - 1)]
        yield equal("from this e on the deep net is smaller, ε = 2^-e", first[0], 11)
        yield equal("and smaller than N - 1 units, which are necessary", first[1], 12)
        yield slope("N grows like (1/ε)^½", 1 / epsilon, self.N, 0.5, 0.02)

    def optimum(self, c: Config, rng: np.random.Generator) -> Iterator[Check]:
        """A line gains nothing over h²/8, and no choice of knots over equal ones."""
        ends = np.sort(rng.random((12, 2)), axis=1)
        best = np.array([best_line(np.square, a, b) for a, b in ends])
        yield close(
            "best line on 12 intervals, by a linear programme: 8 error / h²", 8 * best / np.diff(ends)[:, 0] ** 2, np.ones(12), 1e-6
        )
        N, error = rng.integers(2, 33, c.rivals), []
        for n in N:
            knots = np.concatenate([[0.0], np.sort(rng.random(n - 1)), [1.0]]) if n % 2 else np.arange(n + 1) / n
            chords = knots**2 - np.max(np.diff(knots)) ** 2 / 8  # lowered by as much as the longest of them asks for
            error.append(sup_to_square(Pwl(knots, chords + rng.normal(0, 1e-3 / n**2, n + 1), 0.0, 0.0)))
        yield at_least(f"{c.rivals} functions with random knots or values: error against 1/(8N²)", error, 1 / (8 * N**2))

    def examine(self, network: ReluNet, c: Config, rng: np.random.Generator) -> Iterator[Check]:
        f = pwl1d(network)
        N = f.pieces(0, 1)
        yield at_least(f"error of your net with {N} pieces on [0, 1], against 1/(8N²)", sup_to_square(f), 1 / (8 * N**2))

    def control(self, c: Config, rng: np.random.Generator) -> Iterator[Check]:
        e, N = c.built, fewest_pieces(c.built)
        yield at_most(f"ε = 2^-{e} with one piece fewer, {N - 1}", sup_to_square(pwl1d(shallow_square(N - 1))), 2.0**-e)
        chords = shallow_square(N)
        high = ReluNet((chords.layers[0], (chords.layers[1][0], [0.0])))
        yield at_most(f"ε = 2^-{e} with N chords that are not lowered", sup_to_square(pwl1d(high)), 2.0**-e)
        equal_ends, balanced = np.arange(9) / 8, (np.arange(9) / 8) ** 0.5  # x⁴ bends like 12x²: knots should crowd at 1
        worst = [max(best_line(lambda x: x**4, a, b) for a, b in pairwise(k)) for k in (equal_ends, balanced)]
        yield at_most("x⁴, whose second derivative varies: equal pieces are the best of 8", *worst)

    def plot(self, c: Config, axes: "style.Panels") -> None:
        x = np.linspace(0, 1, 601)
        axes[0].plot(x, 1e2 * (shallow_square(3).at(x) - x * x), **style.CURVE, label="3 pieces, lowered")
        axes[0].plot(x, 1e2 * (square_net(2).at(x) - x * x), **style.CURVE | {"color": style.ORANGE}, label="squaring net, m = 2")
        for sign in (-1, 1):
            axes[0].axhline(sign * 1e2 / 72, **style.BOUND, label="±1/(8N²), N = 3" if sign > 0 else None)
        axes[0].set(title="The error goes up and down alike", xlabel="x", ylabel="100 (f - x²)", ylim=(-2, 3.2))
        axes[0].legend(loc="upper right")
        axes[1].loglog(2.0**self.e, self.N, **style.MEASURED, label="one hidden layer: N")
        axes[1].loglog(2.0**self.e, self.deep, **style.series(1), label="deep: 3m")
        axes[1].loglog(2.0**self.e, np.sqrt(2.0**self.e / 8), **style.BOUND, label="1/√(8ε)")
        axes[1].axvline(2.0**11, ymax=0.7, color=style.SOFT, linewidth=1, label="ε = 2^-11")
        axes[1].set(title="Units for the error ε", xlabel="1/ε", ylabel="hidden units")
        axes[1].legend(loc="upper left")
