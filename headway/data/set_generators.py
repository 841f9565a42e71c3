"""Functions of sets to learn: random sets, and for each the number that follows from it.

    sum        of numbers between -1 and 1
    max        the largest of them
    variance   of them: the mean squared distance from their mean
    distinct   how many different digits there are
    digits     the sum of digits that are given as pictures (scikit-learn's, 8 x 8 pixels)

Sets to learn from have up to `largest` elements, those of the test part up to three times as many: a model that has found the function
goes on where its training ended.
"""

from collections.abc import Callable
from typing import Literal, get_args

import numpy as np
from jaxtyping import Float, Int

from headway.core.seeds import derive
from headway.data.sets import LabelledSets

Kind = Literal["sum", "max", "variance", "distinct", "digits"]
Elements = Float[np.ndarray, "m c"]
BEYOND = 3  # times as many elements as in training has the largest set of the test part
HELD_OUT = 500  # pictures of digits that training never shows


def generate_sets(kind: Kind, count: int, largest: int, seed: int, part: str) -> LabelledSets:
    """Sets of 1 to `largest` elements, or three times as many in the part `test`; every part draws numbers of its own."""
    random = np.random.default_rng(derive(seed, "sets", kind, part))
    counts = random.integers(1, largest * (BEYOND if part == "test" else 1) + 1, count)
    total = int(counts.sum())
    if kind == "digits":
        elements, values = pictures_of_digits(random, total, part)
    elif kind == "distinct":
        values = random.integers(0, 10, total).astype(np.float64)
        elements = values[:, None]
    else:
        values = random.uniform(-1, 1, total)
        elements = values[:, None]
    found = [FUNCTIONS[kind](group) for group in np.split(values, np.cumsum(counts)[:-1])]
    columns = ("value",) if elements.shape[1] == 1 else tuple(f"pixel{i}" for i in range(elements.shape[1]))
    names = tuple(f"{part} {i}" for i in range(1, count + 1))
    return LabelledSets(
        elements, counts, tuple(repr(float(y)) for y in found), names, columns, f"generated sets ({kind})"
    )


def pictures_of_digits(random: np.random.Generator, count: int, part: str) -> tuple[Elements, Int[np.ndarray, "m"]]:
    """Pictures with the digits they show; those of held-out parts are not in training."""
    from sklearn.datasets import load_digits

    found = load_digits()
    order = np.random.default_rng(0).permutation(len(found.target))  # the same for every seed and part
    known = order[:-HELD_OUT] if part == "train" else order[-HELD_OUT:]
    rows = random.choice(known, count)
    return found.data[rows] / 16, found.target[rows]


FUNCTIONS: dict[Kind, Callable[[np.ndarray], float]] = {
    "sum": np.sum,
    "max": np.max,
    "variance": np.var,
    "distinct": lambda values: len(set(values.tolist())),
    "digits": np.sum,
}
KINDS: tuple[Kind, ...] = get_args(Kind)
