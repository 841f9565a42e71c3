"""Dropout against its distribution, positions and schedules against their formulas."""

import itertools
import math

import numpy as np
import pytest
import torch

from headway.core import registry
from headway.core.errors import ConfigError, UsageError
from headway.layers.connections.post_norm import PostNorm
from headway.layers.connections.pre_norm import PreNorm
from headway.layers.dropout import Dropout
from headway.layers.feedforward import Feedforward
from headway.layers.positions.learned import Learned
from headway.layers.positions.sinusoidal import Sinusoidal
from headway.training.schedules import rate_factor

N = 200_000
RATES = pytest.mark.parametrize("p", [0.1, 0.2, 0.3, 0.5, 0.9])


@RATES
def test_dropout_keeps_the_mean_and_drops_at_the_rounded_rate(p: float) -> None:
    """Each number is 0 with probability r = round(256 p) / 256, else 1 / (1 - r): the mean is 1, its variance r / (1 - r) / N."""
    r = round(256 * p) / 256
    y = Dropout(p).train()(torch.ones(N))
    assert abs(float((y == 0).double().mean()) - r) < 4.5 * math.sqrt(r * (1 - r) / N)
    assert abs(float(y.double().mean()) - 1) < 4.5 * math.sqrt(r / (1 - r) / N)
    torch.testing.assert_close(y[y != 0], torch.full_like(y[y != 0], 1 / (1 - r)))
    neighbours = torch.corrcoef(torch.stack((y[:-1], y[1:])))[0, 1]
    assert abs(float(neighbours)) < 4.5 / math.sqrt(N), "neighbours are dropped together"


def test_dropout_is_never_rounded_to_none_or_to_all() -> None:
    for p, threshold in ((0.0, 0), (1e-4, 1), (0.001, 1), (1 / 256, 1), (0.999, 255)):
        assert Dropout(p).threshold == threshold
    y = Dropout(0.001).train()(torch.ones(N))
    assert abs(float((y == 0).double().mean()) - 1 / 256) < 4.5 * math.sqrt(1 / 256 / N)
    for p in (-0.1, 1.0):
        with pytest.raises(ConfigError, match=rf"dropout is {p}, expected a probability of at least 0 and below 1"):
            Dropout(p)


@RATES
@pytest.mark.parametrize("shape", [(7,), (3, 5, 11), (2, 8), (1,)])
def test_dropout_backward_has_the_mask_of_forward(p: float, shape: tuple[int, ...]) -> None:
    x = torch.randn(shape, requires_grad=True)
    y = Dropout(p).train()(x)
    g = torch.randn(shape)
    y.backward(g)
    scale = 256 / (256 - round(256 * p))
    kept = y != 0
    torch.testing.assert_close(y, torch.where(kept, x * scale, 0.0))
    torch.testing.assert_close(x.grad, torch.where(kept, g * scale, 0.0))


def test_dropout_follows_the_seed_and_is_silent_in_eval() -> None:
    layer, x = Dropout(0.4).train(), torch.randn(1000)
    torch.manual_seed(7)
    first, second = layer(x), layer(x)
    torch.manual_seed(7)
    assert torch.equal(layer(x), first) and not torch.equal(first, second)
    assert torch.equal(layer.eval()(x), x) and torch.equal(Dropout(0.0).train()(x), x)
    assert layer.train()(x.view(10, 100).T).shape == (100, 10)


