"""The prefix scan against solvers of the same recurrence that were written elsewhere, and against the loop in higher precision."""

import math
from typing import Any

import numpy as np
import pytest
import scipy.linalg
import scipy.signal
import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from headway.layers.recurrences import scan
from headway.layers.recurrences.scan import linear_scan

LENGTHS = [1, 2, 3, 16, 17, 100, 257, 1000]
KINDS = pytest.mark.parametrize("kind", [torch.float64, torch.complex128], ids=["real", "complex"])


def loop(a: Tensor, b: Tensor, h: Tensor) -> Tensor:
    """The definition; autograd through it is the reference for gradients."""
    out = []
    for x, y in zip(a.expand_as(b).unbind(1), b.unbind(1), strict=True):
        h = x * h + y
        out.append(h)
    return torch.stack(out, 1)


def numbers(*shape: int, kind: torch.dtype = torch.float64) -> Tensor:
    return torch.randn(*shape, dtype=kind)


@KINDS
@pytest.mark.parametrize("t", LENGTHS)
def test_a_scan_solves_a_bidiagonal_system(t: int, kind: torch.dtype) -> None:
    """h_t - a_t h_{t-1} = b_t is a linear system with two diagonals, which LAPACK solves."""
    a, b, h = (z * 0.9 for z in (numbers(2, t, 3, kind=kind), numbers(2, t, 3, kind=kind), numbers(2, 3, kind=kind)))
    found = linear_scan(a, b, h)
    for row in range(2):
        for n in range(3):
            bands = np.ones((2, t), dtype=np.complex128)
            bands[1, :-1] = -a[row, 1:, n].numpy()
            right = b[row, :, n].numpy().astype(np.complex128)
            right[0] += (a[row, 0, n] * h[row, n]).item()
            expected = scipy.linalg.solve_banded((1, 0), bands, right)
            np.testing.assert_allclose(found[row, :, n].numpy(), expected, rtol=1e-10, atol=1e-10)


@KINDS
@pytest.mark.parametrize("t", LENGTHS)
def test_a_constant_factor_is_a_filter(t: int, kind: torch.dtype) -> None:
    a, b = torch.tensor([0.99, -0.5, 0.0], dtype=kind), numbers(2, t, 3, kind=kind)
    if kind.is_complex:
        a = a * torch.exp(1j * torch.tensor([0.3, 2.0, 0.0]))
    found = linear_scan(a, b)
    for n in range(3):
        expected = scipy.signal.lfilter([1.0], [1.0, -a[n].item()], b[..., n].numpy(), axis=1)
        np.testing.assert_allclose(found[..., n].numpy(), expected, rtol=0, atol=1e-12)


@KINDS
@pytest.mark.parametrize("shape", [(4,), (1, 1, 4), (3, 1, 4), (1, 130, 4), (3, 130, 1), (3, 130, 4)], ids=str)
def test_gradients_are_those_of_the_loop(shape: tuple[int, ...], kind: torch.dtype) -> None:
    """Also for factors that are shared by positions or by rows."""
    a = (numbers(*shape, kind=kind) * 0.7).requires_grad_()
    b, h, g = numbers(3, 130, 4, kind=kind).requires_grad_(), numbers(3, 4, kind=kind).requires_grad_(), numbers(3, 130, 4, kind=kind)
    found, expected = linear_scan(a, b, h), loop(a, b, h)
    torch.testing.assert_close(found, expected, rtol=1e-10, atol=1e-10)
    for mine, theirs in zip(torch.autograd.grad(found, (a, b, h), g), torch.autograd.grad(expected, (a, b, h), g), strict=True):
        torch.testing.assert_close(mine, theirs, rtol=1e-10, atol=1e-10)


@KINDS
def test_gradients_are_those_of_finite_differences(kind: torch.dtype) -> None:
    a, b, h = (z.requires_grad_() for z in (numbers(2, 20, 3, kind=kind), numbers(2, 20, 3, kind=kind), numbers(2, 3, kind=kind)))
    assert torch.autograd.gradcheck(linear_scan, (a, b, h), fast_mode=True)
    assert torch.autograd.gradcheck(linear_scan, (a[:, :1], b[:, :1], h), fast_mode=True), "a single position"
    constant = (numbers(3, kind=kind) * 0.5).requires_grad_()
    assert torch.autograd.gradcheck(linear_scan, (constant, b), fast_mode=True)


@pytest.mark.parametrize("low", [0.0, 0.9, 0.9999], ids=["forgetting", "remembering", "hardly forgetting"])
def test_sixteen_thousand_positions(low: float) -> None:
    """Against a loop in extended precision: where quotients of cumulative products, or their logarithms, have long lost everything."""
    t = 16_384
    a, b = low + (1 - low) * torch.rand(1, t, 5, dtype=torch.float64), numbers(1, t, 5)
    a[:, 7::1000] = 0.0
    h, expected = np.zeros(5, dtype=np.longdouble), np.empty((t, 5), dtype=np.longdouble)
    wide_a, wide_b = (z[0].numpy().astype(np.longdouble) for z in (a, b))
    for s in range(t):
        h = expected[s] = wide_a[s] * h + wide_b[s]
    scale = float(np.abs(expected).max())
    assert np.abs(linear_scan(a, b)[0].numpy() - expected).max() < 1e-13 * scale
    assert np.abs(linear_scan(a.float(), b.float())[0].numpy() - expected).max() < 2e-5 * scale


def test_states_may_have_any_number_of_axes() -> None:
    a, b = numbers(2, 50, 3, 4) * 0.5, numbers(2, 50, 3, 4)
    torch.testing.assert_close(linear_scan(a, b).flatten(2), linear_scan(a.flatten(2), b.flatten(2)))
    torch.testing.assert_close(linear_scan(a.mT, b.mT).mT, linear_scan(a, b))
    torch.testing.assert_close(linear_scan(a[..., 0], b[..., 0]), linear_scan(a, b)[..., 0])


class Counted(TorchDispatchMode):
    """How many products and sums torch is asked for."""

    calls = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.calls += func in (torch.ops.aten.addcmul.out, torch.ops.aten.mul.Tensor, torch.ops.aten.add.Tensor, torch.ops.aten.mul_.Tensor)
        return func(*args, **(kwargs or {}))


@pytest.mark.parametrize("t", [512, 2048, 16_384])
def test_few_operations_follow_each_other(t: int) -> None:
    with Counted() as counted:
        linear_scan(torch.rand(1, t, 2), torch.rand(1, t, 2))
    c = scan.CHUNK
    assert counted.calls < 3 * c * (math.log(t, c) + 1)


def test_wide_states_are_walked_once() -> None:
    """Where one position fills an operation already, a second pass is wasted."""
    with Counted() as counted:
        linear_scan(torch.rand(scan.SIZE), torch.rand(1, 1, scan.SIZE).expand(1, 100, -1))
    assert counted.calls == 100
