"""Parity by circuits of several kinds."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil, isqrt

import numpy as np

from headway.core.config import require
from headway.lab import style
from headway.lab.checks import Check, at_least, at_most, equal, vacuous
from headway.lab.depth.parity_forms import AndOr, blocks, dnf, every_input, nand_tree, prime_implicants, threshold_pair
from headway.lab.depth.sawtooth import teeth
from headway.lab.old import Experiment

FORMS = ("DNF", "depth 3", "NAND tree", "thresholds", "ReLU")


@dataclass(frozen=True)
class Config:
    n: int = 12  # bits; all from 2 on are tried, on all 2^n inputs
    primes: int = 6  # all terms are searched for prime implicants up to this n
    circuits: int = 50  # random terms and circuits that are correlated with parity

    def __post_init__(self) -> None:
        require((6 <= self.n <= 14, "n is 6 to 14"), (2 <= self.primes <= 7, "primes is 2 to 7"), (self.circuits >= 10, "circuits >= 10"))


def relu_parity(x: np.ndarray, p: int) -> tuple[np.ndarray, int]:
    """Δ^p(Σx / 2^p): values and units."""
    net = teeth(p)
    return net.at(x.sum(axis=1) / 2**p), net.nodes


def random_circuit(n: int, rng: np.random.Generator) -> AndOr:
    """Depth 3, layers of 2n and n gates and one: each gate takes three values of the layer before, at random."""

    def members(gates: int, values: int) -> np.ndarray:
        return (rng.random((gates, values)).argsort(axis=1) < min(3, values)).astype(int)

    return AndOr((("and", members(2 * n, 2 * n)), ("or", members(n, 2 * n)), ("and", members(1, n))))


def correlation(values: np.ndarray, parity: np.ndarray) -> float:
    """E (-1)^{f + parity} over all inputs, a fraction with the denominator 2^n: exact."""
    return float(np.mean((1 - 2 * values) * (1 - 2 * parity)))


class ParityCircuits(Experiment):
    """Parity of n bits takes 2^{n-1} terms at depth two, but 4(n - 1) NANDs, n + 1 thresholds or 3⌈log₂ n⌉ ReLU units.

        DNF: 2^{n-1} terms of n literals        depth 3, blocks of s = ⌈√n⌉: O(√n 2^{√n}) gates        NAND tree: 4(n - 1), depth 3⌈log₂ n⌉
        thresholds: 1{Σ_k (-1)^{k+1} 1{Σx >= k} >= ½}, n + 1 gates        ReLU: Δ^p(Σx / 2^p), p = ⌈log₂ n⌉, 3p units

    Flipping a bit flips the parity, so a term that leaves out a variable is true at an even row: every implicant is a minterm, and a DNF
    has all 2^{n-1} of them. For the same reason a term of fewer than n literals does not correlate with parity at all. At depth k AND/OR
    circuits need exp(Ω(n^{1/(k-1)})) gates (Håstad 1986, quoted, not measured); blocks reach that order at depth 3.
    """

    lecture = "A, E"
    kinds = ("EXACT",)
    cost = "S"
    source = (
        "Håstad 1986, https://doi.org/10.1145/12130.12132; Muroga 1971 for thresholds; Telgarsky 2015, https://arxiv.org/abs/1509.08101"
    )
    assumptions = ("AND and OR gates have any number of inputs, and literals are free", "thresholds and ReLU units take sums of bits")
    errata = ("A17",)
    aliases = ("parity and bounded depth", "Håstad's theorem")
    panels = 2
    small = {"n": 7, "primes": 4, "circuits": 20}

    def measure(self, c: Config, rng: np.random.Generator) -> Iterator[Check]:
        self.n = np.arange(2, c.n + 1)
        logs = np.array([int(n - 1).bit_length() for n in self.n])  # ⌈log₂ n⌉
        wrong: dict[str, list[int]] = {form: [] for form in FORMS}
        self.size: dict[str, list[int]] = {form: [] for form in FORMS}
        depths, literals, self.correlations, terms = [], [], [], []
        for n, p in zip(self.n.tolist(), logs.tolist(), strict=True):
            x = every_input(n)
            parity, flat, three = x.sum(axis=1) % 2, dnf(n), blocks(n)
            tree, gates, deep = nand_tree(x)
            layer, thresholds = threshold_pair(x)
            relu, units = relu_parity(x, p)
            for form, values, size in zip(
                FORMS, (flat(x), three(x), tree, layer, relu), (flat.size, three.size, gates, thresholds, units), strict=True
            ):
                wrong[form].append(int(np.sum(values != parity)))
                self.size[form].append(size)
            depths.append(deep)
            literals.append(int(np.sum(flat.layers[0][1].sum(axis=1) != n)))
            self.correlations.append([abs(correlation(random_circuit(n, rng)(x), parity)) for _ in range(c.circuits)])
            chosen = [rng.permutation(n)[: rng.integers(1, n)] for _ in range(c.circuits)]
            terms += [correlation(np.all(x[:, v] == rng.integers(0, 2, v.size), axis=1).astype(int), parity) for v in chosen]
        none = np.zeros(self.n.size, dtype=int)
        for form in FORMS:
            yield equal(f"{form}: wrong values on all inputs, n = 2 … {c.n}", np.array(wrong[form]), none)
        size = {form: np.array(sizes) for form, sizes in self.size.items()}
        yield equal("DNF: 2^(n-1) terms and one OR", size["DNF"], 2 ** (self.n - 1) + 1)
        yield equal("DNF: terms that do not have n literals", np.array(literals), none)
        full = [(isqrt(n - 1) + 1, n) for n in self.n.tolist()]  # ⌈√n⌉
        bound = [ceil(n / s) * 2**s + 2 ** (ceil(n / s) - 1) + 1 for s, n in full]
        yield at_most("depth 3: gates, ⌈n/s⌉ 2^s + 2^(⌈n/s⌉-1) + 1", size["depth 3"], bound, kind="EXACT")
        order = np.sqrt(self.n) * 2.0 ** np.sqrt(self.n)
        yield at_most("depth 3: gates, 4 √n 2^√n", size["depth 3"], 4 * order)  # s < √n + 1 and ⌈n/s⌉ <= s: at most 2.6 up to n = 14
        yield equal("NAND tree: 4(n - 1) gates", size["NAND tree"], 4 * (self.n - 1))
        yield equal("NAND tree: depth 3⌈log₂ n⌉", np.array(depths), 3 * logs)
        yield equal("thresholds: n + 1 gates", size["thresholds"], self.n + 1)
        yield equal("ReLU: 3⌈log₂ n⌉ units", size["ReLU"], 3 * logs)
        for n in range(2, c.primes + 1):
            found = prime_implicants(every_input(n).sum(axis=1) % 2, n)
            yield equal(f"n = {n}: prime implicants", len(found), 2 ** (n - 1))
            yield equal(f"n = {n}: every implicant has n literals", all(2 not in term for term in found), True)
        majority = prime_implicants((every_input(3).sum(axis=1) >= 2).astype(int), 3)
        yield equal("the search itself: prime implicants of the majority of 3", sorted(majority), [(1, 1, 2), (1, 2, 1), (2, 1, 1)])
        yield equal(f"correlation of parity with {len(terms)} terms of fewer than n literals", np.array(terms), np.zeros(len(terms)))

    def control(self, c: Config, rng: np.random.Generator) -> Iterator[Check]:
        x = every_input(c.n)
        parity, flat = x.sum(axis=1) % 2, dnf(c.n)
        (kind, rows), _ = flat.layers
        fewer = AndOr(((kind, rows[1:]), ("or", np.ones((1, len(rows) - 1), dtype=int))))
        yield equal("DNF with one term fewer: wrong values", int(np.sum(fewer(x) != parity)), 0)
        p = int(c.n - 1).bit_length() - 1
        yield equal("ReLU with one tent fewer: wrong values", int(np.sum(relu_parity(x, p)[0] != parity)), 0)
        either = prime_implicants(every_input(4).any(axis=1).astype(int), 4)
        yield equal("prime implicants of OR in place of parity, n = 4", len(either), 2**3)
        least = 2 ** (c.n - 1)
        claim = at_least(f'"small" without a bound: depth 3, as if 2^(n-1) held at every depth, n = {c.n}', blocks(c.n).size, least)
        yield vacuous(claim, "A17")

    def plot(self, c: Config, axes: "style.Panels") -> None:
        for i, (form, sizes) in enumerate(self.size.items()):
            axes[0].semilogy(self.n, sizes, **style.series(i), label=form)
        axes[0].set(title="Sizes of circuits for parity", xlabel="bits n", ylabel="gates or units")
        axes[0].legend()
        mean, most = np.mean(self.correlations, axis=1), np.max(self.correlations, axis=1)
        axes[1].plot(self.n, most, **style.series(1), label="largest")
        axes[1].plot(self.n, mean, **style.series(0), label="mean")
        axes[1].set(title=f"{c.circuits} random circuits of depth 3", xlabel="bits n", ylabel="|correlation with parity|")
        axes[1].legend()
