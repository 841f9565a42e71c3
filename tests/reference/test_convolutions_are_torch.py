"""Convolutions against torch, numpy, the lectures' printed matrices and examples, and their own other forms."""

import itertools
import math
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from headway.core.errors import ConfigError
from headway.layers.convolutions.boundaries import Boundary, Causal, Circular, Full, Same, Valid
from headway.layers.convolutions.convolution import Convolution, by_fft, convolve, correlate, toeplitz
from headway.layers.convolutions.convolution_2d import Convolution2d, by_fft_2d, toeplitz_2d
from headway.layers.convolutions.group_convolution import GroupConvolution, Lifting
from headway.layers.convolutions.local import Local, dense, unshared

pytestmark = pytest.mark.usefixtures("doubles")
B, C, D, N, Y, X = 3, 2, 5, 7, 5, 7  # batch, channels in and out, positions, height and width of images
CLOSE = {"rtol": 0.0, "atol": 1e-12}
BOUNDARIES = [Valid(), Same(), Circular(), Causal(), Full()]
each_boundary = pytest.mark.parametrize("boundary", BOUNDARIES, ids=lambda b: type(b).__name__)
each_kernel = pytest.mark.parametrize("m", [1, 2, 3, 4])
each_stride = pytest.mark.parametrize("stride", [1, 2, 3])


def torch_layer(ours: Any, module: Any, padding: int) -> Any:
    reference = module(C, D, ours.kernel, stride=ours.stride, padding=padding)
    with torch.no_grad():
        reference.weight.copy_(ours.weight)
        reference.bias.copy_(ours.bias)
    return reference


