"""Multi-indices α = (α_1 … α_d): the exponents of monomials, and the orders of partial derivatives.

    x^α = x_1^{α_1} … x_d^{α_d},     |α| = α_1 + … + α_d,     α! = α_1! … α_d!,     (x_1 + … + x_d)^k = Σ_{|α|=k} k!/α! x^α
"""

import math
from collections.abc import Iterator, Sequence
from itertools import combinations_with_replacement
from typing import Any

import numpy as np

Index = tuple[int, ...]


def exponents(d: int, k: int) -> list[Index]:
    """All α of d variables with |α| = k, C(d + k - 1, k) of them; the powers of x_1 come first."""
    return [tuple(chosen.count(j) for j in range(d)) for chosen in combinations_with_replacement(range(d), k)]


def below(d: int, n: int) -> list[Index]:
    """All α with |α| < n by degree, C(d + n - 1, d) of them: the terms of a Taylor polynomial of degree n - 1."""
    return [alpha for k in range(n) for alpha in exponents(d, k)]


def factorial(alpha: Sequence[int]) -> int:
    """α!"""
    return math.prod(math.factorial(a) for a in alpha)


def multinomial(alpha: Sequence[int]) -> int:
    """|α|! / α!"""
    return math.factorial(sum(alpha)) // factorial(alpha)


def monomials(x: np.ndarray, alphas: Any) -> np.ndarray:
    """x^α at points (p, d), one column for each α."""
    return np.prod(x[:, None, :] ** np.asarray(alphas), axis=2)


def factors(alpha: Sequence[int]) -> Iterator[int]:
    """The variable of each factor of x^α: 0, 0, 2 for x_1² x_3."""
    return (j for j, times in enumerate(alpha) for _ in range(times))
