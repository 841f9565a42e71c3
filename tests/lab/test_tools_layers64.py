"""Layers in float64: weights from the given generator, Jacobians and counts against numpy and closed forms."""

import numpy as np
import torch
from torch import nn

from headway.lab.tools.layers64 import (
    Dispatched,
    built,
    influence,
    jacobian,
    multiply_adds,
    normal,
    stepwise,
    transport,
)
from headway.layers.recurrences.elman import Elman
from headway.layers.recurrences.lstm import LSTM


def test_weights_come_from_the_generator_and_torchs_own_is_left_alone() -> None:
    before = torch.random.get_rng_state()
    one, two, three = (built(lambda: nn.Linear(3, 2), np.random.default_rng(seed)) for seed in (1, 1, 2))
    assert torch.equal(one.weight, two.weight) and not torch.equal(one.weight, three.weight)
    assert one.weight.dtype == torch.float64 and not one.weight.requires_grad
    assert torch.equal(before, torch.random.get_rng_state())


def test_jacobian_and_influence_of_a_matrix() -> None:
    rng = np.random.default_rng(0)
    A = normal(rng, 4, 3)
    np.testing.assert_allclose(jacobian(lambda x: A @ x, normal(rng, 3)), A.numpy())
    mix = torch.tensor([[2.0, 0.0], [-3.0, 1.0]]).double()  # output 0 does not see input 1
    np.testing.assert_allclose(influence(lambda x: mix @ x, normal(rng, 2, 5)), mix.abs().numpy())


def test_transport_is_the_product_of_the_steps_of_an_elman_network() -> None:
    rng = np.random.default_rng(3)
    cell = built(lambda: Elman(2, 4), rng)
    x, z, J = normal(rng, 5, 2), normal(rng, 1, 4), np.eye(4)
    found = transport(cell, x, (z,))
    for t, row in enumerate(x):
        z = cell.step(row[None], (z,))[0]
        J = np.diag(1 - z[0].numpy() ** 2) @ cell.hidden.weight.numpy() @ J
        np.testing.assert_allclose(found[t], J, atol=1e-14)


def test_steps_are_the_scan() -> None:
    rng = np.random.default_rng(4)
    cell, x = built(lambda: LSTM(3, 4), rng), normal(rng, 6, 3)
    np.testing.assert_allclose(stepwise(cell, x), cell(x[None])[0].numpy(), atol=1e-14)


def test_multiply_adds_and_operations_are_counted() -> None:
    assert multiply_adds(nn.Linear(7, 5), (3, 7)) == 3 * 7 * 5
    with Dispatched("addcmul") as seen:
        for _ in range(4):
            torch.addcmul(torch.ones(2), torch.ones(2), torch.ones(2)) + 1
    assert seen.count == 4
