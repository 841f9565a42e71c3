import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted, validate_data


class LinearRegression(RegressorMixin, BaseEstimator):
    """Linear regression: least squares in closed form, with a ridge penalty if that is asked for.

        min_{w,b} ‖X w + b - y‖^2 + penalty ‖w‖^2            w = (Xc^T Xc + penalty I)^-1 Xc^T yc,   b = mean(y) - w . mean(X)

    on centred data, by the singular value decomposition: without a penalty and with more columns than rows it is the
    solution of least norm. Gauss 1809; lecture C, chapter 2; lecture D.

    penalty   of the squared norm of the weights; the intercept is free
    """

    aliases = ("least squares", "ordinary least squares", "ridge regression", "OLS")

    def __init__(self, penalty: float = 0.0) -> None:
        self.penalty = penalty

    def fit(self, X: ArrayLike, y: ArrayLike) -> "LinearRegression":
        """Solve for the weights."""
        rows, values = validate_data(self, X, y, dtype=np.float64, y_numeric=True, multi_output=True)
        if self.penalty < 0:
            raise ValueError(f"`penalty` must not be negative, not {self.penalty}")
        values = np.asarray(values, dtype=np.float64)
        middle, mean = rows.mean(0), values.mean(0)
        U, s, V = np.linalg.svd(rows - middle, full_matrices=False)
        smallest = np.finfo(np.float64).eps * max(rows.shape) * s.max(initial=0.0)
        shrunk = np.divide(s, s**2 + self.penalty, out=np.zeros_like(s), where=s > smallest)
        coef = V.T @ (shrunk.reshape(-1, *[1] * (values.ndim - 1)) * (U.T @ (values - mean)))
        self.coef_ = coef.T
        self.intercept_ = mean - middle @ coef
        return self

    def predict(self, X: ArrayLike) -> np.ndarray:
        """The value of each row."""
        check_is_fitted(self)
        return validate_data(self, X, reset=False, dtype=np.float64) @ self.coef_.T + self.intercept_

    def __sklearn_tags__(self) -> object:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags
