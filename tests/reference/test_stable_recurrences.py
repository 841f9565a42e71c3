"""Recurrences that are stable dynamical systems (antisymmetric, Lipschitz) against their equations and the eigenvalues of their steps."""

from typing import Any

import pytest
import torch
from torch import Tensor

from headway.layers.recurrences.antisymmetric import Antisymmetric
from headway.layers.recurrences.elman import Elman
from headway.layers.recurrences.lipschitz import Lipschitz

pytestmark = pytest.mark.usefixtures("doubles")
N, D = 5, 11  # inputs, width
CLOSE = {"rtol": 0.0, "atol": 1e-10}


def jacobian(mixer: Any, h: Tensor, wx: Tensor, epsilon: float) -> Tensor:
    """Of the differential equation that a step follows: d/dh of (h' - h) / epsilon."""
    return torch.func.jacrev(lambda h: (mixer.cell(wx[None], (h[None],))[0][0] - h) / epsilon)(h)


def test_antisymmetric_is_its_equation_and_never_explodes() -> None:
    gamma, epsilon = 0.05, 0.2
    mixer = Antisymmetric(N, D, epsilon, gamma)
    w = mixer.hidden.parametrizations.weight.original.detach()
    h, x = torch.randn(D), torch.randn(N)
    m = w - w.T - gamma * torch.eye(D)
    torch.testing.assert_close(torch.linalg.eigvals(m).real, torch.full((D,), -gamma), **CLOSE)
    slope = 1 - torch.tanh(m @ h + mixer.hidden.bias + mixer.input(x)) ** 2
    expected = h + epsilon * torch.tanh(m @ h + mixer.hidden.bias + mixer.input(x))
    torch.testing.assert_close(mixer.step(x[None], (h[None],))[0][0], expected, **CLOSE)
    parts = torch.linalg.eigvals(jacobian(mixer, h, mixer.input(x), epsilon)).real
    assert parts.max() <= -gamma * slope.min() + 1e-10 and parts.min() >= -gamma * slope.max() - 1e-10
    elman = Elman(N, D)
    elman.hidden.weight.data = 3 * w
    assert torch.linalg.eigvals(jacobian(elman, h, elman.input(x), 1.0)).real.max() > -1, "an unconstrained matrix is not stable"
    assert torch.linalg.eigvals(w).real.max() > 0


@pytest.mark.parametrize("beta", [0.5, 0.75, 1.0])
def test_lipschitz_is_its_equation_with_the_chosen_symmetric_part(beta: float) -> None:
    gamma, epsilon = 0.05, 0.2
    mixer = Lipschitz(N, D, epsilon, beta, gamma)
    h, x = torch.randn(D), torch.randn(N)
    built = []
    for layer in (mixer.linear, mixer.hidden):
        m, a = layer.parametrizations.weight.original.detach(), layer.weight.detach()
        torch.testing.assert_close(a, (1 - beta) * (m + m.T) + beta * (m - m.T) - gamma * torch.eye(D), **CLOSE)
        ours, free = torch.linalg.eigvalsh((a + a.T) / 2), torch.linalg.eigvalsh((m + m.T) / 2)
        torch.testing.assert_close(ours, 2 * (1 - beta) * free - gamma, **CLOSE)
        assert torch.linalg.eigvals(a).real.max() <= ours.max() + 1e-10
        built.append(a)
    a, w = built
    expected = h + epsilon * (a @ h + torch.tanh(w @ h + mixer.hidden.bias + mixer.input(x)))
    torch.testing.assert_close(mixer.step(x[None], (h[None],))[0][0], expected, **CLOSE)
    if beta == 1.0:
        torch.testing.assert_close(torch.linalg.eigvals(a).real, torch.full((D,), -gamma), **CLOSE)
