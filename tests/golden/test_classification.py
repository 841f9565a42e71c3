"""The figures of a classifier are those of scikit-learn and scipy."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from sklearn import metrics
from sklearn.calibration import calibration_curve

from headway.core.errors import DataError
from headway.evaluate.classification import Mistake, accuracy, calibration, confident_errors, confusion_matrix, macro_f1

ANSWERS = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=40)


@given(st.integers(1, 300), st.data())
def test_the_interval_is_wilsons(n: int, data: st.DataObject) -> None:
    k = data.draw(st.integers(0, n))
    found = accuracy([0] * n, [0] * k + [1] * (n - k))
    expected = stats.binomtest(k, n).proportion_ci(0.95, method="wilson")
    assert (found.value, found.correct, found.count) == (k / n, k, n)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), abs=1e-12)
    assert 0 <= found.low <= found.value <= found.high <= 1


@given(ANSWERS)
def test_counts_and_f1_are_those_of_scikit_learn(answers: list[tuple[int, int]]) -> None:
    predicted, true = [p for p, _ in answers], [t for _, t in answers]
    found = confusion_matrix(predicted, true, names := ["ant", "bee", "cow", "dog", "eel"])
    assert found.names == tuple(names)
    assert np.array_equal(found.counts, metrics.confusion_matrix(true, predicted, labels=range(5)))
    assert accuracy(predicted, true).value == pytest.approx(metrics.accuracy_score(true, predicted))
    assert macro_f1(predicted, true) == pytest.approx(
        metrics.f1_score(true, predicted, average="macro", zero_division=0)
    )
    each = metrics.f1_score(true, predicted, average=None, labels=sorted({*true, *predicted}), zero_division=0)
    assert list(found.f1.values()) == pytest.approx(each.tolist()) and set(found.f1) == {
        names[c] for c in (*true, *predicted)
    }


def drawn(n: int, classes: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Probabilities, some of them exactly at the edge of a bin, and classes that mostly agree with them."""
    random = np.random.default_rng(seed)
    p = random.dirichlet([0.4] * classes, n)
    p[: n // 10] = [0.6, *[0.4 / (classes - 1)] * (classes - 1)]
    return p, np.array([random.choice(classes, p=row**0.7 / (row**0.7).sum()) for row in p])


@pytest.mark.parametrize("bins", [1, 5, 15])
@pytest.mark.parametrize("seed", [1, 2])
def test_calibration_is_the_curve_of_scikit_learn(bins: int, seed: int) -> None:
    p, true = drawn(400, 3, seed)
    found = calibration(p, true, bins)
    shares, confidences = calibration_curve(p.argmax(1) == true, p.max(1), n_bins=bins)
    assert [b.accuracy for b in found.bins] == pytest.approx(shares.tolist())
    assert [b.confidence for b in found.bins] == pytest.approx(confidences.tolist())
    assert all(b.low < b.confidence <= b.high and b.high - b.low == pytest.approx(1 / bins) for b in found.bins)
    weights = np.array([b.count for b in found.bins]) / 400
    assert weights.sum() == 1 and found.error == pytest.approx(float((weights * np.abs(shares - confidences)).sum()))


def test_calibration_in_closed_form() -> None:
    """Always 0.8 sure and right in 80 % of cases: calibrated. Right in half of them: off by 0.3."""
    p = np.tile([0.8, 0.2], (10, 1))
    assert calibration(p, [0] * 8 + [1] * 2).error == pytest.approx(0.0)
    assert calibration(p, [0] * 5 + [1] * 5).error == pytest.approx(0.3)


def test_the_most_confident_errors_come_first() -> None:
    p = np.array([[0.9, 0.1], [0.2, 0.8], [0.7, 0.3], [0.05, 0.95], [0.3, 0.7]])
    assert confident_errors(p, [1, 1, 1, 0, 0], count=3) == [
        Mistake(3, 1, 0, 0.95),
        Mistake(0, 0, 1, 0.9),
        Mistake(2, 0, 1, 0.7),
    ]
    assert confident_errors(p, [0, 1, 0, 1, 1]) == []
    p, true = drawn(300, 4, seed=3)
    every = confident_errors(p, true, count=300)
    assert {m.example for m in every} == set(np.flatnonzero(p.argmax(1) != true))
    assert [m.confidence for m in every] == sorted(p.max(1)[p.argmax(1) != true], reverse=True)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: accuracy([], []), "no predictions to score"),
        (lambda: accuracy([1], [1, 0]), r"predictions of shape \(1,\) cannot be compared with classes of shape \(2,\)"),
        (lambda: accuracy([0.5], [1]), "the predicted classes are not whole numbers of 0 or more"),
        (lambda: macro_f1([0], [-1]), "the true classes are not whole numbers of 0 or more"),
        (
            lambda: confusion_matrix([0, 1], [2, 0], ["a", "b"]),
            "the true classes are not whole numbers of 0 to 1\nHint: number",
        ),
        (
            lambda: calibration([[0.5, 0.6]], [0]),
            "not one distribution over classes per example\nHint: give the softmax",
        ),
        (lambda: calibration([[np.nan, 1.0]], [0]), "not one distribution"),
        (lambda: confident_errors([[0.5, 0.5]], [2]), "0 to 1"),
        (lambda: confident_errors(np.zeros((0, 2)), []), "not one distribution"),
    ],
)
def test_what_cannot_be_scored_is_refused(call: Any, sentence: str) -> None:
    with pytest.raises(DataError, match=sentence):
        call()
