import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from headway.models.classical.targets import two_classes


class LogisticRegression(ClassifierMixin, BaseEstimator):
    """Logistic regression of two classes by Newton's method.

        p(y = 1 | x) = sigma(w . x + b)        min  sum_i log(1 + exp(-y_i (w . x_i + b))) + penalty/2 ‖w‖^2,   y_i = -1 or +1

        w <- w - (X^T S X + penalty I)^-1 (X^T (p - t) + penalty w),   S = diag(p (1 - p)),   t = (y + 1)/2

    each step halved until the loss falls (iteratively reweighted least squares). On separable data without a penalty
    there is no minimum: the weights grow until the gradient is small. Lecture C, chapter 2; lecture D.

    penalty      of half the squared norm of the weights; the intercept is free
    iterations   of Newton's method at most
    """

    aliases = ("logit model", "binary logistic regression", "iteratively reweighted least squares")

    def __init__(self, penalty: float = 0.0, iterations: int = 100) -> None:
        self.penalty = penalty
        self.iterations = iterations

    def fit(self, X: ArrayLike, y: ArrayLike) -> "LogisticRegression":
        """Minimise the loss."""
        rows, labels = validate_data(self, X, y, dtype=np.float64)
        self.classes_, signs = two_classes(labels)
        points, t = np.column_stack([rows, np.ones(len(rows))]), (signs + 1) / 2
        penalty = np.append(np.full(rows.shape[1], float(self.penalty)), 0.0)

        def loss(w: np.ndarray) -> float:
            return float(np.logaddexp(0, -signs * (points @ w)).sum() + 0.5 * (penalty * w**2).sum())

        w, self.n_iter_ = np.zeros(points.shape[1]), 0
        while self.n_iter_ < self.iterations:
            self.n_iter_ += 1
            p = expit(points @ w)
            gradient = points.T @ (p - t) + penalty * w
            hessian = (points * (p * (1 - p))[:, None]).T @ points + np.diag(penalty)
            step = np.linalg.lstsq(hessian, gradient, rcond=None)[0]
            size, before = 1.0, loss(w)
            while loss(w - size * step) > before and size > 1e-10:
                size /= 2
            w = w - size * step
            if np.abs(gradient).max() < 1e-8 * len(rows):
                break
        self.coef_, self.intercept_ = w[:-1], float(w[-1])
        return self

    def decision_function(self, X: ArrayLike) -> Float[np.ndarray, "n"]:
        """w . x + b: the logarithm of the odds of the second class."""
        check_is_fitted(self)
        return validate_data(self, X, reset=False, dtype=np.float64) @ self.coef_ + self.intercept_

    def predict_proba(self, X: ArrayLike) -> Float[np.ndarray, "n 2"]:
        """The probability of each class."""
        p = expit(self.decision_function(X))
        return np.column_stack([1 - p, p])

    def predict(self, X: ArrayLike) -> np.ndarray:
        """The more probable class of each row."""
        second = self.decision_function(X) > 0
        return self.classes_[second.astype(np.int64)]

    def __sklearn_tags__(self) -> object:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags
