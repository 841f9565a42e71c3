"""Derivatives beside torch's autograd and scipy."""

import numpy as np
import torch
from scipy.optimize import approx_fprime

from headway.lab.tools.differences import complex_step, differences


def test_differences_are_those_of_autograd_and_scipy() -> None:
    x = np.array([0.3, -1.2, 2.0])

    def f(v: np.ndarray) -> np.ndarray:
        return np.array([np.sin(v[0]) * v[1], v[2] ** 3])

    jacobian = torch.autograd.functional.jacobian(lambda v: torch.stack([torch.sin(v[0]) * v[1], v[2] ** 3]), torch.from_numpy(x))
    assert np.allclose(differences(f, x), jacobian.numpy(), atol=1e-8)
    assert np.allclose(differences(lambda v: float(v @ v), x), approx_fprime(x, lambda v: v @ v, 1e-8), atol=1e-6)


def test_a_complex_step_is_exact_and_keeps_leading_axes() -> None:
    x = np.random.default_rng(0).normal(size=(4, 3))
    found = complex_step(lambda v: np.exp(v) * v.sum(axis=-1, keepdims=True), x)
    for row, matrix in zip(x, found, strict=True):
        exact = np.diag(np.exp(row) * row.sum()) + np.exp(row)[:, None]
        assert np.allclose(matrix, exact, rtol=1e-14)
