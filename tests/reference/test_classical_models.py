"""The classical models against scikit-learn, closed forms and enumeration."""

import itertools
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sklearn.discriminant_analysis
import sklearn.linear_model
from sklearn.datasets import load_digits
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from headway.core import registry
from headway.models.classical.dense_memory import DenseMemory
from headway.models.classical.hopfield_network import HopfieldNetwork
from headway.models.classical.lda import LDA
from headway.models.classical.linear_regression import LinearRegression
from headway.models.classical.logistic_regression import LogisticRegression
from headway.models.classical.mcculloch_pitts import McCullochPitts
from headway.models.classical.multinomial import Multinomial
from headway.models.classical.perceptron import Perceptron

ROOT = Path(__file__).parents[2]
ESTIMATORS = [n for n, e in registry.entries("classical").items() if hasattr(e.load(), "fit")]


@pytest.fixture
def digits() -> tuple[np.ndarray, np.ndarray]:
    X, y = load_digits(return_X_y=True)
    return X, y


def blobs(k: int, seed: int = 3, n: int = 120) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    y = np.arange(n) % k
    return random.normal(size=(n, 4)) + 1.2 * np.eye(k, 4)[y], y


CHECK = """
import sys, warnings
from sklearn.utils.estimator_checks import check_estimator
from headway.core import registry
warnings.simplefilter("ignore")
for name in sys.argv[1:]:
    made = registry.get("classical", name).load()()
    small = {"passes": 50, "iterations": 100}  # some checks have data that nothing separates
    made.set_params(**{key: value for key, value in small.items() if key in made.get_params()})
    check_estimator(made)
    print(name)
"""


def test_scikit_learn_accepts_every_one() -> None:
    """In a process of its own: here types are checked at run time, and scikit-learn tries wrong ones on purpose."""
    made = subprocess.run([sys.executable, "-c", CHECK, *ESTIMATORS], capture_output=True, text=True, cwd=ROOT)
    assert made.stdout.split() == ESTIMATORS, made.stderr[-2000:]


def test_all_are_estimators_but_the_unit_that_does_not_learn() -> None:
    assert set(registry.entries("classical")) - set(ESTIMATORS) == {"mcculloch_pitts"}


# -- units -------------------------------------------------------------------------------------------------------------


def test_gates() -> None:
    rows = np.array(list(itertools.product((0, 1), repeat=3)))
    assert McCullochPitts.conjunction(3)(rows).tolist() == rows.all(1).astype(int).tolist()
    assert McCullochPitts.disjunction(3)(rows).tolist() == rows.any(1).astype(int).tolist()
    assert McCullochPitts.majority(3)(rows).tolist() == (rows.sum(1) >= 2).astype(int).tolist()
    assert McCullochPitts.negation()(np.array([[0], [1]])).tolist() == [1, 0]


def test_no_unit_is_xor_and_two_layers_are() -> None:
    rows, xor = np.array(list(itertools.product((0, 1), repeat=2))), [0, 1, 1, 0]
    grid = itertools.product(np.arange(-3, 3.5, 0.5), repeat=3)
    assert not any(McCullochPitts((a, b), t)(rows).tolist() == xor for a, b, t in grid)
    hidden = np.column_stack([McCullochPitts.disjunction(2)(rows), 1 - McCullochPitts.conjunction(2)(rows)])
    assert McCullochPitts.conjunction(2)(hidden).tolist() == xor


def test_perceptron_is_scikit_learns_and_obeys_novikoff() -> None:
    X, y = blobs(2, n=40)
    X = X + 3 * np.where(y[:, None] == 1, 1.0, -1.0) * np.array([1, 0, 0, 0])
    mine = Perceptron().fit(X, y)
    theirs = sklearn.linear_model.Perceptron(shuffle=False, tol=None, max_iter=mine.n_iter_).fit(X, y)
    np.testing.assert_allclose(mine.coef_, theirs.coef_[0], atol=1e-12)
    np.testing.assert_allclose(mine.intercept_, theirs.intercept_[0], atol=1e-12)
    assert mine.converged_ and mine.score(X, y) == 1.0
    points = np.column_stack([X, np.ones(len(X))])
    w = np.append(mine.coef_, mine.intercept_)
    margin = (np.where(y == 1, 1, -1) * (points @ w)).min() / np.linalg.norm(w)
    assert 0 < mine.mistakes_ <= (np.linalg.norm(points, axis=1).max() / margin) ** 2


def test_perceptron_never_ends_on_xor() -> None:
    rows = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    found = Perceptron(passes=200).fit(rows, [0, 1, 1, 0])
    assert not found.converged_ and found.n_iter_ == 200 and found.score(rows, [0, 1, 1, 0]) < 1


# -- regression --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("penalty", [0.0, 2.5])
@pytest.mark.parametrize("shape", [(50, 5), (5, 12)], ids=["tall", "wide"])
def test_least_squares_is_scikit_learns(penalty: float, shape: tuple[int, int]) -> None:
    random = np.random.default_rng(5)
    X, Y = random.normal(size=shape), random.normal(size=(shape[0], 2))
    Ridge, Plain = sklearn.linear_model.Ridge, sklearn.linear_model.LinearRegression
    for y in (Y[:, 0], Y):
        theirs = (Ridge(alpha=penalty) if penalty else Plain()).fit(X, y)
        mine = LinearRegression(penalty).fit(X, y)
        np.testing.assert_allclose(mine.coef_, theirs.coef_, atol=1e-8)
        np.testing.assert_allclose(mine.predict(X), theirs.predict(X), atol=1e-8)


