"""Layers on arrays: drawn in double precision from one generator, applied without gradients."""

import numpy as np
import torch
from scipy.signal import correlate2d
from torch import nn

from headway.lab.tools.layers import applied, drawn, one_filter, shallow_net, size
from headway.layers.convolutions.boundaries import Valid
from headway.layers.dropout import Dropout


def test_weights_are_those_of_the_generator_and_have_the_variance_that_keeps_lengths() -> None:
    layer = drawn(nn.Sequential(nn.Linear(400, 300), Dropout(0.5)), np.random.default_rng(3), bias=0.0)
    same = drawn(nn.Sequential(nn.Linear(400, 300), Dropout(0.5)), np.random.default_rng(3), bias=0.0)
    assert all(torch.equal(a, b) for a, b in zip(layer.parameters(), same.parameters(), strict=True))
    weight, bias = layer.parameters()
    assert weight.dtype == torch.float64 and not bias.any()
    assert abs(float(weight.detach().var()) * 400 - 1) < 4 * np.sqrt(2 / weight.numel())
    x = np.random.default_rng(0).normal(size=(5, 400))
    assert np.allclose(applied(layer, x), x @ weight.detach().numpy().T, atol=1e-12), "dropout is off"


def test_a_shallow_net_leaves_torch_alone_and_is_counted() -> None:
    before = torch.random.get_rng_state()
    net, same = (shallow_net(3, 2, 5, "tanh", np.random.default_rng(1)) for _ in range(2))
    assert torch.equal(before, torch.random.get_rng_state()) and size(net) == 3 * 5 + 5 + 5 * 2 + 2
    assert all(torch.equal(a, b) for a, b in zip(net.parameters(), same.parameters(), strict=True))
    x, (V, a, W, b) = np.ones((1, 3)), (p.detach().numpy() for p in net.parameters())
    assert np.allclose(applied(lambda t: net.logits(net(t)), x), np.tanh(x @ V.T + a) @ W.T + b)


def test_biases_have_the_size_asked_for() -> None:
    (_, bias) = drawn(nn.Linear(1, 20000), np.random.default_rng(0), bias=3.0).parameters()
    assert abs(float(bias.detach().std()) - 3) < 4 * 3 / np.sqrt(2 * 20000)


def test_views_are_taken_and_no_gradient_is_kept() -> None:
    layer = drawn(nn.Linear(3, 2), np.random.default_rng(0))
    x = np.random.default_rng(1).normal(size=(4, 3))
    assert np.array_equal(applied(layer, x[::-1]), applied(layer, x)[::-1])
    assert not applied(lambda a: torch.tensor(layer(a).requires_grad), x)


def test_one_filter_is_the_correlation_of_scipy() -> None:
    rng = np.random.default_rng(0)
    taps, picture = rng.normal(size=(3, 3)), rng.normal(size=(7, 8))
    found = applied(one_filter(taps[::-1], Valid(), stride=2), picture[None, None])[0, 0]
    assert np.allclose(found, correlate2d(picture, taps[::-1], "valid")[::2, ::2], atol=1e-13)
