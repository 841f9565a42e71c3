"""Architectures for pictures against torch, their parameters counted by hand, and the symmetries that each of them has or lacks."""

from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from probes import pictures, scattered
from torch import Tensor, nn

from headway.core import registry
from headway.core.config import Choice
from headway.layers.convolutions.group_convolution import turn
from headway.models import (
    cnn,
    densenet,
    group_cnn,
    mlp,
    non_local_net,
    residual_mlp,
    resnet,
    shallow,
)
from headway.models.build import build_model, count_parameters
from headway.models.cnn import CNN
from headway.models.densenet import DenseNet
from headway.models.group_cnn import GroupCNN
from headway.models.mlp import MLP
from headway.models.non_local_net import NonLocalNet
from headway.models.residual_mlp import ResidualMLP
from headway.models.resnet import ResNet
from headway.models.shallow import Shallow

pytestmark = pytest.mark.usefixtures("doubles")
CLOSE = {"rtol": 0.0, "atol": 1e-10}
SIZES = [(1, 28, 28), (3, 32, 32), (2, 7, 11), (1, 8, 8), (1, 2, 9), (1, 1, 1)]


def sizes(channels: int, height: int, width: int) -> dict[str, int]:
    shape = {"channels": channels, "height": height, "width": width}
    return shape | {"features": channels * height * width, "outputs": 10}


@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("name", registry.models_for("pictures", "one vector"))
@torch.no_grad()
def test_pictures_of_any_size(name: str, size: tuple[int, int, int]) -> None:
    """As the model comes, down to a pixel; and the answer depends on every pixel."""
    model, x = build_model(Choice(name, {}), sizes(*size)).eval(), pictures(2, *size)
    model = scattered(model, 0.05)
    before = model.logits(model(x))
    assert before.shape == (2, 10) and bool(before.isfinite().all())
    corner = x.clone()
    corner[:, -1, -1, -1] += 50
    assert not torch.allclose(model.logits(model(corner)), before, rtol=0, atol=1e-9)


def dense(inputs: int, outputs: int) -> int:
    return inputs * outputs + outputs


