"""How well numbers are predicted: MSE, RMSE, MAE and R2, each with a bootstrap interval.

    MSE = 1/n sum_i (y_i - f_i)^2      RMSE = sqrt(MSE)      MAE = 1/n sum_i |y_i - f_i|
    R2  = 1 - sum_i (y_i - f_i)^2 / sum_i (y_i - m)^2,  m the mean of y: 1 is perfect, 0 no better than m, less is worse

The interval is the middle 95 % of the figure over resamples of the examples (percentile bootstrap, Efron 1979,
https://doi.org/10.1214/aos/1176344552). Errors of neighbours in time are alike; there `block` neighbours are drawn together
(circular block bootstrap, Politis & Romano 1992). James et al. 2023, "An introduction to statistical learning", ch. 3 and 5.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int
from numpy.typing import ArrayLike

from headway.core.errors import DataError

AT_ONCE = 1 << 21  # numbers of a resample that are held in memory
Numbers = Float[np.ndarray, "*b n"]
Figure = Callable[[Numbers, Numbers], Float[np.ndarray, "*b"]]  # of predicted and true, along the last axis


@dataclass(frozen=True)
class Estimate:
    """A figure between the ends of its 95 % interval."""

    value: float
    low: float
    high: float


def mse(predicted: ArrayLike, true: ArrayLike, resamples: int = 1000, block: int = 1, seed: int = 0) -> Estimate:
    """The mean of the squared errors.

    Also called mean squared error, MSE.

    predicted, true   one number for each example
    block             neighbours that are drawn together, for examples in the order of time
    """
    return _estimate(lambda f, y: ((y - f) ** 2).mean(-1), predicted, true, resamples, block, seed)


def rmse(predicted: ArrayLike, true: ArrayLike, resamples: int = 1000, block: int = 1, seed: int = 0) -> Estimate:
    """The root of the mean squared error, in the unit of the target.

    Also called root mean squared error, RMSE.

    predicted, true   one number for each example
    block             neighbours that are drawn together, for examples in the order of time
    """
    return _estimate(lambda f, y: np.sqrt(((y - f) ** 2).mean(-1)), predicted, true, resamples, block, seed)


def mae(predicted: ArrayLike, true: ArrayLike, resamples: int = 1000, block: int = 1, seed: int = 0) -> Estimate:
    """The mean of the absolute errors: one large error counts less than in RMSE.

    Also called mean absolute error, MAE.

    predicted, true   one number for each example
    block             neighbours that are drawn together, for examples in the order of time
    """
    return _estimate(lambda f, y: np.abs(y - f).mean(-1), predicted, true, resamples, block, seed)


def r2(predicted: ArrayLike, true: ArrayLike, resamples: int = 1000, block: int = 1, seed: int = 0) -> Estimate:
    """The share of the variance of the target that the predictions explain.

    Also called R2, R squared, coefficient of determination, explained variance.

    predicted, true   one number for each example
    block             neighbours that are drawn together, for examples in the order of time
    """
    return _estimate(_explained, predicted, true, resamples, block, seed)


def _explained(f: Numbers, y: Numbers) -> Float[np.ndarray, "*b"]:
    """R2 along the last axis; of a constant target 1 if it is hit exactly, else 0, as in scikit-learn."""
    missed = ((y - f) ** 2).sum(-1)
    spread = ((y - y.mean(-1, keepdims=True)) ** 2).sum(-1)
    return np.where(spread > 0, 1 - missed / np.where(spread > 0, spread, 1.0), np.where(missed > 0, 0.0, 1.0))


def _estimate(figure: Figure, predicted: ArrayLike, true: ArrayLike, resamples: int, block: int, seed: int) -> Estimate:
    f, y = np.asarray(predicted, dtype=np.float64), np.asarray(true, dtype=np.float64)
    if f.shape != y.shape or f.ndim != 1:
        words = f"predictions of shape {f.shape} cannot be compared with numbers of shape {y.shape}"
        raise DataError(words, "give one number per example.")
    if not len(y):
        raise DataError("there are no predictions to score", "expected one prediction per example.")
    value = float(figure(f, y))
    if not resamples:
        return Estimate(value, value, value)
    random, found, size = np.random.default_rng(seed), [], max(1, AT_ONCE // len(y))
    for start in range(0, resamples, size):
        rows = draw_rows(len(y), min(size, resamples - start), block, random)
        found.append(figure(f[rows], y[rows]))
    low, high = np.quantile(np.concatenate(found), (0.025, 0.975))
    return Estimate(value, float(low), float(high))


def draw_rows(count: int, resamples: int, block: int, random: np.random.Generator) -> Int[np.ndarray, "r n"]:
    """For each resample `count` rows: blocks of neighbours, the first row following the last.

    count    examples
    random   what is drawn with
    """
    block = max(1, min(block, count))
    starts = random.integers(0, count, (resamples, -(-count // block), 1))
    return ((starts + np.arange(block)) % count).reshape(resamples, -1)[:, :count]
