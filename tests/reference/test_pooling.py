"""Pooling against numpy, torch and the lecture's printed example."""

from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn

from headway.layers.convolutions.average_pooling import AveragePooling
from headway.layers.convolutions.boundaries import Valid
from headway.layers.convolutions.convolution_2d import Convolution2d
from headway.layers.convolutions.max_pooling import MaxPooling

pytestmark = pytest.mark.usefixtures("doubles")
B, C, Y, X = 3, 2, 5, 7  # batch, channels, height and width of images
CLOSE = {"rtol": 0.0, "atol": 1e-12}
PRINTED = torch.tensor([[1, 2, 5, 3], [3, 0, 1, 2], [2, 1, 3, 4], [1, 1, 2, 0]])


def test_the_printed_example() -> None:
    image = PRINTED.double()[None, None]
    assert MaxPooling(2)(image)[0, 0].tolist() == [[3, 5], [2, 4]]
    assert AveragePooling(2)(image)[0, 0].tolist() == [[1.5, 2.75], [1.25, 2.25]]
    assert MaxPooling(3, 2)(F.pad(image, (0, 1, 0, 1)))[0, 0].tolist() != [[3, 5], [2, 4]]  # erratum D4: p + 1 elements


@pytest.mark.parametrize(("window", "stride"), [(1, None), (2, None), (3, None), (2, 1), (3, 2), ((1, 3), None), ((2, 3), 1)])
def test_pooling_is_numpys_and_torchs(window: Any, stride: int | None) -> None:
    x = torch.randn(B, C, Y, X)
    p, q = window if isinstance(window, tuple) else (window, window)
    down, across = (p, q) if stride is None else (stride, stride)
    windows = np.lib.stride_tricks.sliding_window_view(x.numpy(), (p, q), (2, 3))[:, :, ::down, ::across]
    np.testing.assert_array_equal(MaxPooling(window, stride)(x).numpy(), windows.max((-1, -2)))
    np.testing.assert_allclose(AveragePooling(window, stride)(x).numpy(), windows.mean((-1, -2)), atol=1e-15)
    assert torch.equal(MaxPooling(window, stride)(x), nn.MaxPool2d(window, stride)(x))
    assert torch.equal(AveragePooling(window, stride)(x), nn.AvgPool2d(window, stride)(x))


def test_average_pooling_is_a_convolution_and_max_pooling_forgets_the_order() -> None:
    x = torch.randn(B, 1, 6, 8)
    layer = Convolution2d(1, 1, 2, Valid(), stride=2)
    with torch.no_grad():
        layer.weight.fill_(0.25)
        layer.bias.zero_()
    torch.testing.assert_close(AveragePooling(2)(x), layer(x), **CLOSE)
    inside = x.unflatten(2, (3, 2)).flip(3).flatten(2, 3)  # the rows of each window change places
    assert torch.equal(MaxPooling(2)(inside), MaxPooling(2)(x))
    torch.testing.assert_close(MaxPooling(2)(x.roll(2, 3)), MaxPooling(2)(x).roll(1, 3), **CLOSE)
    assert not torch.equal(MaxPooling(2)(x.roll(1, 3)), MaxPooling(2)(x))  # erratum D8: not invariant to one pixel
