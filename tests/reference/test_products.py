"""Products by oneDNN against torch's own, whichever of the two this processor would take."""

from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from headway.core.machine import mkl_ignores_avx512
from headway.inspect.cost import cost_of_pass
from headway.layers import products
from headway.layers.cross_entropy import linear_cross_entropy
from headway.layers.linear import Linear
from headway.training.optimizers import muon

CLOSE = {"rtol": 1e-4, "atol": 1e-4}


@pytest.fixture(params=["oneDNN", "torch"])
def library(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "oneDNN" and products.MULTIPLY is None:
        pytest.skip("this build of torch has no oneDNN")
    monkeypatch.setattr(products, "mkl_ignores_avx512", lambda: request.param == "oneDNN")
    monkeypatch.setattr(products, "LEAST", 1)
    return str(request.param)


def gradients(y: Tensor, *of: Tensor) -> tuple[Tensor, ...]:
    torch.manual_seed(1)
    return torch.autograd.grad((y * torch.randn_like(y)).sum(), of)


@pytest.mark.parametrize("shape", [(37, 24), (3, 5, 24), (2, 3, 5, 24)])
@pytest.mark.parametrize("outputs", [8, 72])  # the smaller and the larger factor of dW
@pytest.mark.parametrize("bias", [True, False])
def test_a_linear_map_and_its_gradients(library: str, shape: tuple[int, ...], outputs: int, bias: bool) -> None:
    torch.manual_seed(0)
    layer = Linear(24, outputs, bias)
    x = torch.randn(shape, requires_grad=True)
    of = (x, *layer.parameters())
    ours, theirs = layer(x), F.linear(x, layer.weight, layer.bias)
    torch.testing.assert_close(ours, theirs, **CLOSE)
    assert ("_Linear" in str(ours.grad_fn)) == (library == "oneDNN")
    for a, b in zip(gradients(ours, *of), gradients(theirs, *of), strict=True):
        torch.testing.assert_close(a, b, **CLOSE)


def test_second_derivatives(library: str) -> None:
    torch.manual_seed(0)
    layer, x = Linear(6, 5), torch.randn(7, 6, requires_grad=True)

    def curvature(y: Tensor) -> tuple[Tensor, ...]:
        first = torch.autograd.grad(y.pow(3).sum(), (x, layer.weight), create_graph=True)
        return torch.autograd.grad(sum(g.square().sum() for g in first), (x, layer.weight, layer.bias))

    for a, b in zip(curvature(layer(x)), curvature(F.linear(x, layer.weight, layer.bias)), strict=True):
        torch.testing.assert_close(a, b, rtol=1e-3, atol=1e-3)


def test_only_what_is_asked_for_has_a_gradient(library: str) -> None:
    layer = Linear(6, 5)
    layer.weight.requires_grad_(False)
    layer(torch.randn(7, 6)).sum().backward()
    assert layer.weight.grad is None
    torch.testing.assert_close(layer.bias.grad, torch.full((5,), 7.0))


@pytest.mark.parametrize("n, m", [(9, 33), (33, 9)])
def test_products_and_transposed_products(library: str, n: int, m: int) -> None:
    torch.manual_seed(0)
    a, b = torch.randn(n, 20), torch.randn(20, m)
    torch.testing.assert_close(products.product(a, b), a @ b, **CLOSE)
    torch.testing.assert_close(products.transposed_product(a.t(), b), a @ b, **CLOSE)


def test_cross_entropy(library: str) -> None:
    torch.manual_seed(0)
    hidden, weight = torch.randn(40, 16, requires_grad=True), torch.randn(50, 16, requires_grad=True)
    target = torch.randint(50, (40,))
    ours, _ = linear_cross_entropy(hidden, weight, target, 0.1)
    theirs = F.cross_entropy(hidden @ weight.T, target, reduction="sum", label_smoothing=0.1)
    torch.testing.assert_close(ours, theirs, **CLOSE)
    for a, b in zip(*(torch.autograd.grad(y, (hidden, weight)) for y in (ours, theirs)), strict=True):
        torch.testing.assert_close(a, b, **CLOSE)


@pytest.mark.parametrize("rows, columns", [(24, 24), (8, 32)])
def test_muon_orthogonalises_one_by_one_as_in_a_batch(library: str, rows: int, columns: int) -> None:
    torch.manual_seed(0)
    batches = [torch.randn(3, rows, columns), torch.randn(2, rows, columns)]
    found = muon.all_orthogonalised(batches)
    assert [len(batch) for batch in found] == [3, 2]
    torch.testing.assert_close(torch.cat(found), muon.orthogonalised(torch.cat(batches)), rtol=1e-3, atol=1e-3)


def test_what_oneDNN_cannot_multiply_is_left_to_torch(library: str) -> None:
    layer, x = Linear(6, 5), torch.randn(7, 6)
    assert layer.double()(x.double()).dtype == torch.float64
    with torch.autocast("cpu", torch.bfloat16):
        assert layer.float()(x).dtype == torch.bfloat16
    with torch.device("meta"):
        assert Linear(6, 5)(torch.randn(7, 6)).is_meta


def test_its_operations_are_counted(library: str) -> None:
    layer, x = Linear(6, 5), torch.randn(7, 6)
    assert cost_of_pass(layer, lambda: layer(x), 1, "row").forward == 2 * 7 * 6 * 5


@pytest.mark.parametrize(
    ("vendor", "flags", "expected"),
    [
        ("AuthenticAMD", "fpu avx2 avx512f avx512bw", True),
        ("AuthenticAMD", "fpu avx2", False),
        ("GenuineIntel", "fpu avx2 avx512f", False),
        (None, "", False),
    ],
)
def test_where_mkl_does_without_avx512(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, vendor: str | None, flags: str, expected: bool
) -> None:
    (tmp_path / "proc").mkdir()
    if vendor:
        core = f"processor\t: 0\nvendor_id\t: {vendor}\nmodel name\t: X\nflags\t\t: {flags}\n\n"
        (tmp_path / "proc/cpuinfo").write_text(core * 2)
    monkeypatch.delenv("ATEN_CPU_CAPABILITY", raising=False)
    assert mkl_ignores_avx512(tmp_path) == expected
    monkeypatch.setenv("ATEN_CPU_CAPABILITY", "avx2")  # what was found is kept: another file
    (tmp_path / "other").mkdir()
    (tmp_path / "proc").rename(tmp_path / "other" / "proc")
    assert not mkl_ignores_avx512(tmp_path / "other")
