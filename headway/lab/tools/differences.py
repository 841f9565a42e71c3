"""Derivatives without a formula for them: by central differences, and by a complex step."""

from collections.abc import Callable

import numpy as np

Function = Callable[[np.ndarray], np.ndarray]


def differences(f: Callable[[np.ndarray], float | np.ndarray], x: np.ndarray, h: float = 1e-5) -> np.ndarray:
    """∂f/∂x_j along a new last axis: the gradient of a number, the Jacobian matrix of a vector; the error is of order h²."""
    return np.stack([(f(x + h * e) - f(x - h * e)) / (2 * h) for e in np.eye(x.size)], axis=-1)


def complex_step(f: Function, x: np.ndarray) -> np.ndarray:
    """∂f(x)/∂x_j of the last axis, along a new last axis; no difference is taken, so nothing cancels.

    f works along the last axis and takes complex numbers (Squire and Trapp 1998, https://doi.org/10.1137/S003614459631241X).
    """
    steps = x[..., None, :] + 1e-30j * np.eye(x.shape[-1])
    return np.moveaxis(f(steps).imag / 1e-30, x.ndim - 1, -1)
