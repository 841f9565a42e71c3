"""Circuits for the parity of n bits, and the implicants of a Boolean function.

A circuit of AND and OR gates sees the bits and their negations: literals cost nothing, as is usual.
"""

from dataclasses import dataclass
from itertools import product

import numpy as np

from headway.lab.tools.bits import cube


@dataclass(frozen=True)
class AndOr:
    """Layers of AND or OR gates; a layer is (kind, members), members[g, s] = 1 where gate g takes the value s of the layer before."""

    layers: tuple[tuple[str, np.ndarray], ...]

    def __call__(self, x: np.ndarray) -> np.ndarray:
        v = np.concatenate([x, 1 - x], axis=1).astype(np.float32)  # literals; small integers are exact
        for kind, members in self.layers:
            true = v @ members.T.astype(np.float32)
            v = (true >= (members.sum(axis=1) if kind == "and" else 1)).astype(np.float32)
        return v[:, 0].astype(int)

    @property
    def size(self) -> int:
        return sum(len(members) for _, members in self.layers)


def rows(n: int, odd: int = 1) -> np.ndarray:
    """The 2^{n-1} rows of n bits whose sum is odd (or even)."""
    every = cube(n)
    return every[every.sum(axis=1) % 2 == odd]


def dnf(n: int) -> AndOr:
    """An AND of n literals for each row with an odd sum, and one OR."""
    terms = np.hstack([rows(n), 1 - rows(n)])
    return AndOr((("and", terms), ("or", np.ones((1, len(terms)), dtype=int))))


def blocks(n: int) -> AndOr:
    """OR of AND of OR: the parity of ⌈√n⌉ or fewer blocks as an OR of ANDs, and each block's parity (or its negation) as an AND of ORs."""
    size = int(np.ceil(np.sqrt(n)))
    parts = [np.arange(n)[i : i + size] for i in range(0, n, size)]
    clauses, owner = [], []  # a clause is false at one row of its block with the wrong parity
    for j, part in enumerate(parts):
        for wanted in (0, 1):
            for row in rows(len(part), 1 - wanted):
                clause = np.zeros(2 * n, dtype=int)
                clause[np.where(row == 1, part + n, part)] = 1
                clauses.append(clause)
                owner.append((j, wanted))
    ands = np.array([[int(pattern[j] == wanted) for j, wanted in owner] for pattern in rows(len(parts))])
    return AndOr((("or", np.array(clauses)), ("and", ands), ("or", np.ones((1, len(ands)), dtype=int))))


def nand_tree(x: np.ndarray) -> tuple[np.ndarray, int, int]:
    """A balanced tree of XORs of four NANDs each: values, gates and depth."""
    values, gates = [(x[:, i], 0) for i in range(x.shape[1])], 0  # with the depth of each
    while len(values) > 1:
        joined = []
        for (a, deep_a), (b, deep_b) in zip(values[0::2], values[1::2], strict=False):
            t = 1 - (a & b)
            joined.append((1 - ((1 - (a & t)) & (1 - (b & t))), max(deep_a, deep_b) + 3))
            gates += 4
        values = joined + values[len(joined) * 2 :]
    return values[0][0], gates, values[0][1]


def threshold_pair(x: np.ndarray) -> tuple[np.ndarray, int]:
    """h_k = 1{Σx >= k}, then 1{Σ_k (-1)^{k+1} h_k >= ½}: values and gates."""
    k = np.arange(1, x.shape[1] + 1)
    h = (x.sum(axis=1)[:, None] >= k).astype(int)
    return (h @ (-1) ** (k + 1) >= 0.5).astype(int), k.size + 1


def prime_implicants(values: np.ndarray, n: int) -> list[tuple[int, ...]]:
    """All prime implicants of a function of n bits, from all 3^n terms: 0 or 1 for a literal, 2 for a variable that is left out."""
    terms = np.array(list(product((0, 1, 2), repeat=n)))
    inside = np.all((terms[:, None] == 2) | (terms[:, None] == cube(n)), axis=2)
    true = {tuple(term) for term, where in zip(terms.tolist(), inside, strict=True) if values[where].all()}
    return [t for t in true if not any((*t[:i], 2, *t[i + 1 :]) in true for i in range(n) if t[i] != 2)]


def correlation(x: np.ndarray, literals: int, rng: np.random.Generator) -> float:
    """E (-1)^{term + parity} over all inputs x for a random term: a fraction with the denominator 2^n, exact."""
    chosen = rng.permutation(x.shape[1])[:literals]
    term = np.all(x[:, chosen] == rng.integers(0, 2, literals), axis=1)
    return float(np.mean((1 - 2 * term) * (1 - 2 * (x.sum(axis=1) % 2))))