def torch_padding(boundary: Boundary, m: int) -> int:
    """The padding that torch puts on both ends."""
    return {Valid: 0, Same: m // 2, Causal: m - 1, Full: m - 1}[type(boundary)]


@each_stride
@each_kernel
@each_boundary
def test_a_layer_is_torchs_with_gradients(boundary: Boundary, m: int, stride: int) -> None:
    """torch pads both ends alike, so what it has too many at the end is cut; on a circle it starts elsewhere, so it is rolled."""
    x = torch.randn(B, N, C, requires_grad=True)
    z = x.detach().clone().requires_grad_()
    ours = Convolution(C, D, m, boundary, stride)
    if boundary == Circular():
        reference = nn.Conv1d(C, D, m, padding=m - 1, padding_mode="circular")
        reference.load_state_dict(ours.state_dict())
        expected = reference(z.transpose(1, 2))[..., m - 1 :][..., :N][..., ::stride].transpose(1, 2)
    else:
        reference = torch_layer(ours, nn.Conv1d, torch_padding(boundary, m))
        expected = reference(z.transpose(1, 2)).transpose(1, 2)[:, : boundary.outputs(N, m, stride)]
    found = ours(x)
    assert found.shape == (B, boundary.outputs(N, m, stride), D)
    torch.testing.assert_close(found, expected, **CLOSE)
    found.square().sum().backward()
    expected.square().sum().backward()
    torch.testing.assert_close(x.grad, z.grad, **CLOSE)
    torch.testing.assert_close(ours.weight.grad, reference.weight.grad, **CLOSE)


@pytest.mark.parametrize("m", [1, 3, 5])
def test_same_is_torchs_same_for_odd_filters(m: int) -> None:
    ours, x = Convolution(C, D, m, Same()), torch.randn(B, N, C)
    reference = F.conv1d(x.transpose(1, 2), ours.weight, ours.bias, padding="same").transpose(1, 2)
    torch.testing.assert_close(ours(x), reference, **CLOSE)


@each_stride
@each_kernel
@each_boundary
def test_an_image_layer_is_torchs(boundary: Boundary, m: int, stride: int) -> None:
    ours, x = Convolution2d(C, D, m, boundary, stride), torch.randn(B, C, Y, X)
    rows, columns = boundary.outputs(Y, m, stride), boundary.outputs(X, m, stride)
    if boundary == Circular():
        expected = F.conv2d(F.pad(x, (0, m - 1, 0, m - 1), mode="circular"), ours.weight, ours.bias, stride)
    else:
        expected = torch_layer(ours, nn.Conv2d, torch_padding(boundary, m))(x)[..., :rows, :columns]
    torch.testing.assert_close(ours(x), expected, **CLOSE)
    assert ours(x).shape == (B, D, rows, columns)


@pytest.mark.parametrize("n", range(1, 7))
@pytest.mark.parametrize("m", range(1, 7))
def test_the_sums_are_numpys(n: int, m: int) -> None:
    """Whole numbers, so equal means equal. numpy swaps its arguments where the filter is the longer one."""
    h, f = torch.randint(-9, 10, (m,)), torch.randint(-9, 10, (n,))
    full = np.convolve(h.numpy(), f.numpy())
    assert convolve(h, f, Full()).tolist() == full.tolist()
    assert convolve(h, f, Causal()).tolist() == full[:n].tolist()
    assert correlate(h, f, Full()).tolist() == np.correlate(f.numpy(), h.numpy(), "full").tolist()
    around = [sum(int(h[t]) * int(f[(u - t) % n]) for t in range(m)) for u in range(n)]
    assert convolve(h, f, Circular()).tolist() == around
    ahead = [sum(int(h[t]) * int(f[(u + t) % n]) for t in range(m)) for u in range(n)]
    assert correlate(h, f, Circular()).tolist() == ahead
    if n >= m:
        for boundary, mode in ((Valid(), "valid"), (Same(), "same")):
            assert convolve(h, f, boundary).tolist() == np.convolve(f.numpy(), h.numpy(), mode).tolist()
            assert correlate(h, f, boundary).tolist() == np.correlate(f.numpy(), h.numpy(), mode).tolist()


def test_convolution_is_an_algebra_and_correlation_is_not() -> None:
    f, g, h = (torch.randint(-9, 10, (n,)) for n in (7, 5, 3))
    full, delta = Full(), torch.tensor([1])
    assert torch.equal(convolve(f, g, full), convolve(g, f, full))
    assert torch.equal(convolve(convolve(f, g, full), h, full), convolve(f, convolve(g, h, full), full))
    assert torch.equal(convolve(delta, f, full), f)
    a, b = torch.tensor([1, 2, 3]), torch.tensor([1, 0, 0])
    assert not torch.equal(correlate(a, b, full), correlate(b, a, full))
    # Erratum C15: the flipped filter turns a correlation into a convolution, not into another correlation.
    assert torch.equal(correlate(h, f, full), convolve(h.flip(0), f, full))
    assert not torch.equal(correlate(h, f, full), correlate(h.flip(0), f, full))


@each_stride
@each_kernel
@each_boundary
def test_the_toeplitz_and_fourier_forms_of_a_layer(boundary: Boundary, m: int, stride: int) -> None:
    layer, x = Convolution(C, D, m, boundary, stride), torch.randn(B, N, C)
    matrix = toeplitz(layer.weight, N, boundary, stride)  # d i t s
    torch.testing.assert_close(torch.einsum("dits,bsi->btd", matrix, x) + layer.bias, layer(x), **CLOSE)
    by = by_fft(x.transpose(1, 2)[:, None], layer.weight, boundary).sum(2)[..., ::stride].transpose(1, 2) + layer.bias
    torch.testing.assert_close(by, layer(x), **CLOSE)


@each_stride
@each_kernel
@each_boundary
def test_the_toeplitz_and_fourier_forms_of_an_image_layer(boundary: Boundary, m: int, stride: int) -> None:
    layer, x = Convolution2d(C, D, m, boundary, stride), torch.randn(B, C, Y, X)
    expected, bias = layer(x), layer.bias[:, None, None]
    matrix = toeplitz_2d(layer.weight, (Y, X), boundary, stride)
    found = torch.einsum("dcts,bcs->bdt", matrix, x.flatten(2)).view(expected.shape) + bias
    torch.testing.assert_close(found, expected, **CLOSE)
    by = by_fft_2d(x[:, None], layer.weight, boundary).sum(2)[..., ::stride, ::stride] + bias
    torch.testing.assert_close(by, expected, **CLOSE)


def test_the_printed_matrices() -> None:
    a, b, c = w = torch.tensor([2.0, 3.0, 5.0])
    lecture_d = torch.tensor([[a, b, c, 0, 0], [0, a, b, c, 0], [0, 0, a, b, c], [c, 0, 0, a, b], [b, c, 0, 0, a]])
    assert torch.equal(toeplitz(w, 5, Circular()), lecture_d)
    lecture_c = torch.tensor([[a, 0, 0, 0], [b, a, 0, 0], [c, b, a, 0], [0, c, b, a], [0, 0, c, b], [0, 0, 0, c]])
    assert torch.equal(toeplitz(w.flip(0), 4, Full()), lecture_c)  # lecture C convolves: the flipped filter
    assert torch.equal(toeplitz(w, 6, Valid()), lecture_c.T)  # the adjoint of convolution is correlation
    f = torch.randn(5)
    eigenvalues = torch.fft.fft(w, 5).conj()  # of a circulant matrix; conjugated, because it correlates
    torch.testing.assert_close(torch.fft.fft(lecture_d @ f), eigenvalues * torch.fft.fft(f), **CLOSE)
    printed = torch.fft.ifft(torch.fft.fft(w, 5) * torch.fft.fft(f)).real  # erratum D5: F(w ⋆ x) = F(w) F(x)
    assert (printed - lecture_d @ f).abs().max() > 0.1
    torch.testing.assert_close(printed, convolve(w, f, Circular()), **CLOSE)


@each_kernel
@each_boundary
def test_diagonals_hold_one_number(boundary: Boundary, m: int) -> None:
    matrix = toeplitz(torch.randn(m), N, boundary)
    assert torch.equal(matrix[1:, 1:], matrix[:-1, :-1])
    assert len(matrix[matrix != 0].unique()) == m
    blocks = toeplitz_2d(torch.randn(m, m), (Y, X), boundary).unflatten(0, (-1, boundary.outputs(X, m))).unflatten(2, (Y, X))
    assert torch.equal(blocks[1:, :, 1:], blocks[:-1, :, :-1]) and torch.equal(blocks[:, 1:, :, 1:], blocks[:, :-1, :, :-1])


def test_the_worked_image_of_lecture_d() -> None:
    a, b, c, d, e, f, g, h, i, j, k, l = image = torch.randn(12)  # noqa: E741
    p, q, r, s = w = torch.randn(4)
    expected = [
        [a * p + b * q + d * r + e * s, b * p + c * q + e * r + f * s],
        [d * p + e * q + g * r + h * s, e * p + f * q + h * r + i * s],
        [g * p + h * q + j * r + k * s, h * p + i * q + k * r + l * s],
    ]
    layer = Convolution2d(1, 1, 2, Valid())
    with torch.no_grad():
        layer.weight.copy_(w.view(1, 1, 2, 2))
        layer.bias.zero_()
    torch.testing.assert_close(layer(image.view(1, 1, 4, 3))[0, 0], torch.tensor(expected), **CLOSE)


# -- twins -----------------------------------------------------------------------------------------------------------------------


@each_stride
@each_boundary
def test_a_convolution_as_a_local_and_as_a_dense_layer(boundary: Boundary, stride: int) -> None:
    convolution, x = Convolution2d(C, D, 3, boundary, stride), torch.randn(B, C, Y, X)
    local = unshared(convolution, (Y, X))
    full = dense(local)
    torch.testing.assert_close(local(x), convolution(x), **CLOSE)
    torch.testing.assert_close(full(x.flatten(1)), convolution(x).flatten(1), **CLOSE)
    blocks = toeplitz_2d(convolution.weight, (Y, X), boundary, stride)  # d c t s
    torch.testing.assert_close(full.weight, blocks.transpose(1, 2).flatten(2).flatten(0, 1), **CLOSE)
    places = boundary.outputs(Y, 3, stride) * boundary.outputs(X, 3, stride)
    counts = [sum(p.numel() for p in layer.parameters()) for layer in (convolution, local, full)]
    assert counts == [9 * C * D + D, places * (9 * C * D + D), (Y * X * C) * (places * D) + places * D]


def test_a_local_layer_has_a_filter_for_each_place() -> None:
    local, x = Local(C, D, (Y, X), 3, Valid()), torch.randn(B, C, Y, X)
    y = local(x)
    for row, column in itertools.product(range(Y - 2), range(X - 2)):
        place = row * (X - 2) + column
        patch = x[:, :, row : row + 3, column : column + 3].flatten(1)
        torch.testing.assert_close(y[..., row, column], patch @ local.weight[place].T + local.bias[:, place], **CLOSE)
    torch.testing.assert_close(dense(local)(x.flatten(1)), y.flatten(1), **CLOSE)


# -- what does not work ----------------------------------------------------------------------------------------------------------


def test_errors_say_what_to_type() -> None:
    with pytest.raises(ConfigError, match=r"a signal of 2 positions has no place for a filter of 3 under `Valid\(\)`\nHint: .*`Same\(\)`"):
        Convolution(C, D, 3, Valid())(torch.randn(B, 2, C))
    with pytest.raises(ConfigError, match=r"with `Same\(\)` and stride 1 cannot go step by step\nHint: use `Causal\(\)`"):
        Convolution(C, D, 3, Same()).start(B)
    with pytest.raises(ConfigError, match=r"with `Causal\(\)` and stride 2 cannot"):
        Convolution(C, D, 3, Causal(), 2).start(B)
    with pytest.raises(ConfigError, match="`width` is 0, but must be at least 1\n  - `kernel` is -1"):
        Convolution2d(C, 0, -1, Same())
    for boundary, m in ((Same(), 2), (Circular(), 3), (Causal(), 3)):
        for layer in (Lifting, GroupConvolution):
            with pytest.raises(ConfigError, match=r"turning breaks it\nHint: .* `Same\(\)` with an odd `kernel`"):
                layer(C, D, m, boundary)


def test_shapes_are_those_of_the_formula() -> None:
    for n, m, s in itertools.product(range(1, 7), range(1, 7), range(1, 5)):
        for boundary in BOUNDARIES:
            if boundary != Valid() or n >= m:
                left, right = boundary.ends(m)
                assert boundary.outputs(n, m, s) == math.floor((n + left + right - (m - 1) - 1) / s) + 1
                assert len(F.conv1d(torch.ones(1, 1, n + left + right), torch.ones(1, 1, m), stride=s)[0, 0]) == boundary.outputs(n, m, s)
                assert boundary.pad(torch.ones(n), m).shape == (n + left + right,)


class Mirror(Boundary):
    """As many values before as after, and none of them zero: a boundary that torch's padding cannot stand in for."""

    zeros = False

    def ends(self, kernel: int) -> tuple[int, int]:
        return kernel // 2, kernel // 2

    def pad(self, x: Tensor, kernel: int, axis: int = -1) -> Tensor:
        return F.pad(x, (0, 0, kernel // 2, kernel // 2) if axis == -2 else (kernel // 2, kernel // 2, 0, 0), mode="reflect")


def test_only_zeros_are_left_to_torch() -> None:
    ours, x = Convolution2d(C, D, 3, Mirror()), torch.randn(B, C, Y, X)
    reference = F.conv2d(F.pad(x, (1, 1, 1, 1), mode="reflect"), ours.weight, ours.bias)
    torch.testing.assert_close(ours(x), reference, **CLOSE)


def test_an_image_without_a_place_for_the_filter() -> None:
    with pytest.raises(ConfigError, match="has no place for a filter of 3"):
        Convolution2d(C, D, 3, Valid())(torch.randn(B, C, 2, X))
