import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike
from scipy.special import softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from headway.models.classical.targets import numbered


class LDA(ClassifierMixin, BaseEstimator):
    """Linear discriminant analysis: each class is a normal distribution of its own mean and the covariance of all.

        p(x | c) = N(mu_c, Sigma)        log p(c | x) = x^T Sigma^-1 mu_c - mu_c^T Sigma^-1 mu_c / 2 + log pi_c + const

    mu_c are the means, pi_c the shares of the classes, Sigma the covariance within classes (divided by n - k). Directions
    in which nothing varies within classes are left out: Sigma^-1 is a pseudo-inverse, from the singular value
    decomposition of the standardised data. Fisher 1936, https://doi.org/10.1111/j.1469-1809.1936.tb02137.x; lecture D.

    tolerance   singular values below this share of the standardised data are left out
    """

    aliases = ("linear discriminant analysis", "Fisher's linear discriminant")

    def __init__(self, tolerance: float = 1e-4) -> None:
        self.tolerance = tolerance

    def fit(self, X: ArrayLike, y: ArrayLike) -> "LDA":
        """Estimate means, shares and the covariance."""
        rows, labels = validate_data(self, X, y, dtype=np.float64)
        self.classes_, which = numbered(labels)
        n, k = len(rows), len(self.classes_)
        if n <= k:
            raise ValueError(f"n_samples={n} must be more than the number of classes, {k}")
        self.means_ = np.stack([rows[which == c].mean(0) for c in range(k)])
        self.priors_ = np.bincount(which) / n
        within = rows - self.means_[which]
        scale = within.std(0)
        scale[scale == 0] = 1.0
        _, s, V = np.linalg.svd(within / scale / np.sqrt(n - k), full_matrices=False)
        rank = int((s > self.tolerance).sum())
        whiten = (V[:rank] / scale).T / s[:rank]  # Sigma^-1 = whiten whiten^T
        overall = self.priors_ @ self.means_
        centred = (self.means_ - overall) @ whiten
        self.coef_ = centred @ whiten.T
        self.intercept_ = -0.5 * (centred**2).sum(1) + np.log(self.priors_) - self.coef_ @ overall
        return self

    def _scores(self, X: ArrayLike) -> Float[np.ndarray, "n k"]:
        check_is_fitted(self)
        return validate_data(self, X, reset=False, dtype=np.float64) @ self.coef_.T + self.intercept_

    def decision_function(self, X: ArrayLike) -> Float[np.ndarray, "n k"]:
        """log p(c | x) up to a constant; for two classes the difference of the two."""
        scores = self._scores(X)
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

    def predict_proba(self, X: ArrayLike) -> Float[np.ndarray, "n k"]:
        """The probability of each class."""
        return softmax(self._scores(X), axis=1)

    def predict(self, X: ArrayLike) -> np.ndarray:
        """The most probable class of each row."""
        best = self._scores(X).argmax(1)
        return self.classes_[best]
