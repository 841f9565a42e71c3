"""Models of pictures against torch and numpy; and what a permutation of the pixels or a shift changes."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from headway.models import cnn, mlp
from headway.models.cnn import CNN
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
    net = MLP(mlp.Config(width=13, depth=depth, activation=activation), 2 * 7 * 11, 3).eval()  # type: ignore[arg-type]
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
    """He's first weights keep the second moment: within a factor of 2 after 20 layers, where 1/n leaves 2^-20."""
    torch.manual_seed(3)
    net = MLP(mlp.Config(width=512, depth=20, dropout=0.0), 16 * 16, 3).eval()
    x = torch.randn(64, 1, 16, 16)
    assert 0.5 < net(x).square().mean().item() / x.square().mean().item() < 2.0


@pytest.mark.parametrize(("channels", "height", "width"), [(1, 28, 28), (3, 32, 32), (2, 7, 11), (1, 1, 9), (1, 1, 1)])
@pytest.mark.parametrize("kernel", [1, 3, 5])
@torch.no_grad()
def test_cnn_is_that_of_torch(channels: int, height: int, width: int, kernel: int) -> None:
    """Pictures of any size, down to a pixel."""
    net = CNN(cnn.Config(filters=4, depth=3, kernel=kernel, width=13), channels, height, width, 3).eval()
    for p in net.parameters():
        p.add_(0.1 * torch.randn(p.shape))
    x = images = pictures(4, channels, height, width)
    for number, stage in enumerate(net.stages):
        x = F.conv2d(x, stage.convolution.weight, stage.convolution.bias, padding=kernel // 2).relu()
        x = F.max_pool2d(x, [min(2, x.shape[2]), min(2, x.shape[3])])
        assert x.shape[1] == 4 * 2**number
    expected = F.linear(x.flatten(1), net.full.weight, net.full.bias).relu()
    torch.testing.assert_close(net(images), expected, **CLOSE)
    torch.testing.assert_close(net.logits(expected), F.linear(expected, net.head.weight, net.head.bias), **CLOSE)


def test_cnn_begins_with_the_weights_of_he() -> None:
    """Variance 2 / n_in, within four standard errors; biases at zero."""
    net = CNN(cnn.Config(filters=32, depth=2, kernel=5, width=64), 3, 16, 16, 3)
    for weight, bias, inputs in (
        (net.stages[0].convolution.weight, net.stages[0].convolution.bias, 3 * 25),
        (net.stages[1].convolution.weight, net.stages[1].convolution.bias, 32 * 25),
        (net.full.weight, net.full.bias, 64 * 16),
    ):
        assert weight.var().item() == pytest.approx(2 / inputs, rel=4 * (2 / weight.numel()) ** 0.5)
        assert not bias.any()


@torch.no_grad()
def test_a_stage_of_a_cnn_moves_with_its_picture() -> None:
    """Shifted by one window, away from the edge, it gives the same, shifted by one place."""
    stage = CNN(cnn.Config(filters=4, depth=1, kernel=3), 1, 16, 16, 3).stages[0]
    x = F.pad(torch.rand(2, 1, 6, 6), (4, 6, 4, 6))
    torch.testing.assert_close(stage(x.roll((2, 2), (2, 3))), stage(x).roll((1, 1), (2, 3)), **CLOSE)
    assert not torch.allclose(stage(x.roll((2, 2), (2, 3))), stage(x))


@torch.no_grad()
def test_the_order_of_pixels_means_nothing_to_an_mlp() -> None:
    """Pixels and the columns of the first matrix, both in another order: the answers are the same."""
    net, x, order = MLP(mlp.Config(width=13, depth=2), 4 * 6, 3).eval(), pictures(5, 1, 4, 6), torch.randperm(24)
    before = net(x)
    net.layers[0].weight.copy_(net.layers[0].weight[:, order])
    torch.testing.assert_close(net(x.flatten(1)[:, order].view_as(x)), before, **CLOSE)
