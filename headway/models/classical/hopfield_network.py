import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data


def signs(field: np.ndarray, before: np.ndarray) -> np.ndarray:
    """-1 or +1, and at 0 what was there before: so that the energy falls with every change."""
    return np.where(field == 0, before, np.sign(field))


class HopfieldNetwork(TransformerMixin, BaseEstimator):
    """Hopfield network: patterns of -1 and +1 are kept as valleys of an energy; a damaged pattern rolls back into one.

        W = 1/n sum_s x_s x_s^T,  W_ii = 0            E(x) = -1/2 x^T W x            x_i <- sign(sum_j W_ij x_j), one i after another

    n units, s patterns (Hebb's rule). Each change lowers E, so it comes to rest. Some 0.138 n random patterns can be kept.
    Numbers that are not -1 or +1 count by their sign, 0 as +1. Hopfield 1982, https://doi.org/10.1073/pnas.79.8.2554;
    lecture C, chapter 3.

    sweeps   through all units at most
    seed     of the order in which units change
    """

    aliases = ("associative memory", "Hebb's rule", "Hopfield net")

    def __init__(self, sweeps: int = 100, seed: int = 0) -> None:
        self.sweeps = sweeps
        self.seed = seed

    def fit(self, X: ArrayLike, y: object = None) -> "HopfieldNetwork":
        """Keep the rows as patterns."""
        x = binary(validate_data(self, X, dtype=np.float64))
        self.weights_ = x.T @ x / x.shape[1]
        np.fill_diagonal(self.weights_, 0.0)
        return self

    def energy(self, X: ArrayLike) -> Float[np.ndarray, "b"]:
        """E of each row."""
        check_is_fitted(self)
        x = binary(validate_data(self, X, reset=False, dtype=np.float64))
        return -0.5 * np.einsum("bi,ij,bj->b", x, self.weights_, x)

    def transform(self, X: ArrayLike) -> Float[np.ndarray, "b n"]:
        """Each row where it comes to rest."""
        check_is_fitted(self)
        x = binary(validate_data(self, X, reset=False, dtype=np.float64))
        random = np.random.default_rng(self.seed)
        for _ in range(self.sweeps):
            before = x.copy()
            for i in random.permutation(x.shape[1]):
                x[:, i] = signs(x @ self.weights_[i], x[:, i])
            if np.array_equal(x, before):
                break
        return x


def binary(X: Float[np.ndarray, "b n"]) -> Float[np.ndarray, "b n"]:
    """-1 below 0, +1 from 0 on."""
    return np.where(X >= 0, 1.0, -1.0)
