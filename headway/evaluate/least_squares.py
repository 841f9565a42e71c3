"""Least squares in closed form: what a trained model of numbers is compared with.

    b, W = argmin sum_i |y_i - b - W^T x_i|^2

with the smallest W where several are best, as with the one-hot columns of a category, which always add up to one (the
pseudoinverse, `numpy.linalg.lstsq`). Legendre 1805, Gauss 1809; James et al. 2023, ch. 3; lectures C and D.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from jaxtyping import Float

from headway.core.errors import RunError
from headway.core.files import read_tensors, write_tensors


@dataclass(frozen=True, eq=False)
class LeastSquares:
    """A linear function of the inputs with the least squared error.

    intercept, weights   b and W of y = b + W^T x
    """

    intercept: Float[np.ndarray, "c"]
    weights: Float[np.ndarray, "f c"]

    @classmethod
    def fit(cls, x: Float[np.ndarray, "n f"], y: Float[np.ndarray, "n c"]) -> "LeastSquares":
        x, y = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
        centre, mean = x.mean(0), y.mean(0)
        weights = np.linalg.lstsq(x - centre, y - mean, rcond=None)[0]
        return cls(mean - centre @ weights, weights)

    def predict(self, x: Float[np.ndarray, "n f"]) -> Float[np.ndarray, "n c"]:
        return self.intercept + np.asarray(x, dtype=np.float64) @ self.weights

    def save(self, path: Path) -> None:
        both = {"intercept": self.intercept, "weights": self.weights}
        write_tensors(path, {name: torch.from_numpy(np.ascontiguousarray(value)) for name, value in both.items()})

    @classmethod
    def load(cls, path: Path, inputs: int, outputs: int) -> "LeastSquares":
        """From a file of a run; its sizes must be those of the task.

        inputs, outputs   f and c
        """
        found = {name: tensor.numpy() for name, tensor in read_tensors(path).items()}
        shapes = {name: value.shape for name, value in found.items()}
        if shapes != {"intercept": (outputs,), "weights": (inputs, outputs)}:
            words = f"`{path}` is damaged: expected weights from {inputs} inputs to {outputs} outputs"
            raise RunError(words, "restore the file from a copy, or train again.")
        return cls(found["intercept"], found["weights"])