@pytest.mark.parametrize("penalty", [1e-6, 0.7])
def test_logistic_regression_is_scikit_learns(penalty: float) -> None:
    X, y = blobs(2)
    theirs = sklearn.linear_model.LogisticRegression(C=1 / penalty, tol=1e-10, max_iter=10_000).fit(X, y)
    mine = LogisticRegression(penalty).fit(X, y)
    np.testing.assert_allclose(mine.coef_, theirs.coef_[0], rtol=1e-4)
    np.testing.assert_allclose(mine.predict_proba(X), theirs.predict_proba(X), atol=1e-5)


def test_multinomial_regression_is_scikit_learns() -> None:
    X, y = blobs(3)
    theirs = sklearn.linear_model.LogisticRegression(C=1 / (0.01 * len(X)), tol=1e-10, max_iter=10_000).fit(X, y)
    mine = Multinomial(0.01).fit(X, y)
    np.testing.assert_allclose(mine.coef_, theirs.coef_, atol=1e-4)
    np.testing.assert_allclose(mine.predict_proba(X), theirs.predict_proba(X), atol=1e-5)
    two = Multinomial(1e-4).fit(*blobs(2))
    one = LogisticRegression(120 * 1e-4 / 2).fit(*blobs(2))  # of two classes W is (-w/2, w/2): half the norm
    np.testing.assert_allclose(two.coef_[1] - two.coef_[0], one.coef_, atol=1e-4)


def test_lda_is_scikit_learns(digits: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = digits
    theirs = sklearn.discriminant_analysis.LinearDiscriminantAnalysis(tol=1e-4).fit(X[:900], y[:900])
    mine = LDA().fit(X[:900], y[:900])
    # scikit-learn divides the covariance by n, the textbook by n - k, so that its estimate has no bias
    np.testing.assert_allclose(mine.coef_ * 900 / 890, theirs.coef_, atol=1e-9)
    assert mine.score(X[900:], y[900:]) == theirs.score(X[900:], y[900:]) > 0.9


def test_lda_finds_the_truth_of_normal_classes() -> None:
    """With two classes and the true covariance I, the direction is the difference of the means."""
    random = np.random.default_rng(9)
    y = np.arange(200_000) % 2
    X = random.normal(size=(len(y), 2)) + np.outer(y, [1.0, 2.0])
    found = LDA().fit(X, y)
    np.testing.assert_allclose(found.coef_[1] - found.coef_[0], [1.0, 2.0], atol=0.03)


def test_pipelines_and_cross_validation(digits: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = digits
    assert cross_val_score(make_pipeline(StandardScaler(), Multinomial(1e-3, 60)), X, y, cv=3).mean() > 0.9


# -- memories ----------------------------------------------------------------------------------------------------------


def pictures(count: int) -> np.ndarray:
    """The first digits of ten different classes, black or white."""
    X, y = load_digits(return_X_y=True)
    first = [int(np.flatnonzero(y == c)[0]) for c in range(10)][:count]
    return np.where(X[first] >= 8, 1.0, -1.0)


def damaged(patterns: np.ndarray, share: float, seed: int = 1) -> np.ndarray:
    flips = np.random.default_rng(seed).random(patterns.shape) < share
    return np.where(flips, -patterns, patterns)


def test_a_hopfield_network_restores_two_digits_and_its_energy_falls() -> None:
    kept = pictures(2)
    memory = HopfieldNetwork().fit(kept)
    noisy = damaged(kept, 0.15)
    assert not np.array_equal(noisy, kept)
    np.testing.assert_array_equal(memory.transform(noisy), kept)
    assert (memory.energy(kept) < memory.energy(noisy)).all()
    expected = [-0.5 * x @ memory.weights_ @ x for x in noisy]
    np.testing.assert_allclose(memory.energy(noisy), expected)


def test_where_it_rests_no_single_change_lowers_the_energy() -> None:
    memory = HopfieldNetwork().fit(pictures(10))
    rest = memory.transform(damaged(pictures(10), 0.2))
    for i in range(rest.shape[1]):
        other = rest.copy()
        other[:, i] *= -1
        assert (memory.energy(other) >= memory.energy(rest) - 1e-9).all()


@pytest.mark.parametrize("memory", [DenseMemory(degree=6), DenseMemory("exponential")], ids=["polynomial", "exponential"])
def test_a_dense_memory_restores_ten_digits_where_the_hopfield_network_cannot(memory: Any) -> None:
    kept = pictures(10)
    noisy = damaged(kept, 0.12)
    np.testing.assert_array_equal(memory.fit(kept).transform(noisy), kept)
    assert (memory.energy(kept) < memory.energy(noisy)).all()
    assert not np.array_equal(HopfieldNetwork().fit(kept).transform(noisy), kept)


def test_a_dense_memory_of_degree_two_has_the_energy_of_the_hopfield_network() -> None:
    """On overlaps that are not negative, up to the diagonal and a factor."""
    kept = pictures(1)
    x = damaged(kept, 0.2)
    n = kept.shape[1]
    quadratic = float(DenseMemory(degree=2).fit(kept).energy(x)[0])  # -(overlap / n)^2
    plain = float(HopfieldNetwork().fit(kept).energy(x)[0])  # -(overlap^2 - n) / 2n
    np.testing.assert_allclose(plain, (quadratic * n**2 + n) / (2 * n))
