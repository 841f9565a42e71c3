"""Trained tasks as estimators: cross-validation, pipelines, pickles, and the checks of scikit-learn where rows are numbers."""

import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_digits
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from headway.sklearn import ImageClassifier, TableClassifier, TableRegressor, TextClassifier

GOOD, BAD = "warm kind lovely bright".split(), "cold cruel ugly dull".split()


def reviews(count: int) -> tuple[list[str], np.ndarray]:
    random = np.random.default_rng(3)
    words = [[*random.choice((GOOD, BAD)[i % 2], 2), *random.choice(["film", "plot", "scene"], 3)] for i in range(count)]
    return [" ".join(random.permutation(row)) for row in words], np.array(["good", "bad"] * (count // 2))


def test_texts_are_classified_in_cross_validation() -> None:
    X, y = reviews(150)
    assert cross_val_score(TextClassifier(steps=40), X, y, cv=2).mean() > 0.95


def test_a_fitted_estimator_survives_pickling_and_cloning() -> None:
    X, y = reviews(100)
    made = TextClassifier(steps=10, seed=5).fit(X, y)
    other = pickle.loads(pickle.dumps(made))
    np.testing.assert_array_equal(other.predict_proba(X), made.predict_proba(X))
    assert made.predict_proba(X).shape == (100, 2) and made.classes_.tolist() == ["bad", "good"]
    np.testing.assert_allclose(made.predict_proba(X).sum(1), 1.0)
    again = clone(made).fit(X, y)
    np.testing.assert_array_equal(again.predict_proba(X), made.predict_proba(X)), "the same seed gives the same run"


@pytest.mark.parametrize("X", ["one text", [1, 2], []], ids=["one", "numbers", "none"])
def test_what_is_no_list_of_texts_is_refused(X: Any) -> None:
    with pytest.raises(ValueError, match="expected a list of texts"):
        TextClassifier(steps=1).fit(X, ["a", "b"])


def test_pictures_are_classified() -> None:
    X, y = load_digits(return_X_y=True)
    images = (X / 16).reshape(-1, 8, 8)
    made = ImageClassifier(steps=120).fit(images[:1000], y[:1000])
    assert made.score(images[1000:], y[1000:]) > 0.85
    assert made.predict_proba(images[:3]).shape == (3, 10) and made.classes_.dtype == y.dtype
    with pytest.raises(ValueError, match="between 0 and 1"):
        made.predict(16 * images)
    with pytest.raises(ValueError, match='expected pictures as an array "n y x"'):
        made.predict(X)


def test_rows_are_predicted_in_a_pipeline() -> None:
    X, y = load_diabetes(return_X_y=True)
    mine = cross_val_score(make_pipeline(StandardScaler(), TableRegressor(steps=150)), X, y, cv=3).mean()
    assert mine > cross_val_score(LinearRegression(), X, y, cv=3).mean() - 0.1
    digits, labels = load_digits(return_X_y=True)
    assert TableClassifier(steps=100).fit(digits[:800], labels[:800]).score(digits[800:], labels[800:]) > 0.7


CHECK = """
import warnings
from sklearn.utils.estimator_checks import check_estimator
from headway.sklearn import TableClassifier, TableRegressor
warnings.simplefilter("ignore")
for kind in (TableRegressor, TableClassifier):
    check_estimator(kind(model="linear", steps=30))
    print(kind.__name__)
"""


def test_scikit_learn_accepts_estimators_of_rows() -> None:
    root = Path(__file__).parents[2]
    made = subprocess.run([sys.executable, "-c", CHECK], capture_output=True, text=True, cwd=root)
    assert made.stdout.split() == ["TableRegressor", "TableClassifier"], made.stderr[-2000:]
