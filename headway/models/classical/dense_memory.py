from collections.abc import Callable
from typing import Literal

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from headway.models.classical.hopfield_network import binary, signs


class DenseMemory(TransformerMixin, BaseEstimator):
    """Dense associative memory: a Hopfield network whose valleys are so narrow that far more patterns fit.

        E(x) = -sum_s F(x_s . x),  F(z) = max(z, 0)^degree or exp(z)        x_i <- sign(E(x with x_i = -1) - E(x with x_i = +1))

    With F(z) = z^2 it is the Hopfield network; with z^degree some n^(degree - 1) patterns fit, with exp some 2^(n/2).
    Krotov & Hopfield 2016, https://arxiv.org/abs/1606.01164; Demircigil et al. 2017, https://arxiv.org/abs/1702.01929;
    lecture C, chapter 3. The continuous form with exp is attention (`headway show hopfield`).

    energy_function   "polynomial" or "exponential"
    degree            of the polynomial
    sweeps            through all units at most
    seed              of the order in which units change
    """

    aliases = ("dense associative memory", "modern Hopfield network of binary patterns", "Krotov-Hopfield memory")

    def __init__(
        self,
        energy_function: Literal["polynomial", "exponential"] = "polynomial",
        degree: int = 3,
        sweeps: int = 100,
        seed: int = 0,
    ) -> None:
        self.energy_function = energy_function
        self.degree = degree
        self.sweeps = sweeps
        self.seed = seed

    def _F(self) -> Callable[[np.ndarray], np.ndarray]:
        if self.energy_function == "exponential":
            return lambda z: np.exp(z - self.patterns_.shape[1])  # the largest overlap is n: nothing overflows
        return lambda z: np.maximum(z / self.patterns_.shape[1], 0.0) ** self.degree

    def fit(self, X: ArrayLike, y: object = None) -> "DenseMemory":
        """Keep the rows as patterns."""
        if self.energy_function not in ("polynomial", "exponential") or self.degree < 2:
            raise ValueError("`energy_function` is polynomial or exponential, `degree` at least 2")
        self.patterns_ = binary(validate_data(self, X, dtype=np.float64))
        return self

    def energy(self, X: ArrayLike) -> Float[np.ndarray, "b"]:
        """E of each row, up to a positive factor that is the same for all."""
        check_is_fitted(self)
        x = binary(validate_data(self, X, reset=False, dtype=np.float64))
        return -self._F()(x @ self.patterns_.T).sum(1)

    def transform(self, X: ArrayLike) -> Float[np.ndarray, "b n"]:
        """Each row where it comes to rest."""
        check_is_fitted(self)
        x, F = binary(validate_data(self, X, reset=False, dtype=np.float64)), self._F()
        random = np.random.default_rng(self.seed)
        for _ in range(self.sweeps):
            before = x.copy()
            for i in random.permutation(x.shape[1]):
                rest = x @ self.patterns_.T - np.outer(x[:, i], self.patterns_[:, i])  # overlaps without unit i
                rise = F(rest + self.patterns_[:, i]) - F(rest - self.patterns_[:, i])
                x[:, i] = signs(rise.sum(1), x[:, i])
            if np.array_equal(x, before):
                break
        return x
