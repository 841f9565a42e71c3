"""A deep net that no shallow net of subexponential size can follow."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

import numpy as np

from headway.core.config import require
from headway.lab import style
from headway.lab.checks import Check, at_least, at_most, equal, published, vacuous
from headway.lab.depth.line_fits import GRID, best_by_pieces, best_lines
from headway.lab.depth.sawtooth import TENT
from headway.lab.old import Experiment
from headway.lab.pwl1d import Pwl, l1_distance, pwl1d
from headway.lab.relu_net import ReluNet, compose, power, random_net

HALF = Pwl(np.zeros(1), np.full(1, 0.5), 0.0, 0.0)


@dataclass(frozen=True)
class Config:
    L: int = 2  # layers of the shallow nets; the deep net is the tent map applied L² + 2 times
    largest: int = 5  # the certificate is computed for 2 … largest
    restarts: int = 20  # random nets and splines that are fitted

    def __post_init__(self) -> None:
        require((2 <= self.L <= 3, "L is 2 or 3 (the deep net for L = 4 has 2^18 pieces)"), (2 <= self.largest <= 40, "largest is 2 to 40"))


def certificate(L: int) -> Fraction:
    """(2^{p-1} - 1 - N) 2^{-p-2}, p = L² + 2, with N the largest integer below (2·2^L / L)^L: what the counting argument proves."""
    p, N = L * L + 2, (2 * 2**L) ** L // L**L
    return Fraction(2 ** (p - 1) - 1 - N, 2 ** (p + 2))


def fitted_net(f: Pwl, L: int, rng: np.random.Generator) -> ReluNet:
    """A random net of L layers and at most 2^L nodes whose last layer is fitted to f by least squares."""
    width, x = 2**L // (L - 1), (np.arange(2048) + 0.5) / 2048
    net = compose(random_net([1, *[width] * (L - 1), 1], rng, 0.5), ReluNet((([[4.0]], [-2.0]),)))
    hidden = ReluNet((*net.layers[:-1], (np.eye(width), np.zeros(width))))(x[:, None])
    solution = np.linalg.lstsq(np.hstack([hidden, np.ones((x.size, 1))]), f(x), rcond=None)[0]
    return ReluNet((*net.layers[:-1], (solution[:-1], solution[-1])))


def fitted_spline(f: Pwl, pieces: int, rng: np.random.Generator) -> Pwl:
    """A continuous function with so many pieces: the better of 10 draws of knots at kinks of f, values by least squares."""
    x, made = (np.arange(1024) + 0.5) / 1024, []
    for _ in range(10):
        knots = np.append(0, np.append(np.sort(rng.choice(f.knots[(f.knots > 0) & (f.knots < 1)], pieces - 1, replace=False)), 1))
        basis = np.stack([np.interp(x, knots, row) for row in np.eye(knots.size)], axis=1)
        made.append(Pwl(knots, np.linalg.lstsq(basis, f(x), rcond=None)[0], 0.0, 0.0))
    return min(made, key=lambda g: l1_distance(f, g))


class Telgarsky32(Experiment):
    """A net with about 3L² nodes is further than 1/32 in L1 from every net with L layers and 2^L nodes.

    For L >= 2 let f = Δ^p, the tent map applied p = L² + 2 times (3L² + 6 nodes). Every ReLU net g with at most L layers and 2^L nodes has

        ∫_0^1 |f - g| dx >= 1/32.

    Counting: f crosses ½ every 2^{-p}, which leaves 2^p - 1 triangles of area 2^{-p-2}, by turns above and below ½. A g with N pieces
    changes sides at most N times, so it misses at least 2^{p-1} - 1 - N of them, and N <= (2·2^L / L)^L <= 2^{L²} = 2^{p-2}.
    """

    lecture = "A"
    kinds = ("BOUND",)
    cost = "M"
    source = "Telgarsky 2015, https://arxiv.org/abs/1509.08101; Telgarsky 2016, https://arxiv.org/abs/1602.04485"
    assumptions = ("L >= 2", "g is a ReLU net, so continuous and piecewise linear", "at most L layers and 2^L nodes")
    errata = ("A10",)
    aliases = ("Telgarsky's depth separation", "benefits of depth")
    panels = 2
    small = {"restarts": 3, "largest": 3}

    def measure(self, c: Config, rng: np.random.Generator) -> Iterator[Check]:
        for L in range(2, c.largest + 1):
            yield at_least(f"certificate, L = {L}", certificate(L), Fraction(1, 32))
        p, deep = c.L**2 + 2, power(TENT, c.L**2 + 2)
        self.f = f = pwl1d(deep).simplified()
        yield equal(f"nodes of f, L = {c.L}", deep.nodes, 3 * c.L**2 + 6)
        yield at_most("layers of f", deep.depth, 2 * c.L**2 + 4, kind="EXACT")
        yield equal("f crosses ½ so often", f.crossings(0.5, 0, 1), 2**p)
        yield equal("area between f and ½", l1_distance(f, HALF), 2**p * 2.0 ** (-p - 2))
        nets = [fitted_net(f, c.L, rng) for _ in range(c.restarts)]
        pieces = [pwl1d(net).pieces(0, 1) for net in nets]
        yield at_most(f"pieces of nets with {nets[0].depth} layers, {nets[0].nodes} nodes", pieces, 2 ** (c.L**2), kind="EXACT")
        self.candidates = {"fitted nets": [l1_distance(f, pwl1d(net)) for net in nets]}
        self.candidates["splines"] = [l1_distance(f, fitted_spline(f, 2 ** (c.L**2), rng)) for _ in range(c.restarts)]
        for name, errors in self.candidates.items():
            yield at_least(f"L1 error of {name}", errors, 1 / 32)
        self.errors, self.ends = np.array([]), [0]
        if c.L == 2:
            cost, self.lines = best_lines(f)
            self.errors, self.ends = best_by_pieces(cost, 64)
            yield at_least("L1 error of the best 16 lines on a 1/128 grid, jumps allowed", self.errors[15], 1 / 32)
            yield published("the same: reference value", self.errors[15], 0.1914, 5e-4)
            yield published("certificate, L = 2: reference value", float(certificate(2)), 0.0586, 5e-5)

    def examine(self, network: ReluNet, c: Config, rng: np.random.Generator) -> Iterator[Check]:
        f, g = pwl1d(power(TENT, c.L**2 + 2)).simplified(), pwl1d(network)
        yield at_most("layers of your net", network.depth, c.L)
        yield at_most("nodes of your net", network.nodes, 2**c.L)
        yield at_least("L1 distance of your net", l1_distance(f, g), 1 / 32)

    def control(self, c: Config, rng: np.random.Generator) -> Iterator[Check]:
        f = pwl1d(power(TENT, c.L**2 + 2)).simplified()
        yield at_least("L1 error of a net that is as deep as f", l1_distance(f, pwl1d(power(TENT, c.L**2 + 2))), 1 / 32)
        yield vacuous(at_least('"for every L": the certificate at L = 1', certificate(1), Fraction(1, 32)), "A10")

    def plot(self, c: Config, axes: "style.Panels") -> None:
        x = np.linspace(0, 1, 2049)
        axes[0].plot(x, self.f(x), **style.CURVE | {"linewidth": 0.9}, label=f"f = Δ applied {c.L**2 + 2} times")
        for i, j in pairwise(self.ends):
            t, (a, b) = np.array([i % 4, i % 4 + j - i]) / GRID, self.lines[i % 4, j - i]
            axes[0].plot(t + (i - i % 4) / GRID, a + b * t, color=style.ORANGE, linewidth=2.2, label="" if i else "the best 16 lines")
        axes[0].set(title="The deep net and 16 lines", xlabel="x", ylabel="f(x)", xlim=(0, 1), ylim=(0, 1.2))
        axes[0].legend(loc="upper center", ncols=2)
        if self.errors.size:
            axes[1].plot(np.arange(1, self.errors.size + 1), self.errors, **style.CURVE, label="best lines (grid 1/128)")
        for i, (name, errors) in enumerate(self.candidates.items()):
            axes[1].plot(
                [2 ** (c.L**2) if i else 2**c.L + 1] * len(errors), errors, **style.series(i + 1) | {"linestyle": "none"}, label=name
            )
        axes[1].axhline(1 / 32, **style.BOUND, label="1/32")
        axes[1].axhline(float(certificate(c.L)), **style.BOUND | {"color": style.PURPLE}, label="certificate")
        axes[1].set(title="No small net comes near", xlabel="linear pieces", ylabel="∫ |f - g|", ylim=(0, 0.33))
        axes[1].legend(loc="upper right", ncols=2)
