"""Intervals around predictions that hold without assumptions about the errors: split conformal prediction.

    r = the ceil((n + 1) p)-th smallest of |y_i - f_i| over n examples that were not learned from      y in [f - r, f + r]

If a new example is exchangeable with these, its interval covers the truth with probability at least p. Later times are not
exactly exchangeable with earlier ones, so the coverage on the test part is reported beside it. Vovk et al. 2005; Lei et al.
2018, https://arxiv.org/abs/1604.04173.
"""

import math

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from headway.core.errors import DataError


def conformal_radius(errors: Float[np.ndarray, "n h"], coverage: float) -> Float[np.ndarray, "h"]:
    """Half the length of the interval, for each of h outputs.

    Also called split conformal prediction, conformal interval, prediction interval.

    errors     of examples that were not learned from
    coverage   p, the share of new examples whose interval should hold the truth
    """
    sizes = np.sort(np.abs(np.asarray(errors, dtype=np.float64)), axis=0)
    if sizes.ndim != 2 or not len(sizes):
        raise DataError("there are no errors to make intervals from", "bring validation data.")
    rank = math.ceil(round((len(sizes) + 1) * coverage, 9))
    return sizes[min(rank, len(sizes)) - 1]  # with too few examples the largest error, which covers less than p


def coverage_of(predicted: ArrayLike, true: ArrayLike, radius: ArrayLike) -> float:
    """The share of the examples that lie within their interval.

    Also called coverage, empirical coverage.

    predicted, true   "n h", numbers
    radius            "h", half the length of the interval
    """
    return float((np.abs(np.asarray(true) - np.asarray(predicted)) <= np.asarray(radius)).mean())
