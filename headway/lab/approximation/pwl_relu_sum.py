"""Piecewise-linear functions as sums of hinges."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from headway.core.config import require
from headway.lab import style
from headway.lab.checks import Check, at_most, close, equal
from headway.lab.depth.sawtooth import TENT
from headway.lab.old import Experiment
from headway.lab.pwl1d import Pwl, pwl1d
from headway.lab.relu_net import ReluNet, hinges, power, random_net


@dataclass(frozen=True)
class Config:
    pieces: int = 50  # the largest number m of pieces; all from 2 on are tried
    nets: int = 200  # random networks that are converted to pieces and back
    units: int = 12  # the largest number N of their hidden units

    def __post_init__(self) -> None:
        require((self.pieces >= 3, "pieces >= 3"), (self.nets >= 1 and self.units >= 1, "nets and units are positive"))


def random_pwl(m: int, rng: np.random.Generator) -> Pwl:
    """m pieces on the line with knots in (-3, 3); neighbouring slopes differ."""
    knots, slopes = np.sort(rng.uniform(-3, 3, m - 1)), np.cumsum(rng.uniform(0.5, 2, m) * rng.choice([-1, 1], m))
    values = rng.normal() + np.cumsum(np.append(0, slopes[1:-1] * np.diff(knots)))
    return Pwl(knots, values, float(slopes[0]), float(slopes[-1]))


def as_hinges(f: Pwl) -> ReluNet:
    """a x + b + Σ c_i (x - x_i)_+ with a the first slope and c_i the jump of the slope at the knot x_i."""
    a = f.left
    return hinges(f.knots, np.diff(f.slopes), a, float(f.values[0] - a * f.knots[0]))


class PwlReluSum(Experiment):
    """A continuous function with m linear pieces is an affine function plus m - 1 hinges, and needs all of them.

    With knots x_1 < ... < x_{m-1}, first slope a and slope jumps c_i,

        f(x) = a x + b + Σ_{i=1}^{m-1} c_i (x - x_i)_+ .

    Conversely a ReLU net with one hidden layer of N units has at most N + 1 pieces, so fewer hinges cannot do. As a net the affine part
    costs two more units on the line (x = x_+ - (-x)_+), one on [0, 1].
    """

    lecture = "C"
    kinds = ("EXACT",)
    cost = "S"
    source = "Lebesgue 1898; ETH Deep Learning notes, section 2"
    assumptions = ("f is continuous and piecewise linear with finitely many pieces", "one hidden layer (for the converse)")
    aliases = ("Lebesgue's representation", "hinge decomposition", "piecewise linear function as a sum of ReLUs")
    panels = 2
    small = {"pieces": 12, "nets": 20}

    def measure(self, c: Config, rng: np.random.Generator) -> Iterator[Check]:
        errors, units, found, places = [], [], [], []
        sizes = range(2, c.pieces + 1)
        for m in sizes:
            f = random_pwl(m, rng)
            net = as_hinges(f)
            x = np.concatenate([f.knots, (f.knots[1:] + f.knots[:-1]) / 2, [-10.0, 10.0]])
            errors.append(np.max(np.abs(net.at(x) - f(x))) / np.max(np.abs(f(x))))
            units.append(net.nodes - 2 * (f.left != 0))
            back = pwl1d(net).simplified()
            found.append(back.knots.size + 1)
            places.append(np.max(np.abs(back.knots - f.knots)) if back.knots.size == m - 1 else np.inf)
        yield close(f"f minus hinges at knots, middles and ±10, m = 2 … {c.pieces}", errors, np.zeros(len(errors)), 1e-12)
        yield equal("hinges are m - 1", np.array(units), np.array(sizes) - 1)
        yield equal("pieces of the net are m", np.array(found), np.array(sizes))
        yield close("knots of the net", places, np.zeros(len(places)), 1e-9)
        nets = [random_net([1, int(rng.integers(1, c.units + 1)), 1], rng) for _ in range(c.nets)]
        yield from self.pieces_of(nets, rng)
        self.shown = random_pwl(6, rng)

    def pieces_of(self, nets: list[ReluNet], rng: np.random.Generator) -> Iterator[Check]:
        """Random nets: few pieces, and the same function again when its pieces are made into hinges."""
        functions = [pwl1d(net).simplified() for net in nets]
        self.counts = np.array([[net.nodes, f.pieces()] for net, f in zip(nets, functions, strict=True)])
        yield at_most("pieces of a net with N units", self.counts[:, 1], self.counts[:, 0] + 1, kind="EXACT")
        x = rng.uniform(-10, 10, 200)
        yield close("net, to pieces and back", [as_hinges(f).at(x) for f in functions], [net.at(x) for net in nets], 1e-10)

    def examine(self, network: ReluNet, c: Config, rng: np.random.Generator) -> Iterator[Check]:
        f, x = pwl1d(network).simplified(), rng.uniform(-10, 10, 1000)
        if network.depth == 2:
            yield at_most(f"pieces of your net with {network.nodes} units", f.pieces(), network.nodes + 1, kind="EXACT")
        yield close(f"your net is an affine function plus {f.pieces() - 1} hinges", as_hinges(f).at(x), network.at(x), 1e-9)

    def control(self, c: Config, rng: np.random.Generator) -> Iterator[Check]:
        f = random_pwl(c.pieces, rng)
        short = hinges(f.knots[:-1], np.diff(f.slopes)[:-1], f.left, float(f.values[0] - f.left * f.knots[0]))
        yield equal("pieces with one hinge fewer", pwl1d(short).pieces(), c.pieces)
        deep = power(TENT, 5)
        yield at_most(f"two or more hidden layers: pieces of {deep.nodes} units", pwl1d(deep).pieces(), deep.nodes + 1, kind="EXACT")

    def plot(self, c: Config, axes: "style.Panels") -> None:
        f, x = self.shown, np.linspace(-4, 4, 400)
        axes[0].plot(x, f(x), **style.TARGET, label="f with 6 pieces")
        axes[0].plot(x, as_hinges(f).at(x), **style.CURVE, label="affine part + 5 hinges")
        for i, (knot, jump) in enumerate(zip(f.knots, np.diff(f.slopes), strict=True)):
            look = {"color": style.ORANGE, "linewidth": 1.0}
            axes[0].plot(x, jump * np.maximum(x - knot, 0), **look, label="hinges c (x - x_i)_+" if i == 0 else None)
        axes[0].set(title="A function and its hinges", xlabel="x", ylabel="value", ylim=np.array([-1.6, 1.6]) * np.max(np.abs(f(x))))
        axes[0].legend()
        N, pieces = self.counts.T
        axes[1].scatter(N, pieces, color=style.BLUE, s=18, label="random nets")
        axes[1].plot(np.unique(N), np.unique(N) + 1, **style.BOUND, label="N + 1")
        axes[1].set(title="One hidden layer has few pieces", xlabel="hidden units N", ylabel="linear pieces")
        axes[1].legend()
