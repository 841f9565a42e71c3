"""The logistic loss beside scikit-learn's logistic regression."""

import numpy as np
from scipy.optimize import minimize
from sklearn.linear_model import LogisticRegression

from headway.lab.tools.logistic import descend, gradient, hessian, loss, offsets, plane
from headway.lab.tools.programs import max_margin


def test_logistic_regression_of_scikit_learn_ends_where_our_gradient_vanishes() -> None:
    """With a penalty |w|^2 / (2 C s) the minimum is finite; both must find it."""
    rng = np.random.default_rng(3)
    X, C = rng.normal(size=(4, 200)), 2.0
    y = (rng.random(200) < 1 / (1 + np.exp(-X[0] + 0.5 * X[1]))).astype(float)
    theirs = LogisticRegression(C=C, fit_intercept=False, tol=1e-12, max_iter=10_000).fit(X.T, y).coef_[0]
    assert np.abs(gradient(X, y, theirs) + theirs / (C * 200)).max() < 1e-6
    ours = minimize(lambda w: loss(X, y, w) + w @ w / (2 * C * 200), np.zeros(4), jac=lambda w: gradient(X, y, w) + w / (C * 200)).x
    assert np.allclose(ours, theirs, atol=1e-4)
    assert np.linalg.eigvalsh(hessian(X, theirs)).min() > 0


def test_steps_of_gradient_descent_are_those_of_the_gradient() -> None:
    rng = np.random.default_rng(4)
    z = np.stack([plane(12, 0.4, rng) for _ in range(2)])
    assert all(np.isclose(max_margin(rows).size, 0.4) and np.count_nonzero(max_margin(rows).share > 1e-9) == 2 for rows in z)
    found = descend(z, np.array([1, 3]))
    for k, rows in enumerate(z):
        w, rate = np.zeros(2), 4 * len(rows) / np.linalg.norm(rows, 2) ** 2
        for _ in range(3):
            w = w - rate * gradient(rows.T, np.ones(12), w)
        assert np.allclose(found[1, k], w) and not np.allclose(found[0, k], w)


def test_the_offset_is_where_gradient_descent_tends_to() -> None:
    z = np.stack([plane(6, 0.8, np.random.default_rng(k)) for k in (0, 1)])
    best = [max_margin(rows) for rows in z]
    w = descend(z, np.array([30_000]))[0] - np.log(30_000) * np.array([b.direction / b.size for b in best])
    assert np.abs(w - offsets(z, best)).max() < 0.02
