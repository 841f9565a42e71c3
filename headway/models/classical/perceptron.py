import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from headway.models.classical.targets import two_classes


class Perceptron(ClassifierMixin, BaseEstimator):
    """Perceptron: a linear unit that is corrected by each example that it gets wrong, until there is none.

        y_hat = sign(w . x + b)            if y (w . x + b) <= 0:   w <- w + y x,   b <- b + y

    If a hyperplane through the origin separates the (x, 1) with margin gamma and ‖(x, 1)‖ <= R, there are at most
    (R / gamma)^2 corrections (Novikoff 1962). On data that no hyperplane separates, such as XOR, it never ends; it stops
    after `passes` and keeps the last weights. Rosenblatt 1958, https://doi.org/10.1037/h0042519; lecture C, chapter 1.

    passes      through the data at most
    intercept   whether there is a b
    """

    aliases = ("Rosenblatt's perceptron", "perceptron algorithm", "perceptron learning rule")

    def __init__(self, passes: int = 1000, intercept: bool = True) -> None:
        self.passes = passes
        self.intercept = intercept

    def fit(self, X: ArrayLike, y: ArrayLike) -> "Perceptron":
        """Learn from the examples in their order. `mistakes_` counts the corrections; `converged_` says whether none was left."""
        rows, labels = validate_data(self, X, y, dtype=np.float64)
        self.classes_, signs = two_classes(labels)
        points = np.column_stack([rows, np.ones(len(rows))]) if self.intercept else rows
        w, self.mistakes_, self.n_iter_ = np.zeros(points.shape[1]), 0, 0
        self.converged_ = False
        while not self.converged_ and self.n_iter_ < self.passes:
            self.n_iter_ += 1
            before = self.mistakes_
            for x, sign in zip(points, signs, strict=True):
                if sign * (w @ x) <= 0:
                    w += sign * x
                    self.mistakes_ += 1
            self.converged_ = self.mistakes_ == before
        self.coef_: np.ndarray = w[: rows.shape[1]]
        self.intercept_ = float(w[-1]) if self.intercept else 0.0
        return self

    def decision_function(self, X: ArrayLike) -> Float[np.ndarray, "n"]:
        """w . x + b: above 0 for the second class."""
        check_is_fitted(self)
        return validate_data(self, X, reset=False, dtype=np.float64) @ self.coef_ + self.intercept_

    def predict(self, X: ArrayLike) -> np.ndarray:
        """The class of each row."""
        second = self.decision_function(X) > 0
        return self.classes_[second.astype(np.int64)]

    def __sklearn_tags__(self) -> object:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.classifier_tags.poor_score = (
            True  # after the last correction it may be far from good where nothing separates
        )
        return tags
