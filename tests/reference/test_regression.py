"""Figures of regression, least squares, conformal intervals and importance against scikit-learn, scipy and closed forms."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats
from sklearn import metrics
from sklearn.ensemble import RandomForestRegressor
from sklearn.inspection import permutation_importance as reference_importance
from sklearn.linear_model import LinearRegression

from headway.core.errors import DataError, RunError
from headway.evaluate.conformal import conformal_radius, coverage_of
from headway.evaluate.importance import permutation_importance
from headway.evaluate.least_squares import LeastSquares
from headway.evaluate.regression import draw_rows, mae, mse, r2, rmse

NUMBERS = arrays(np.float64, st.integers(2, 30), elements=st.floats(-100, 100, width=32))
FIGURES = {
    mse: metrics.mean_squared_error,
    rmse: metrics.root_mean_squared_error,
    mae: metrics.mean_absolute_error,
    r2: metrics.r2_score,
}


@pytest.mark.parametrize("figure", FIGURES, ids=lambda f: f.__name__)
@given(true=NUMBERS, seed=st.integers(0, 99))
def test_figures_are_those_of_scikit_learn(figure: object, true: np.ndarray, seed: int) -> None:
    predicted = true + np.random.default_rng(seed).normal(size=len(true))
    expected = FIGURES[figure](true, predicted)  # type: ignore[index]
    assert figure(predicted, true, resamples=0).value == pytest.approx(expected, rel=1e-9, abs=1e-9)  # type: ignore[operator]


def test_r2_of_a_constant_is_that_of_scikit_learn() -> None:
    for predicted in ([3.0, 3.0], [3.0, 4.0]):
        assert r2(predicted, [3.0, 3.0]).value == metrics.r2_score([3.0, 3.0], predicted)


def test_the_interval_of_the_mean_error_is_the_normal_one() -> None:
    """Of the mean of n independent errors the bootstrap interval is about mean ± 1.96 s / sqrt(n)."""
    errors = np.abs(np.random.default_rng(2).normal(size=2000))
    found = mae(np.zeros(2000), errors, resamples=4000)
    low, high = stats.norm.interval(0.95, errors.mean(), errors.std() / np.sqrt(2000))
    assert found.low == pytest.approx(low, abs=0.002) and found.high == pytest.approx(high, abs=0.002)


def test_the_interval_of_r2_is_that_of_resamples_of_scikit_learn() -> None:
    """Every resample is scored against its own mean."""
    random = np.random.default_rng(8)
    true = random.normal(5, 2, 40)
    predicted = true + random.normal(size=40)
    found = r2(predicted, true, resamples=300, seed=3)
    rows = draw_rows(40, 300, 1, np.random.default_rng(3))
    low, high = np.quantile([metrics.r2_score(true[r], predicted[r]) for r in rows], (0.025, 0.975))
    assert (found.low, found.high) == pytest.approx((low, high), abs=1e-12)


def test_neighbours_are_drawn_together() -> None:
    """A slow wave as error: single rows hide how little is known, blocks show it. Equal rows in blocks have the variance of blocks."""
    error = np.repeat(np.random.default_rng(3).normal(size=100), 20)
    single, blocks = (mse(np.zeros(2000), error, block=block) for block in (1, 20))
    assert (blocks.high - blocks.low) > 3 * (single.high - single.low)
    rows = draw_rows(10, 50, 4, np.random.default_rng(0))
    assert rows.shape == (50, 10)
    inside = np.arange(9) % 4 != 3
    assert ((np.diff(rows, axis=1) % 10 == 1)[:, inside]).all() and len(np.unique(rows[:, 0])) == 10


def test_shapes_and_nothing_are_refused() -> None:
    with pytest.raises(DataError, match=r"predictions of shape \(2,\) cannot be compared with numbers of shape \(3,\)"):
        r2([1.0, 2.0], [1.0, 2.0, 3.0])
    with pytest.raises(DataError, match="no predictions to score"):
        mse([], [])


def test_least_squares_is_that_of_scikit_learn(tmp_path: Path) -> None:
    random = np.random.default_rng(4)
    x, y = random.normal(3, 2, (60, 5)), random.normal(size=(60, 2))
    mine, other = LeastSquares.fit(x, y), LinearRegression().fit(x, y)
    np.testing.assert_allclose(mine.weights, other.coef_.T, atol=1e-10)
    np.testing.assert_allclose(mine.intercept, other.intercept_, atol=1e-10)
    onehot = np.eye(3)[random.integers(0, 3, 60)]
    both = np.concatenate([x, onehot], 1)
    found = LeastSquares.fit(both, y).predict(both)
    np.testing.assert_allclose(found, LinearRegression().fit(both, y).predict(both), atol=1e-9)
    mine.save(tmp_path / "w.safetensors")
    np.testing.assert_array_equal(LeastSquares.load(tmp_path / "w.safetensors", 5, 2).predict(x), mine.predict(x))
    with pytest.raises(RunError, match="expected weights from 4 inputs to 2 outputs"):
        LeastSquares.load(tmp_path / "w.safetensors", 4, 2)


def test_conformal_intervals_cover_what_they_promise() -> None:
    """Over many draws of calibration and test the coverage is (within its standard error) k / (n + 1), k = ceil((n + 1) p)."""
    random, n, p = np.random.default_rng(5), 19, 0.8
    covered = []
    for _ in range(4000):
        errors = random.standard_cauchy((n + 1, 1))  # heavy tails: no assumption is made about them
        covered.append(coverage_of(0.0, errors[-1:], conformal_radius(errors[:-1], p)))
    assert np.mean(covered) == pytest.approx(16 / 20, abs=4 * 0.4 / np.sqrt(4000))
    assert conformal_radius(np.arange(1.0, 20.0)[:, None], 0.8).tolist() == [16.0]
    assert conformal_radius(np.array([[1.0, 5.0], [-3.0, 2.0]]), 0.99).tolist() == [3.0, 5.0], (
        "few examples: the largest error"
    )


def test_importance_is_that_of_scikit_learn() -> None:
    random = np.random.default_rng(6)
    x = random.normal(size=(300, 4))
    y = 3 * x[:, 0] + x[:, 1] ** 2 + 0.1 * random.normal(size=300)
    forest = RandomForestRegressor(20, random_state=0).fit(x, y)
    found = permutation_importance(lambda v: float(forest.score(v, y)), x, {str(j): [j] for j in range(4)}, repeats=20)
    expected = reference_importance(forest, x, y, n_repeats=20, random_state=1).importances_mean
    assert [f.name for f in found[:2]] == ["0", "1"]
    for importance in found:
        assert importance.mean == pytest.approx(expected[int(importance.name)], abs=0.05)


def test_columns_of_a_feature_are_shuffled_together() -> None:
    """A model that wants exactly one column of a category to be 1 never sees anything else."""
    onehot = np.eye(3)[np.random.default_rng(7).integers(0, 3, 50)]

    def score(x: np.ndarray) -> float:
        assert (x[:, :3].sum(1) == 1).all()
        return 0.0

    permutation_importance(score, onehot, {"town": range(3)})
