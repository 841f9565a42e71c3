"""Norms against torch's modules and their equations in numpy; DeepNorm against the table of its paper."""

import math
from functools import partial
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from headway.core.errors import ConfigError
from headway.layers.attention.cross import Cross
from headway.layers.attention.multihead import Multihead
from headway.layers.connections.deep_norm import DeepNorm, deep, deep_decoder, deep_encoder, deep_initialise
from headway.layers.connections.post_norm import PostNorm
from headway.layers.connections.pre_norm import PreNorm
from headway.layers.feedforward import Feedforward
from headway.layers.norms.batch_norm import BatchNorm
from headway.layers.norms.layer_norm import LayerNorm
from headway.layers.norms.rms_norm import RMSNorm

pytestmark = pytest.mark.usefixtures("doubles")
B, T, D = 3, 7, 11
CLOSE = {"rtol": 0.0, "atol": 1e-12}
PAIRS = [(LayerNorm, nn.LayerNorm(D)), (RMSNorm, nn.RMSNorm(D, eps=1e-6))]


def drawn(layer: nn.Module) -> nn.Module:
    with torch.no_grad():
        for parameter in layer.parameters():
            parameter.add_(0.3 * torch.randn(D))
    return layer


@pytest.mark.parametrize(("norm", "reference"), PAIRS, ids=["layer", "rms"])
def test_over_the_width(norm: Any, reference: nn.Module) -> None:
    ours, reference = drawn(norm(D)), reference.double()
    reference.load_state_dict(ours.state_dict())
    x = (3 * torch.randn(B, T, D) + 2).requires_grad_()
    z = x.detach().clone().requires_grad_()
    assert torch.equal(ours(x), reference(z))
    a, w = x.detach().numpy(), ours.weight.detach().numpy()
    if norm is LayerNorm:
        written = (a - a.mean(-1, keepdims=True)) / np.sqrt(a.var(-1, keepdims=True) + 1e-5) * w + ours.bias.detach().numpy()
    else:
        written = a / np.sqrt((a**2).mean(-1, keepdims=True) + 1e-6) * w
    np.testing.assert_allclose(ours(x).detach().numpy(), written, atol=1e-12)
    ours(x).square().sum().backward()
    reference(z).square().sum().backward()
    torch.testing.assert_close(x.grad, z.grad, **CLOSE)


def test_the_length_of_a_normalised_vector_is_the_root_of_its_width() -> None:
    """Erratum E6: not 1."""
    y = LayerNorm(D)(50 * torch.randn(B, T, D))
    torch.testing.assert_close(y.norm(dim=-1), torch.full((B, T), math.sqrt(D)), rtol=1e-4, atol=0.0)


def test_over_the_batch_in_training_and_afterwards() -> None:
    ours, reference = drawn(BatchNorm(D)), nn.BatchNorm1d(D)
    reference.load_state_dict({"weight": ours.weight, "bias": ours.bias}, strict=False)
    for step in range(3):
        x = ((step + 1) * torch.randn(B, T, D) + step).requires_grad_()
        z = x.detach().clone().requires_grad_()
        found, expected = ours(x), reference(z.transpose(1, 2)).transpose(1, 2)
        torch.testing.assert_close(found, expected, **CLOSE)
        weights = torch.randn(B, T, D)
        (found * weights).sum().backward()
        (expected * weights).sum().backward()
        torch.testing.assert_close(x.grad, z.grad, **CLOSE)
    torch.testing.assert_close(ours.mean, reference.running_mean, **CLOSE)
    torch.testing.assert_close(ours.variance, reference.running_var, **CLOSE)
    x = torch.randn(B, T, D)
    torch.testing.assert_close(ours.eval()(x), reference.eval()(x.transpose(1, 2)).transpose(1, 2), **CLOSE)
    written = (x - ours.mean) / (ours.variance + 1e-5).sqrt() * ours.weight + ours.bias
    torch.testing.assert_close(ours(x), written, **CLOSE)


def test_batch_norm_depends_on_the_company_in_training_only() -> None:
    layer, x = BatchNorm(D), torch.randn(B, T, D)
    assert (layer(x)[:2] - layer(x[:2])).abs().max() > 1e-2
    layer.eval()
    assert torch.equal(layer(x)[:2], layer(x[:2]))
    with pytest.raises(ConfigError, match="of 1 row in training: one row has no variance\nHint: use a batch of at least 2"):
        BatchNorm(D)(torch.randn(1, D))
    images = torch.randn(B, D, 5, 7)
    expected = nn.BatchNorm2d(D)(images)
    torch.testing.assert_close(BatchNorm(D)(images.movedim(1, -1)).movedim(-1, 1), expected, **CLOSE)


