"""The gradient written out is torch's, δ is the derivative of its risk, and the risk takes complex parameters."""

import numpy as np
import pytest
import torch
from torch.nn.utils import parameters_to_vector

from headway.lab.tools.backpropagation import OUTPUTS, SLOPES, backprop, risk_of
from headway.lab.tools.layers import drawn
from headway.models.mlp import MLP, Config

RNG = np.random.default_rng(0)
X, Y = torch.from_numpy(RNG.normal(size=(4, 2))), torch.eye(3, dtype=torch.float64)[[0, 2, 1, 2]]


@pytest.mark.parametrize("name", OUTPUTS)
@pytest.mark.parametrize("activation", SLOPES)
def test_the_gradient_is_that_of_torch(name: str, activation: str) -> None:
    out = OUTPUTS[name]
    net = drawn(MLP(Config(widths=(5, 4), activation=activation, dropout=0.0), 2, 3), RNG)
    theirs = torch.autograd.grad(out.risk(net.logits(net(X)), Y), list(net.parameters()))
    assert backprop(net, X, Y, out.delta) == pytest.approx(parameters_to_vector(theirs).numpy(), abs=1e-12)


def test_the_risks_are_those_of_torch() -> None:
    f = torch.from_numpy(RNG.normal(size=(4, 3)))
    F = torch.nn.functional
    assert OUTPUTS["softmax, entropy"].risk(f, Y).item() == pytest.approx(F.cross_entropy(f, Y, reduction="sum").item())
    two = F.binary_cross_entropy_with_logits(f, Y, reduction="sum")
    assert OUTPUTS["sigmoid, entropy"].risk(f, Y).item() == pytest.approx(two.item())


def test_parameters_may_be_complex_and_many() -> None:
    net = drawn(MLP(Config(widths=(2,), activation="tanh", dropout=0.0), 2, 3), RNG)
    theta = parameters_to_vector(net.parameters()).detach().numpy()
    R, out = risk_of(net, X, Y, OUTPUTS["identity, squares"].risk), OUTPUTS["identity, squares"]
    found = R(np.stack([theta, theta * (1 + 0j), 0 * theta]))
    value = out.risk(net.logits(net(X)), Y).item()
    assert found == pytest.approx(np.array([value, value, 2.0]))  # of a net that is 0: ½ for each sample
