"""Layers on arrays: drawn in double precision from one generator, applied without gradients."""

import numpy as np
import torch
from scipy.signal import correlate2d
from torch import nn

from headway.lab.tools.layers import applied, drawn, one_filter
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
