"""Sums of products, deep and flat."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import isqrt

import numpy as np

from headway.core.config import require
from headway.lab import style
from headway.lab.checks import Check, at_most, equal
from headway.lab.old import Experiment

Monomials = dict[frozenset[int], int]  # variables of a product -> its coefficient


@dataclass(frozen=True)
class Config:
    largest: int = 4  # i: the deep network has n = 4^i inputs, i = 1 … largest
    expanded: int = 3  # up to this i the polynomial is written out
    points: int = 50  # places of small integers where both forms are compared

    def __post_init__(self) -> None:
        require((3 <= self.largest <= 8, "largest is 3 to 8"), (self.points >= 1, "points >= 1"))
        require((2 <= self.expanded <= min(4, self.largest), "expanded is 2 to 4, and at most largest"))


def deep(x: np.ndarray) -> tuple[np.ndarray, int]:
    """Values (p,) of the network at integers (p, n): pairs are multiplied, then pairs added, and so on; and its number of units."""
    units, multiply = 0, True
    while x.shape[1] > 1:
        x = x[:, 0::2] * x[:, 1::2] if multiply else x[:, 0::2] + x[:, 1::2]
        units, multiply = units + x.shape[1], not multiply
    return x[:, 0], units


def counted(i: int) -> int:
    """Monomials of the network with 4^i inputs: a product of two squares their number, a sum doubles it."""
    number = 1
    for _ in range(i):
        number = 2 * number**2
    return number


def expand(i: int) -> Monomials:
    """The polynomial of the same network, written out with the distributive law."""
    level: list[Monomials] = [{frozenset([k]): 1} for k in range(4**i)]
    multiply = True
    while len(level) > 1:
        made = []
        for left, right in zip(level[0::2], level[1::2], strict=True):
            terms: Monomials = {} if multiply else dict(left)
            pairs = [(a | b, p * q) for a, p in left.items() for b, q in right.items()] if multiply else list(right.items())
            for variables, coefficient in pairs:
                terms[variables] = terms.get(variables, 0) + coefficient
            made.append(terms)
        level, multiply = made, not multiply
    return level[0]


def flat(terms: Monomials, x: np.ndarray) -> np.ndarray:
    """Σ coefficient ∏ variables: one layer of product units and a sum."""
    return sum((c * np.prod(x[:, sorted(variables)], axis=1) for variables, c in terms.items()), np.zeros(len(x), dtype=x.dtype))


class SumProduct(Experiment):
    """A deep sum-product network has n - 1 units; written out as one sum of products it has 2^{√n - 1} product units.

    On n = 4^i inputs let layers of products of two and sums of two alternate. The number of monomials is squared by a product of disjoint
    factors and doubled by a sum,

        M_0 = 1,   M_{i+1} = 2 M_i²,     M_i = 2^{√n - 1},     while the deep network has n/2 + n/4 + … + 1 = n - 1 inner units.

    All monomials have the degree √n and the coefficient 1 and are different, and a polynomial has one expansion only; so one layer of
    products of inputs followed by a sum needs a unit for each. Witness: where the variables of one monomial are 1 and the others 0, f is
    1 and every other monomial is 0.
    """

    lecture = "A"
    kinds = ("EXACT",)
    cost = "S"
    source = "Delalleau and Bengio 2011, https://proceedings.neurips.cc/paper/2011/hash/8e6b42f1644ecb1327dc03ab345e618b-Abstract.html"
    assumptions = ("every input enters once", "a flat product unit multiplies inputs, not sums of inputs")
    aliases = ("sum-product networks", "deep against shallow polynomials")
    panels = 2
    small = {"expanded": 2, "points": 20}
    full = {"expanded": 4}

    def measure(self, c: Config, rng: np.random.Generator) -> Iterator[Check]:
        self.n = [4**i for i in range(1, c.largest + 1)]
        self.deep = [deep(np.ones((1, n), dtype=np.int64))[1] for n in self.n]
        self.flat = [counted(i) for i in range(1, c.largest + 1)]
        yield equal("units of the deep network are n - 1", np.array(self.deep), np.array(self.n) - 1)
        for n, number, reference in zip(self.n, self.flat, (2, 8, 128, 32768), strict=False):
            yield equal(f"n = {n}: monomials, reference value", number, reference)
        yield equal("monomials are 2^(√n - 1), all n", all(f == 2 ** (isqrt(n) - 1) for n, f in zip(self.n, self.flat, strict=True)), True)
        for i in range(1, c.expanded + 1):
            n, terms = 4**i, expand(i)
            yield equal(f"n = {n}: monomials that were written out", len(terms), counted(i))
            same = {(len(variables), coefficient) for variables, coefficient in terms.items()} == {(2**i, 1)}
            yield equal(f"n = {n}: every degree is √n, every coefficient 1", same, True)
            x = rng.integers(-2, 3, (c.points, n))
            yield equal(f"n = {n}: deep and flat at integers", deep(x)[0], flat(terms, x))
            own = np.array([[k in variables for k in range(n)] for variables in terms], dtype=np.int64)
            yield equal(f"n = {n}: f is 1 on the variables of each monomial", deep(own)[0], np.ones(len(own), dtype=np.int64))
            if i <= 3:
                alone = own @ own.T == 2**i  # whether a monomial is 1 on the variables of another
                yield equal(f"n = {n}: there it is the only monomial that is not 0", alone, np.eye(len(own), dtype=bool))

    def control(self, c: Config, rng: np.random.Generator) -> Iterator[Check]:
        terms = expand(2)
        dropped = sorted(next(iter(terms)))
        fewer = {variables: coefficient for variables, coefficient in terms.items() if sorted(variables) != dropped}
        x = np.zeros((1, 16), dtype=np.int64)
        x[0, dropped] = 1
        yield equal("n = 16: one product unit fewer", flat(fewer, x), deep(x)[0])
        yield at_most("flat products, as if n - 1 were enough, n >= 64", self.flat[2:], np.array(self.deep[2:], dtype=float), kind="EXACT")
        shared = rng.integers(1, 3, (c.points, 4))
        tied = np.concatenate([shared] * 4, axis=1)  # inputs that enter four times: monomials of equal variables merge
        merged = {frozenset(v % 4 for v in variables) for variables in terms}
        yield equal("n = 16 inputs that are only 4 variables: different sets of variables", len(merged), counted(2))
        yield equal("the same: flat with sets in place of powers", flat(dict.fromkeys(merged, 1), shared), deep(tied)[0])

    def plot(self, c: Config, axes: "style.Panels") -> None:
        terms = expand(2)
        picture = np.array([[k in variables for k in range(16)] for variables in sorted(terms, key=sorted)])
        axes[0].imshow(~picture, cmap="gray", vmin=-0.6, vmax=1.4, aspect="auto", interpolation="nearest")
        axes[0].set(title="n = 16: the 8 monomials", xlabel="variable (dark: it is a factor)", ylabel="monomial")
        axes[0].grid(False)
        axes[1].loglog(self.n, self.deep, **style.series(0), label="deep: n - 1 units", base=2)
        axes[1].loglog(self.n, [float(f) for f in self.flat], **style.series(1), label="flat: 2^(√n - 1) products", base=2)
        axes[1].set(title="Deep and flat sizes", xlabel="inputs n", ylabel="units")
        axes[1].legend()
