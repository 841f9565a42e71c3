"""The best of n responses: what a rating does to a model when it is optimised, without training anything.

Of n responses that a model draws, the one with the highest rating is kept. How far that is from the model follows from n
alone (Stiennon et al. 2020, https://arxiv.org/abs/2009.01325), and what the kept responses are worth is estimated without
bias from all subsets of N draws (Gao et al. 2023, "Scaling laws for reward model overoptimization",
https://arxiv.org/abs/2210.10760):

    KL_n = log n - (n - 1) / n        E_n[v] = sum_i v_(i) C(i - 1, n - 1) / C(N, n)        i: rank by the rating, from 1

The values v may be the ratings themselves, or what they stand for: if the latter falls while the ratings rise, the rating is
over-optimised.
"""

import math

import numpy as np
from jaxtyping import Float

from headway.core.errors import DataError


def distance_of_best(n: int) -> float:
    """KL_n in nats: how far the best of n is from the model that drew them."""
    return math.log(n) - (n - 1) / n


def value_of_best(ratings: Float[np.ndarray, "p n"], values: Float[np.ndarray, "p n"], n: int) -> float:
    """E_n[v], the mean value of the response that is rated highest among n, over all prompts.

    ratings   of N responses (columns) to each prompt (rows)
    values    what each of them is worth
    n         of how many responses the best is kept, at most N
    """
    total = ratings.shape[1]
    if ratings.shape != values.shape or not 1 <= n <= total:
        words = f"the best of {n} cannot be found in ratings {ratings.shape} with values {values.shape}"
        raise DataError(words, "give a value for each rating, and n from 1 to the number of responses.")
    order = np.argsort(ratings, axis=1, kind="stable")
    weights = np.array([math.comb(i, n - 1) / math.comb(total, n) for i in range(total)])
    return float((np.take_along_axis(values, order, 1) @ weights).mean())
