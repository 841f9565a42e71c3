"""Models of pictures against torch, numpy and loops; and what follows from how they are made: what a permutation or a shift changes."""

import numpy as np
import pytest
import torch
from torch import Tensor

from headway.models import mlp
from headway.models.mlp import MLP

pytestmark = pytest.mark.usefixtures("doubles")
CLOSE = {"rtol": 0.0, "atol": 1e-10}
RULES = {"relu": lambda z: np.maximum(z, 0), "tanh": np.tanh, "sigmoid": lambda z: 1 / (1 + np.exp(-z))}


def pictures(count: int = 4, channels: int = 2, height: int = 7, width: int = 11) -> Tensor:
    return torch.rand(count, channels, height, width)


@pytest.mark.parametrize("activation", RULES)
@pytest.mark.parametrize("depth", [1, 2, 3])
@torch.no_grad()
def test_mlp_is_its_equation(activation: str, depth: int) -> None:
    net = MLP(mlp.Config(width=13, depth=depth, activation=activation), 2, 7, 11, 3).eval()  # type: ignore[arg-type]
    for p in net.parameters():
        p.add_(0.2 * torch.randn(p.shape))
    x = pictures()
    h = x.numpy().reshape(4, -1)
    for layer in net.layers:
        h = RULES[activation](h @ layer.weight.numpy().T + layer.bias.numpy())
    torch.testing.assert_close(net(x), torch.from_numpy(h), **CLOSE)
    expected = h @ net.head.weight.numpy().T + net.head.bias.numpy()
    torch.testing.assert_close(net.logits(net(x)), torch.from_numpy(expected), **CLOSE)
    assert len(net.layers) == depth


def test_mlp_keeps_the_size_of_what_passes_through_twenty_layers() -> None:
    """He's first weights keep the second moment of ReLU layers: within a factor of 2 after 20 of them, where 1/n loses 2^-20."""
    torch.manual_seed(3)
    net = MLP(mlp.Config(width=512, depth=20, dropout=0.0), 1, 16, 16, 3).eval()
    x = torch.randn(64, 1, 16, 16)
    assert 0.5 < net(x).square().mean().item() / x.square().mean().item() < 2.0