def test_resumed_runs_find_their_norms() -> None:
    """The names and numbers of torch's module, to the last bit: runs that were stored before go on as if nothing had happened."""
    x = torch.randn(B, T, D, dtype=torch.float32)
    norm = drawn(nn.LayerNorm(D, dtype=torch.float32))
    for arrangement, expected in (
        (PreNorm, lambda: x + torch.sin(norm(x))),
        (PostNorm, lambda: norm(x + torch.sin(x))),
    ):
        around = arrangement(D, 0.0).float()
        assert list(around.state_dict()) == ["norm.weight", "norm.bias"]
        around.norm.load_state_dict(norm.state_dict())
        assert torch.equal(around(x, torch.sin), expected())


# -- DeepNorm --------------------------------------------------------------------------------------------------------------------


def test_the_table_of_deepnet() -> None:
    """Figure 2 of the paper, by logarithms; and two depths worked out by hand."""
    for n in (1, 3, 6, 100, 1000):
        assert deep(n) == pytest.approx((math.exp(math.log(2 * n) / 4), math.exp(-math.log(8 * n) / 4)))
        for m in (1, 6, 50):
            root = math.exp((4 * math.log(n) + math.log(m)) / 16)
            assert deep_encoder(n, m) == pytest.approx((0.81 * root, 0.87 / root))
            assert deep_decoder(m) == pytest.approx((math.exp(math.log(3 * m) / 4), math.exp(-math.log(12 * m) / 4)))
    assert deep(8) == pytest.approx((2.0, 1 / math.sqrt(math.sqrt(64))))
    assert deep_encoder(2, 4096).alpha == pytest.approx(0.81 * 2) and deep_decoder(27).alpha == pytest.approx(3.0)


def test_deepnorm_is_its_equation() -> None:
    x, around = torch.randn(B, T, D), DeepNorm(D, 0.0, alpha=deep(50).alpha)
    a = x.numpy()
    s = 100**0.25 * a + np.sin(a)
    expected = (s - s.mean(-1, keepdims=True)) / np.sqrt(s.var(-1, keepdims=True) + 1e-5)
    np.testing.assert_allclose(around(x, torch.sin).detach().numpy(), expected, atol=1e-12)
    assert around.alpha == pytest.approx(3.16227766)
    assert isinstance(DeepNorm.final(D), nn.Identity)


def test_where_beta_goes() -> None:
    """sqrt(2 / (n_in + n_out)) for queries and keys, beta times that for values, outputs and the feed-forward network."""
    d, f, beta = 96, 224, 0.25
    blocks = nn.ModuleDict({"mixer": Multihead(d, 2), "cross": Cross(d, 2), "feedforward": Feedforward(d, f)})
    deep_initialise(blocks, beta)
    mixer, cross, feedforward = blocks["mixer"], blocks["cross"], blocks["feedforward"]
    square, oblong = math.sqrt(1 / d), math.sqrt(2 / (d + f))
    q, k, v = mixer.project.weight.split(d)
    key, value = cross.memory.weight.split(d)
    for weight, expected in [(q, square), (k, square), (cross.query.weight, square), (key, square)] + [
        (w, beta * square) for w in (v, mixer.output.weight, value, cross.output.weight)
    ] + [(w, beta * oblong) for w in (feedforward.up.weight, feedforward.down.weight)]:  # fmt: skip
        error = expected / math.sqrt(2 * weight.numel())  # the standard error of a standard deviation
        assert abs(weight.std().item() - expected) < 4 * error


def moved(residual: Any, gain: float, depth: int) -> float:
    """How far the output of a stack goes in one small step of gradient descent, per unit of step size."""
    torch.manual_seed(3)
    rows, width, eta = 16, 32, 1e-4
    x, direction = nn.functional.layer_norm(torch.randn(rows, width), (width,)), torch.randn(rows, width)
    nets = nn.ModuleList(Feedforward(width, width) for _ in range(2 * depth))
    arounds = [residual(width, 0.0) for _ in nets]
    deep_initialise(nets, gain)

    def run() -> Tensor:
        y = x
        for around, net in zip(arounds, nets, strict=True):
            y = around(y, net)
        return y

    before = run()
    (before * direction).sum().div(rows).backward()
    with torch.no_grad():
        for parameter in nets.parameters():
            parameter -= eta * parameter.grad
        return (run() - before).norm().item() / eta


def test_a_step_moves_a_deep_stack_no_further_than_a_shallow_one() -> None:
    """The argument of the paper (section 4): the update of the model is bounded whatever its depth; under post-norm it explodes."""
    bounded = {n: moved(partial(DeepNorm, alpha=deep(n).alpha), deep(n).beta, n) for n in (2, 64)}
    exploding = {n: moved(PostNorm, 1.0, n) for n in (2, 64)}
    assert bounded[64] < 3 * bounded[2], bounded
    assert exploding[64] > 30 * exploding[2], exploding
