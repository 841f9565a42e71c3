"""The lab beside what we did not write: scikit-learn's perceptron, logistic regression and linear SVM."""

import numpy as np
from scipy.optimize import minimize
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC

import headway
from headway.lab.classical.logistic import gradient, hessian, loss, max_margin


def test_the_perceptron_of_scikit_learn_makes_the_same_mistakes() -> None:
    found = headway.lab.run("perceptron-novikoff", peer=True)
    peers = [check for check in found.checks if "scikit-learn" in check.name]
    assert len(peers) == 1 and peers[0].holds


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


def test_the_widest_margin_is_that_of_the_svm() -> None:
    rng = np.random.default_rng(5)
    X, direction = rng.normal(size=(60, 2)), np.array([0.6, 0.8])
    y = np.sign(X @ direction)
    X = X + 0.3 * y[:, None] * direction
    u, margin = max_margin(y[:, None] * X)
    # a hard-margin SVM without intercept: every point with both signs makes the bias vanish
    svm = SVC(kernel="linear", C=1e8, tol=1e-10).fit(np.vstack([X, -X]), np.append(y, -y))
    theirs = svm.coef_[0]
    assert np.allclose(u, theirs / np.linalg.norm(theirs), atol=1e-4) and abs(margin - 1 / np.linalg.norm(theirs)) < 1e-4