@pytest.mark.parametrize("width", [2, 7, 22])
def test_sinusoidal_positions_are_the_formula(width: int) -> None:
    t, i = np.arange(50)[:, None].astype(float), np.arange(width)[None, :]
    angle = t * 10000.0 ** (-2 * (i // 2) / width)
    expected = np.where(i % 2 == 0, np.sin(angle), np.cos(angle))
    positions = Sinusoidal(width, longest=40)
    np.testing.assert_allclose(positions(40).numpy(), expected[:40], atol=1e-6)
    np.testing.assert_allclose(positions(50).numpy(), expected, atol=1e-6)
    for offset, length in ((0, 1), (13, 5), (38, 4), (45, 5)):  # inside, across the end of the table, beyond it
        np.testing.assert_allclose(positions(length, offset).numpy(), expected[offset : offset + length], atol=1e-6)
    assert not list(positions.parameters()) and not positions.state_dict()


def test_learned_positions_are_rows_of_a_table_that_ends() -> None:
    positions = Learned(6, longest=9)
    assert torch.equal(positions(4, 3), positions.table[3:7]) and torch.equal(positions(9), positions.table)
    with pytest.raises(UsageError, match=r"position 10 was asked of learned positions that end at 9\nHint: shorten the input"):
        positions(1, 9)


@pytest.mark.parametrize("schedule", registry.entries("schedules"))
def test_warm_up_is_a_straight_line_to_the_highest_rate(schedule: str) -> None:
    values = [rate_factor(schedule, n, 1000, 100) for n in range(1001)]
    assert values[:100] == pytest.approx([(n + 1) / 100 for n in range(100)])
    assert values[99] == 1.0 and values[100] == pytest.approx(1.0, rel=0.01) and max(values) == 1.0
    assert all(a >= b for a, b in itertools.pairwise(values[100:]))
    assert rate_factor(schedule, 0, 10, 0) == 1.0 and rate_factor(schedule, 0, 1, 1) == 1.0


def test_schedules_are_their_closed_forms() -> None:
    for n in (100, 325, 550, 1000):
        assert rate_factor("cosine", n, 1000, 100) == pytest.approx(0.5 * (1 + math.cos(math.pi * (n - 100) / 900)))
        assert rate_factor("inverse_root", n, 1000, 100) == pytest.approx(math.sqrt(100 / (n + 1)))
        assert rate_factor("constant", n, 1000, 100) == 1.0
        assert rate_factor("linear", n, 1000, 100) == pytest.approx((1000 - n) / 900)
        assert rate_factor("exponential", n, 1000, 100) == pytest.approx(10 ** (-2 * (n - 100) / 900))
    assert rate_factor("cosine", 550, 1000, 100) == pytest.approx(0.5) and rate_factor("cosine", 1000, 1000, 100) == pytest.approx(0.0)
    assert rate_factor("inverse_root", 399, 1000, 100) == pytest.approx(0.5)
    trapezoid = [rate_factor("trapezoid", n, 1000, 100) for n in (100, 400, 700, 1000)]
    assert trapezoid == pytest.approx([1.0, 1.0, 0.5, 0.0])
    thirds = [rate_factor("step", n, 1000, 100) for n in (100, 399, 400, 699, 700, 1000)]
    assert thirds == pytest.approx([1.0, 1.0, 0.1, 0.1, 0.01, 0.01])
    ratios = [rate_factor("exponential", n + 1, 50, 5) / rate_factor("exponential", n, 50, 5) for n in range(5, 50)]
    assert ratios == pytest.approx([ratios[0]] * 45), "every step multiplies by the same number"


def test_norms_stand_where_they_should(doubles: None) -> None:
    """y = x + F(norm(x)) and y = norm(x + F(x)), each position normalised over its own width."""

    def normalised(x: np.ndarray) -> np.ndarray:
        return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5)

    x = torch.randn(2, 7, 11)
    a = x.numpy()
    np.testing.assert_allclose(PreNorm(11, 0.0)(x, torch.sin).detach().numpy(), a + np.sin(normalised(a)), atol=1e-12)
    np.testing.assert_allclose(PostNorm(11, 0.0)(x, torch.sin).detach().numpy(), normalised(a + np.sin(a)), atol=1e-12)
    np.testing.assert_allclose(PreNorm.final(11)(x).detach().numpy(), normalised(a), atol=1e-12)
    assert torch.equal(PostNorm.final(11)(x), x)


def test_feedforward_is_two_layers_with_a_relu(doubles: None) -> None:
    net, x = Feedforward(5, 13), torch.randn(2, 7, 5)
    inner = np.maximum(x.numpy() @ net.up.weight.detach().numpy().T + net.up.bias.detach().numpy(), 0)
    expected = inner @ net.down.weight.detach().numpy().T + net.down.bias.detach().numpy()
    np.testing.assert_allclose(net(x).detach().numpy(), expected, atol=1e-12)
