"""How well a classifier decides: accuracy, F1, the confusion matrix, calibration, and its most confident errors.

    accuracy = k / n, k of n right      F1_c = 2 TP_c / (2 TP_c + FP_c + FN_c)      macro F1 = mean of F1_c over classes
    ECE = sum_b n_b/n |accuracy_b - confidence_b|        over bins b of the confidence, the largest probability

Wilson's interval of a share (Wilson 1927), z = 1.96: (k + z^2/2 ± z sqrt(k (n - k) / n + z^2/4)) / (n + z^2). Unlike
k/n ± z s it stays within 0 and 1 and is right for small n. Classes are numbered from 0. Expected calibration error: Guo
et al. 2017, https://arxiv.org/abs/1706.04599.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from headway.core.errors import DataError

Z = 1.959963984540054  # the 97.5 % quantile of the normal distribution
Classes = NDArray[np.int64]  # "n"
Probabilities = NDArray[np.float64]  # "n c"


@dataclass(frozen=True)
class Accuracy:
    """The share of right answers, between the ends of its 95 % Wilson interval; each between 0 and 1."""

    value: float
    low: float
    high: float
    correct: int  # right answers
    count: int  # all answers


@dataclass(frozen=True)
class Confusion:
    """How often class i (row) was taken for class j (column)."""

    names: tuple[str, ...]  # of the classes, in order
    counts: tuple[tuple[int, ...], ...]  # a row for each true class, a column for each predicted one

    @property
    def f1(self) -> dict[str, float]:
        """F1 by class, of the classes that occur or were predicted."""
        counts = np.array(self.counts)
        right, both = counts.diagonal(), counts.sum(0) + counts.sum(1)  # both = 2 TP + FP + FN
        return {name: float(2 * tp / n) for name, tp, n in zip(self.names, right, both, strict=True) if n}


@dataclass(frozen=True)
class Bin:
    """The answers of a confidence above `low` and at most `high`: their number, mean confidence and accuracy."""

    low: float  # confidence above this
    high: float  # and at most this
    count: int  # answers in it
    confidence: float  # their mean
    accuracy: float  # the share of them that is right


@dataclass(frozen=True)
class Calibration:
    """The expected calibration error (0: of answers with confidence p, the share p is right), and the bins in use."""

    error: float  # the expected calibration error
    bins: tuple[Bin, ...]  # those that hold answers


@dataclass(frozen=True)
class Mistake:
    """A wrong answer: the example, what was predicted with what probability, and what is true."""

    example: int  # its number, from 0
    predicted: int  # the class that was predicted
    true: int  # the right class
    confidence: float  # the probability of the predicted class


def accuracy(predicted: ArrayLike, true: ArrayLike) -> Accuracy:
    """The share of right answers, with its 95 % Wilson interval.

    Also called accuracy, classification accuracy, Wilson interval.
    """
    right = np.equal(*_classes(predicted, true))
    k, n = int(right.sum()), len(right)
    centre, half = k + Z**2 / 2, Z * math.sqrt(k * (n - k) / n + Z**2 / 4)
    # At k = 0 and k = n an end is exactly 0 or 1; rounding must not push it beyond.
    low, high = max(0.0, (centre - half) / (n + Z**2)), min(1.0, (centre + half) / (n + Z**2))
    return Accuracy(k / n, low, high, k, n)


def macro_f1(predicted: ArrayLike, true: ArrayLike) -> float:
    """The mean of F1 over the classes that occur or were predicted: rare classes count as much as frequent ones.

    Also called F1 score, macro F1, F-measure.
    """
    largest = max(int(classes.max()) for classes in _classes(predicted, true))
    scores = confusion_matrix(predicted, true, [str(c) for c in range(largest + 1)]).f1
    return sum(scores.values()) / len(scores)


def confusion_matrix(predicted: ArrayLike, true: ArrayLike, names: Sequence[str]) -> Confusion:
    """How often each class was taken for each other; `names` are the names of all classes, in order.

    Also called confusion matrix, contingency table.

    names   of all classes, in order
    """
    columns, rows = _classes(predicted, true, len(names))
    counts = np.bincount(rows * len(names) + columns, minlength=len(names) ** 2).reshape(len(names), -1)
    return Confusion(tuple(names), tuple(map(tuple, counts.tolist())))


def calibration(probabilities: ArrayLike, true: ArrayLike, bins: int = 15) -> Calibration:
    """Whether confidence can be trusted: accuracy against mean confidence in each of `bins` intervals of confidence.

    Also called expected calibration error, ECE, reliability diagram.

    bins   how many intervals of confidence
    """
    p, classes = _distribution(probabilities, true)
    confidence, right = p.max(1), p.argmax(1) == classes
    edges = np.linspace(0, 1, bins + 1)
    number = np.searchsorted(edges[1:-1], confidence)
    found = []
    for b in np.unique(number).tolist():
        inside = number == b
        means = float(confidence[inside].mean()), float(right[inside].mean())
        found.append(Bin(float(edges[b]), float(edges[b + 1]), int(inside.sum()), *means))
    error = sum(b.count * abs(b.accuracy - b.confidence) for b in found) / len(classes)
    return Calibration(error, tuple(found))


def confident_errors(probabilities: ArrayLike, true: ArrayLike, count: int = 10) -> list[Mistake]:
    """The wrong answers with the highest probability, most confident first. In many of them the label is wrong.

    Also called confident errors, top losses.

    count   at most so many
    """
    p, classes = _distribution(probabilities, true)
    predicted, confidence = p.argmax(1), p.max(1)
    wrong = np.flatnonzero(predicted != classes)
    order = wrong[np.argsort(-confidence[wrong], kind="stable")][:count]
    return [Mistake(int(i), int(predicted[i]), int(classes[i]), float(confidence[i])) for i in order]


def _classes(predicted: ArrayLike, true: ArrayLike, classes: int | None = None) -> tuple[Classes, Classes]:
    """Both as arrays of class numbers, or an error that says why they cannot be compared."""
    a, b = np.asarray(predicted), np.asarray(true)
    if a.shape != b.shape or a.ndim != 1:
        raise DataError(
            f"predictions of shape {a.shape} cannot be compared with classes of shape {b.shape}",
            "give one class per example.",
        )
    if not len(a):
        raise DataError("there are no predictions to score", "expected one prediction per example.")
    for name, values in (("predicted", a), ("true", b)):
        if values.dtype.kind not in "iu" or values.min() < 0 or (classes is not None and values.max() >= classes):
            expected = "0 or more" if classes is None else f"0 to {classes - 1}"
            raise DataError(f"the {name} classes are not whole numbers of {expected}", "number the classes from 0.")
    return a.astype(np.int64), b.astype(np.int64)


def _distribution(probabilities: ArrayLike, true: ArrayLike) -> tuple[Probabilities, Classes]:
    p = np.asarray(probabilities, dtype=np.float64)
    if p.ndim != 2 or not p.size or not (p >= 0).all() or not np.allclose(p.sum(1), 1, atol=1e-3):  # false for nan
        hint = "give the softmax of the logits."
        raise DataError("the probabilities are not one distribution over classes per example", hint)
    return p, _classes(p.argmax(1), true, p.shape[1])[1]
