"""Activations against numpy and the standard library, with the gradients that the lecture states."""

import math

import numpy as np
import pytest
import torch

from headway.layers.activations import ACTIVATIONS

pytestmark = pytest.mark.usefixtures("doubles")
Z = torch.tensor([-750.0, -30.0, -5.0, -1.0, -1e-3, 0.0, 1e-3, 0.5, 1.0, 5.0, 25.0, 30.0, 750.0], dtype=torch.float64)


def logistic(z: float) -> float:
    return 1 / (1 + math.exp(-z)) if z > 0 else math.exp(z) / (1 + math.exp(z))


def distribution(z: float) -> float:
    return math.erfc(-z / math.sqrt(2)) / 2


FORMULAS = {
    "step": (lambda z: float(z > 0), lambda z: 0.0),
    "sigmoid": (logistic, lambda z: logistic(z) * logistic(-z)),
    "tanh": (math.tanh, lambda z: 1 - math.tanh(z) ** 2),
    "relu": (lambda z: max(0.0, z), lambda z: float(z > 0)),
    "leaky_relu": (lambda z: z if z > 0 else 0.01 * z, lambda z: 1.0 if z > 0 else 0.01),
    "softplus": (lambda z: max(z, 0.0) + math.log1p(math.exp(-abs(z))), logistic),
    "gelu": (lambda z: z * distribution(z), lambda z: distribution(z) + z * math.exp(-z * z / 2) / math.sqrt(2 * math.pi)),
    "squared_relu": (lambda z: max(0.0, z) ** 2, lambda z: 2 * max(0.0, z)),
}


def test_every_activation_has_a_formula_here() -> None:
    assert list(FORMULAS) == list(ACTIVATIONS)
    assert all(ACTIVATIONS[name].__doc__ for name in ACTIVATIONS)


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_values_and_gradients(name: str) -> None:
    value, slope = FORMULAS[name]
    z = Z.clone().requires_grad_()
    y = ACTIVATIONS[name](z)
    np.testing.assert_allclose(y.detach().numpy(), [value(a) for a in Z.tolist()], rtol=1e-12, atol=1e-15)
    if y.requires_grad:
        y.sum().backward()
        np.testing.assert_allclose(z.grad.numpy(), [slope(a) for a in Z.tolist()], rtol=1e-12, atol=1e-15)
    else:
        assert name == "step"  # no gradient at all: exercise 10.2 of lecture D


def test_two_of_them_are_one() -> None:
    torch.testing.assert_close(ACTIVATIONS["tanh"](Z), 2 * ACTIVATIONS["sigmoid"](2 * Z) - 1, rtol=0.0, atol=1e-15)


@pytest.mark.parametrize("name", [name for name in ACTIVATIONS if name != "step"])
def test_second_derivatives(name: str) -> None:
    z = torch.randn(7, dtype=torch.float64, generator=torch.Generator().manual_seed(1)).requires_grad_()
    assert torch.autograd.gradgradcheck(ACTIVATIONS[name], z)