BLOCK_64 = 4 * dense(64, 64) + dense(64, 128) + dense(128, 64) + 2 * 128
COUNTS = {  # for grey pictures of 28 x 28 in 10 classes
    "shallow": dense(784, 512) + dense(512, 10),
    "residual_mlp": dense(784, 256) + 4 * (2 * dense(256, 256) + 512) + 512 + dense(256, 10),
    "resnet": 9 * 32  # the first convolution; then norm, filters, norm, filters, and the shortcuts of stages 2 and 3
    + 2 * 2 * (2 * 32 + 9 * 32 * 32)
    + (2 * 32 + 9 * 32 * 64 + 3 * (2 * 64 + 9 * 64 * 64) + 32 * 64)
    + (2 * 64 + 9 * 64 * 128 + 3 * (2 * 128 + 9 * 128 * 128) + 64 * 128)
    + 2 * 128
    + dense(128, 10),
    "densenet": 9 * 24  # channels: 24, 72 -> 36, 84 -> 42, 90
    + sum(2 * c + 48 * c + 2 * 48 + 9 * 48 * 12 for first in (24, 36, 42) for c in range(first, first + 48, 12))
    + sum(2 * c + c * c // 2 for c in (72, 84))
    + 2 * 90
    + dense(90, 10),
    "mlp_mixer": dense(16, 64)
    + 6 * (dense(49, 64) + 64 * 49 + dense(64, 128) + dense(128, 64) + 2 * 128)
    + 128
    + dense(64, 10),
    "vit": dense(16, 64) + 64 + 50 * 64 + 6 * BLOCK_64 + 128 + dense(64, 10),
    "group_cnn": 9 * 16 + 16 + 4 * 9 * 16 * 32 + 32 + 4 * 9 * 32 * 64 + 64 + dense(64, 128) + dense(128, 10),
}


@pytest.mark.parametrize("name", COUNTS)
def test_parameters_counted_by_hand(name: str) -> None:
    assert count_parameters(Choice(name, {}), sizes(1, 28, 28)) == COUNTS[name]


@torch.no_grad()
def test_shallow_is_a_sum_of_ridge_functions() -> None:
    net = scattered(Shallow(shallow.Config(width=5, activation="tanh"), 2 * 7 * 11, 3).eval())
    x = pictures()
    v, a, w, b = (t.numpy() for t in (net.hidden.weight, net.hidden.bias, net.head.weight, net.head.bias))
    expected = [sum(w[:, i] * np.tanh(v[i] @ row + a[i]) for i in range(5)) + b for row in x.flatten(1).numpy()]
    torch.testing.assert_close(net.logits(net(x)), torch.from_numpy(np.stack(expected)), **CLOSE)


def test_residual_mlp_is_that_of_torch() -> None:
    net, x = scattered(ResidualMLP(residual_mlp.Config(width=13, depth=3, inner=17, dropout=0.0), 154, 3)), pictures()
    h = F.linear(x.flatten(1), net.first.weight, net.first.bias)
    for around, f in zip(net.around, net.blocks, strict=True):
        y = F.layer_norm(h, (13,), around.norm.weight, around.norm.bias)
        h = h + F.linear(F.linear(y, f.up.weight, f.up.bias).relu(), f.down.weight, f.down.bias)
    torch.testing.assert_close(net(x), F.layer_norm(h, (13,), net.norm.weight, net.norm.bias), **CLOSE)


def test_a_hundred_residual_blocks_pass_the_gradient_on() -> None:
    """The first matrix of a new network hears the same at depth 100 as at depth 1; that of an mlp does not."""

    def heard(depth: int, plain: bool = False) -> float:
        torch.manual_seed(5)
        x, options = pictures(), {"width": 16, "depth": depth, "dropout": 0.0}
        net: Any = MLP(mlp.Config(**options), 154, 3) if plain else ResidualMLP(residual_mlp.Config(**options), 154, 3)  # type: ignore[arg-type]
        (net(x) * torch.linspace(0, 1, 16)).sum().backward()
        return float((net.layers[0] if plain else net.first).weight.grad.norm())

    assert heard(100) == pytest.approx(heard(1), rel=1e-9)
    assert heard(100, plain=True) != pytest.approx(heard(1, plain=True), rel=0.5)


def torch_norm(norm: Any, training: bool) -> nn.BatchNorm2d:
    """Batch normalisation of torch with the same numbers."""
    made = nn.BatchNorm2d(len(norm.weight)).train(training)
    made.load_state_dict(
        {"weight": norm.weight, "bias": norm.bias, "running_mean": norm.mean, "running_var": norm.variance},
        strict=False,
    )
    return made


@pytest.mark.parametrize("training", [True, False])
def test_resnet_is_that_of_torch(training: bool) -> None:
    """Gradients, too: sums and activations are written over what no gradient needs."""
    config = resnet.Config(filters=3, depth=3, blocks=2, dropout=0.0)
    net, x = scattered(ResNet(config, 2, 5), 0.05).train(training), pictures(6, 2, 9, 14).requires_grad_()
    h = F.conv2d(x, net.stem.weight, padding=1)
    for number, block in enumerate(net.blocks):
        stride = 2 if number in (2, 4) else 1
        one, two = torch_norm(block.first.norm, training), torch_norm(block.second.norm, training)
        a = one(h).relu()
        inside = F.conv2d(a, block.first.convolution.weight, stride=stride, padding=1)
        inside = F.conv2d(two(inside).relu(), block.second.convolution.weight, padding=1)
        h = inside + (h if stride == 1 else F.conv2d(a, block.shortcut.weight, stride=stride))
    assert h.shape == (6, 12, 3, 4)
    expected = torch_norm(net.norm, training)(h).relu().mean((2, 3))
    found = net(x)
    torch.testing.assert_close(found, expected, **CLOSE)
    read = [x, *(p for p in net.parameters() if p.dim() == 4)]  # the norms of torch have parameters of their own
    weights = torch.randn_like(found)
    for ours, theirs in zip(*(torch.autograd.grad((y * weights).sum(), read) for y in (found, expected)), strict=True):
        torch.testing.assert_close(ours, theirs, **CLOSE)


@torch.no_grad()
def test_every_residual_block_begins_as_its_shortcut() -> None:
    net, x = ResNet(resnet.Config(filters=4), 2, 5), torch.randn(3, 4, 8, 8)
    torch.testing.assert_close(net.blocks[0](x), x, **CLOSE)
    assert not torch.allclose(net.blocks[0].first(x), x)


@torch.no_grad()
def test_densenet_is_that_of_torch() -> None:
    config = densenet.Config(growth=3, depth=2, layers=2, dropout=0.0)
    net, x = scattered(DenseNet(config, 2, 7, 11, 5)).eval(), pictures()

    def brick(h: Tensor, made: Any, padding: int) -> Tensor:
        return F.conv2d(torch_norm(made.norm, False)(h).relu(), made.convolution.weight, padding=padding)

    h = F.conv2d(x, net.stem.weight, padding=1)
    for number, layer in enumerate(net.layers):
        if number == 2:
            h = F.avg_pool2d(brick(h, layer.compress, 0), 2)
        else:
            h = torch.cat((h, brick(brick(h, layer.layer[0], 0), layer.layer[1], 1)), 1)
    assert h.shape == (4, 12, 3, 5)  # 6 + 2 * 3, halved, + 2 * 3
    torch.testing.assert_close(net(x), torch_norm(net.norm, False)(h).relu().mean((2, 3)), **CLOSE)


@torch.no_grad()
def test_a_non_local_net_starts_as_a_cnn_and_sees_the_whole_picture() -> None:
    options = {"filters": 3, "depth": 2, "kernel": 3, "width": 13}
    plain = scattered(CNN(cnn.Config(**options), 1, 16, 16, 3).eval())  # type: ignore[arg-type]
    net, x = NonLocalNet(non_local_net.Config(**options), 1, 16, 16, 3).eval(), pictures(3, 1, 16, 16)  # type: ignore[arg-type]
    net.load_state_dict(plain.state_dict(), strict=False)
    torch.testing.assert_close(net(x), plain(x), **CLOSE)
    far = x.clone()
    far[:, :, -1, -1] += 5

    def reaches(look: nn.Module) -> bool:
        """Whether the first pixel after the first stage hears of the last one."""
        before, after = (look(net.stages[0](picture))[:, :, 0, 0] for picture in (x, far))
        return not torch.equal(before, after)

    nn.init.ones_(net.looks[0].norm.weight)
    assert reaches(net.looks[0]) and not reaches(nn.Identity())


@pytest.mark.parametrize("size", [(8, 8), (7, 7), (7, 11), (5, 8), (28, 28)])
@torch.no_grad()
def test_a_turned_picture_turns_the_features_of_a_group_cnn(size: tuple[int, int]) -> None:
    """Exactly, for even and odd sides; and the answer is the same for all four orientations. A cnn lacks both."""
    net, x = GroupCNN(group_cnn.Config(filters=3, width=13), 2, 5).eval(), pictures(3, 2, *size)
    scattered(net)
    torch.testing.assert_close(net.features(x.rot90(1, (2, 3))), turn(net.features(x)), **CLOSE)
    answers = [net.logits(net(x.rot90(r, (2, 3)))) for r in range(4)]
    for answer in answers[1:]:
        torch.testing.assert_close(answer, answers[0], **CLOSE)
    assert not torch.allclose(answers[0], net.logits(net(x.flip(3))), rtol=0, atol=1e-6), "a mirror is no turn"
    if size[0] == size[1]:
        plain = scattered(CNN(cnn.Config(filters=3, kernel=3, width=13), 2, *size, 5).eval())
        assert not torch.allclose(plain(x.rot90(1, (2, 3))), plain(x), rtol=0, atol=1e-3)
