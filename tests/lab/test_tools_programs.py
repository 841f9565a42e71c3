"""Linear and quadratic programs beside scikit-learn's support vector machine, and against their own definitions."""

import numpy as np
import pytest
from sklearn.svm import SVC

from headway.lab.tools.programs import augmented, feasible, max_margin, separable


def teacher(seed: int, shift: float = 0.3) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X, direction = rng.normal(size=(60, 2)), np.array([0.6, 0.8])
    y = np.sign(X @ direction)
    return X + shift * y[:, None] * direction, y


def test_the_widest_margin_is_that_of_the_svm() -> None:
    X, y = teacher(5)
    best = max_margin(y[:, None] * X)
    # a hard-margin SVM without intercept: every point with both signs makes the bias vanish
    theirs = SVC(kernel="linear", C=1e8, tol=1e-10).fit(np.vstack([X, -X]), np.append(y, -y)).coef_[0]
    assert np.allclose(best.direction, theirs / np.linalg.norm(theirs), atol=1e-4)
    assert abs(best.size - 1 / np.linalg.norm(theirs)) < 1e-4 and abs(best.size - best.limit) < 1e-10
    assert np.isclose(best.share.sum(), 1) and np.count_nonzero(best.share > 1e-9) == 2


def test_separable_agrees_with_the_linear_program() -> None:
    rng = np.random.default_rng(0)
    found = []
    for _ in range(60):
        z = rng.choice([-1, 1], 8)[:, None] * rng.normal(size=(8, 4))
        v = feasible(z, np.ones(8))
        found.append(separable(z))
        assert found[-1] == (v is not None)
        assert v is None or np.min(z @ v) >= 1 - 1e-9
    assert 10 < sum(found) < 50  # half of the labellings, in expectation


@pytest.mark.parametrize(("z", "expected"), [([], True), ([[1.0, 0]], True), ([[1.0, 0], [-1, 0]], False), ([[0.0, 0]], False)])
def test_the_edges_of_separability(z: list[list[float]], expected: bool) -> None:
    assert separable(np.array(z).reshape(-1, 2)) is expected


def test_a_bias_is_a_coordinate_that_is_1() -> None:
    assert np.array_equal(augmented(np.array([[2, 3], [4, 5]]), np.array([1, 0])), [[2, 3, 1], [-4, -5, -1]])
