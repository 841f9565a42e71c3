import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from headway.models.classical.targets import numbered


class Multinomial(ClassifierMixin, BaseEstimator):
    """Multinomial logistic regression: the probability of each class is a softmax of linear functions.

        p(c | x) = softmax(W x + b)_c            min_{W,b}  1/n sum_i -log p(y_i | x_i) + penalty/2 ‖W‖^2

    The loss is convex; its minimum is found by L-BFGS (Liu & Nocedal 1989) from zero. Adding one vector to all rows of W
    changes nothing, so without a penalty the minimum is not unique, and on separable data there is none. Lecture C,
    chapter 2; lecture D.

    penalty      of half the squared norm of W; the intercepts are free
    iterations   of L-BFGS at most
    """

    aliases = ("multinomial logistic regression", "softmax regression", "maximum entropy classifier")

    def __init__(self, penalty: float = 0.0, iterations: int = 1000) -> None:
        self.penalty = penalty
        self.iterations = iterations

    def fit(self, X: ArrayLike, y: ArrayLike) -> "Multinomial":
        """Minimise the loss; `n_iter_` counts the iterations, `loss_` is what was reached."""
        rows, labels = validate_data(self, X, y, dtype=np.float64)
        self.classes_, which = numbered(labels)
        (n, d), k = rows.shape, len(self.classes_)
        wanted = np.eye(k)[which]

        def loss(flat: np.ndarray) -> tuple[float, np.ndarray]:
            W = flat.reshape(k, d + 1)
            logs = log_softmax(rows @ W[:, :d].T + W[:, d], axis=1)
            error = (np.exp(logs) - wanted) / n
            gradient = np.column_stack([error.T @ rows + self.penalty * W[:, :d], error.sum(0)])
            return float(-(logs * wanted).sum() / n + self.penalty / 2 * (W[:, :d] ** 2).sum()), gradient.ravel()

        options = {"maxiter": self.iterations, "maxfun": 2 * self.iterations, "ftol": 1e-14, "gtol": 1e-7}
        found = minimize(loss, np.zeros(k * (d + 1)), jac=True, method="L-BFGS-B", options=options)
        W = found.x.reshape(k, d + 1)
        self.coef_, self.intercept_, self.loss_, self.n_iter_ = W[:, :d], W[:, d], float(found.fun), int(found.nit)
        return self

    def decision_function(self, X: ArrayLike) -> Float[np.ndarray, "n k"]:
        """W x + b; for two classes the difference of the two."""
        scores = self._scores(X)
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

    def _scores(self, X: ArrayLike) -> Float[np.ndarray, "n k"]:
        check_is_fitted(self)
        return validate_data(self, X, reset=False, dtype=np.float64) @ self.coef_.T + self.intercept_

    def predict_proba(self, X: ArrayLike) -> Float[np.ndarray, "n k"]:
        """The probability of each class."""
        return softmax(self._scores(X), axis=1)

    def predict(self, X: ArrayLike) -> np.ndarray:
        """The most probable class of each row."""
        best = self._scores(X).argmax(1)
        return self.classes_[best]
