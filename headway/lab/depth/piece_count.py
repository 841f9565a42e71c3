"""How many linear pieces a net with one input can have."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

import numpy as np

from headway.core.config import require
from headway.lab import style
from headway.lab.checks import Check, at_most, equal
from headway.lab.depth.sawtooth import TENT, TENT_ON_UNIT, teeth
from headway.lab.old import Experiment
from headway.lab.pwl1d import Pwl, pwl1d
from headway.lab.relu_net import ReluNet, add, affine, compose, random_net


@dataclass(frozen=True)
class Config:
    nets: int = 500  # random networks
    layers: int = 4  # the largest number L of their hidden layers
    width: int = 6  # the largest width of a hidden layer
    p: int = 10  # the largest sawtooth Δ^p

    def __post_init__(self) -> None:
        require((self.nets >= 20, "nets >= 20"), (1 <= self.layers <= 5, "layers is 1 to 5"), (2 <= self.width <= 8, "width is 2 to 8"))
        require((2 <= self.p <= 16, "p is 2 to 16"))


def product_bound(widths: tuple[int, ...]) -> int:
    """∏ (m_ℓ + 1)."""
    return math.prod(m + 1 for m in widths)


def size_bounds(widths: tuple[int, ...]) -> tuple[Fraction, Fraction]:
    """(m/L + 1)^L and (2m/L)^L, m = Σ m_ℓ: what is left of the product when only units and layers are known."""
    m, L = sum(widths), len(widths)
    return (Fraction(m, L) + 1) ** L, Fraction(2 * m, L) ** L


def pieces_of(net: ReluNet) -> int:
    """Linear pieces on the line. Knots that rounding tells apart (two units that bend at one place) count once."""
    f = pwl1d(net)
    keep = np.append(True, np.diff(f.knots) > 1e-12 * np.maximum(1.0, np.abs(f.knots[1:])))
    return Pwl(f.knots[keep], f.values[keep], f.left, f.right).pieces()


def slopes_seen(net: ReluNet, x: np.ndarray) -> int:
    """Pieces that a walk along x meets: how often the derivative, by the chain rule, changes; a lower bound without `pwl1d`."""
    h, derivative = x[:, None], np.ones((x.size, 1))
    for w, b in net.layers[:-1]:
        z = h @ w.T + b
        h, derivative = np.maximum(z, 0.0), (derivative @ w.T) * (z > 0)
    last = (derivative @ net.layers[-1][0].T)[:, 0]
    return 1 + int(np.sum(np.abs(np.diff(last)) > 1e-9 * max(1.0, float(np.max(np.abs(last))))))


def orthants(x: np.ndarray) -> int:
    """How many sign patterns the rows of x show."""
    return len(np.unique(x > 0, axis=0))


class PieceCount(Experiment):
    """A ReLU net with one input has at most ∏ (m_ℓ + 1) linear pieces: layers multiply, units of one layer add.

    For hidden widths m_1 … m_L with m = Σ m_ℓ units,

        pieces <= ∏_ℓ (m_ℓ + 1) <= (m/L + 1)^L <= (2m/L)^L,

    because each unit of a layer bends at most once inside each piece of the layers below. Of functions with a and b pieces the sum has
    at most a + b pieces (one fewer, in fact) and the composition at most ab. Random nets are far below: their pieces grow with the number
    of units, not exponentially (Hanin and Rolnick 2019).
    """

    lecture = "A"
    kinds = ("BOUND",)
    cost = "S"
    source = "Telgarsky 2015, https://arxiv.org/abs/1509.08101; Hanin and Rolnick 2019, https://arxiv.org/abs/1901.09021"
    assumptions = ("one input", "each unit bends once (ReLU)", "m >= L: no hidden layer is empty")
    aliases = ("few pieces for shallow nets", "number of linear pieces")
    panels = 2
    small = {"nets": 60, "p": 6}

    def measure(self, c: Config, rng: np.random.Generator) -> Iterator[Check]:
        shapes = [tuple(int(m) for m in rng.integers(1, c.width + 1, rng.integers(1, c.layers + 1))) for _ in range(c.nets)]
        nets = [random_net([1, *shape, 1], rng) for shape in shapes]
        self.pieces, self.bound = np.array([pieces_of(net) for net in nets]), np.array([product_bound(s) for s in shapes])
        self.layers, self.units = np.array([len(s) for s in shapes]), np.array([sum(s) for s in shapes])
        yield at_most(f"pieces of {c.nets} random nets, ∏ (m_ℓ + 1)", self.pieces, self.bound)
        for name, column in (("(m/L + 1)^L", 0), ("(2m/L)^L", 1)):
            yield at_most(f"the same, {name}", self.pieces, [float(size_bounds(s)[column]) for s in shapes])
        every = [w for L in range(1, c.layers + 1) for w in product(range(1, c.width + 1), repeat=L)]
        chain = sum(not product_bound(w) <= size_bounds(w)[0] <= size_bounds(w)[1] for w in every)
        yield equal(f"∏ (m_ℓ + 1) <= (m/L + 1)^L <= (2m/L)^L violated, {len(every)} shapes", chain, 0)
        x = np.linspace(-20, 20, 801)
        walked = [slopes_seen(net, x) for net in nets]
        yield at_most("pieces met on a walk from -20 to 20, by the chain rule", walked, self.pieces, kind="EXACT")
        for L in range(1, c.layers + 1):
            of = self.layers == L
            yield at_most(f"L = {L}: median of pieces / bound", float(np.median(self.pieces[of] / self.bound[of])), 1.0)
        yield at_most("mean pieces / (m + 1): random pieces do not outgrow the units", float(np.mean(self.pieces / (self.units + 1))), 1.0)
        yield from self.calculus(nets[:200], self.pieces)
        self.saw = [teeth(p, tent) for tent in (TENT, TENT_ON_UNIT) for p in range(1, c.p + 1)]
        self.saw_pieces = np.array([pieces_of(net) for net in self.saw])
        self.saw_bound = np.array([product_bound(net.widths) for net in self.saw])
        yield at_most(f"pieces of sawtooth nets on the line, p <= {c.p}", self.saw_pieces, self.saw_bound)

    def calculus(self, nets: list[ReluNet], pieces: np.ndarray) -> Iterator[Check]:
        """Sums and compositions of neighbours in the list."""
        pairs = list(zip(nets[::2], nets[1::2], strict=False))
        a, b = pieces[: 2 * len(pairs) : 2], pieces[1 : 2 * len(pairs) : 2]
        sums = [pieces_of(add(f, g)) for f, g in pairs]
        yield at_most("pieces of a sum, a + b", sums, a + b)
        yield at_most("pieces of a sum, a + b - 1", sums, a + b - 1)
        yield at_most("pieces of a composition, ab", [pieces_of(compose(f, g)) for f, g in pairs], a * b)

    def examine(self, network: ReluNet, c: Config, rng: np.random.Generator) -> Iterator[Check]:
        yield at_most(f"pieces of your net of widths {network.widths}", pieces_of(network), product_bound(network.widths))

    def control(self, c: Config, rng: np.random.Generator) -> Iterator[Check]:
        plane = rng.normal(0, 10, (20000, 2)) @ rng.normal(size=(2, 3)) + rng.normal(size=3)
        yield at_most("two inputs: regions of 3 units", orthants(plane), product_bound((3,)))
        tents = add(*[compose(TENT, affine([[1.0]], [shift])) for shift in rng.normal(size=5)], coefficients=rng.normal(size=5))
        yield at_most("units that bend three times: pieces of 5 tents", pieces_of(tents), product_bound((5,)))
        saw = pieces_of(teeth(3))
        yield at_most("composition as if it were a sum: Δ³ ∘ Δ³", pieces_of(teeth(6)), 2 * saw)

    def plot(self, c: Config, axes: "style.Panels") -> None:
        share = np.log(self.pieces) / np.log(self.bound)
        saw = np.log(self.saw_pieces) / np.log(self.saw_bound)
        bins = np.linspace(0, 1, 26)
        axes[0].hist([share[self.layers == L] for L in range(1, c.layers + 1)], bins, stacked=True, color=style.SERIES[: c.layers],
                     label=[f"random nets, L = {L}" for L in range(1, c.layers + 1)])  # fmt: skip
        axes[0].axvline(1.0, **style.BOUND, label="bound")
        axes[0].axvline(float(saw[-1]), **style.CONTROL | {"marker": "", "linewidth": 2.2}, label=f"Δ^{c.p}, widths 2")
        axes[0].set(title="How much of the exponent is used", xlabel="log(pieces) / log(∏ (m + 1))", ylabel="nets")
        axes[0].legend(loc="upper left")
        for L in range(1, c.layers + 1):
            of, look = self.layers == L, style.series(L - 1) | {"linestyle": "none", "alpha": 0.5, "markersize": 4}
            axes[1].loglog(self.bound[of], self.pieces[of], **look, label=f"L = {L}")
        half = len(self.saw) // 2
        for name, of, colour in (("widths 3", slice(half), style.SKY), ("widths 2", slice(half, None), style.VERMILION)):
            axes[1].loglog(self.saw_bound[of], self.saw_pieces[of], color=colour, marker="x", linewidth=1.4, label=f"Δ^p, {name}")
        ends = np.array([2, self.saw_bound.max()])
        axes[1].loglog(ends, ends, **style.BOUND, label="bound")
        axes[1].set(title="Random nets and sawtooth nets", xlabel="∏ (m + 1)", ylabel="linear pieces", ylim=(0.8, 1e5))
        axes[1].legend(ncols=2, loc="upper left")
