"""Sum-product networks on 4^i inputs: pairs are multiplied, then pairs of the products added, and so on. Evaluated, and written out."""

from collections import Counter
from itertools import product

import numpy as np

Monomials = Counter[frozenset[int]]  # coefficients by the variables of a product


def deep(x: np.ndarray) -> list[np.ndarray]:
    """The layers (p, units) at integers (p, n)."""
    layers = [x]
    while (v := layers[-1]).shape[1] > 1:
        layers.append(v[:, 0::2] * v[:, 1::2] if len(layers) % 2 else v[:, 0::2] + v[:, 1::2])
    return layers[1:]


def times(f: Monomials, g: Monomials) -> Monomials:
    """The product by the distributive law."""
    made: Monomials = Counter()
    for (a, p), (b, q) in product(f.items(), g.items()):
        made[a | b] += p * q
    return made


def expand(n: int) -> Monomials:
    """The polynomial of the same network, written out."""
    level: list[Monomials] = [Counter([frozenset([k])]) for k in range(n)]
    multiply = True
    while len(level) > 1:
        level = [times(f, g) if multiply else f + g for f, g in zip(level[0::2], level[1::2], strict=True)]
        multiply = not multiply
    return level[0]


def flat(terms: Monomials, x: np.ndarray) -> np.ndarray:
    """Σ coefficient ∏ variables: one layer of product units and a sum."""
    products = np.stack([np.prod(x[:, sorted(variables)], axis=1) for variables in terms], axis=1)
    return products @ np.array(list(terms.values()))
