"""Which inputs a model relies on: what its score loses when one of them is shuffled.

    importance_j = s(x) - mean over k shuffles of s(x with the values of feature j exchanged between the examples)

A feature may be several columns (the one-hot columns of a category), which are shuffled together. Two features that say the
same share their importance: each can stand in for the other. Breiman 2001, https://doi.org/10.1023/A:1010933404324, sec. 10.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float


@dataclass(frozen=True)
class Importance:
    """What the score loses without a feature.

    name        of the feature
    mean        over the shuffles
    deviation   between the shuffles
    """

    name: str
    mean: float
    deviation: float


def permutation_importance(
    score: Callable[[Float[np.ndarray, "n f"]], float],
    inputs: Float[np.ndarray, "n f"],
    features: Mapping[str, Sequence[int]],
    repeats: int = 5,
    seed: int = 0,
) -> list[Importance]:
    """The importance of each feature, the largest first.

    Also called permutation importance, feature importance.

    score      the figure of these inputs, the higher the better
    inputs     the examples
    features   the columns of each, by name
    repeats    shuffles of each
    """
    random, before, found = np.random.default_rng(seed), score(inputs), []
    for name, columns in features.items():
        losses = []
        for _ in range(repeats):
            shuffled = inputs.copy()
            shuffled[:, list(columns)] = inputs[random.permutation(len(inputs))][:, list(columns)]
            losses.append(before - score(shuffled))
        found.append(Importance(name, float(np.mean(losses)), float(np.std(losses))))
    return sorted(found, key=lambda importance: -importance.mean)
