"""Muon: what it takes, what it makes of matrices, against the singular value decomposition."""

import pytest
import torch
from torch import Tensor, nn

from headway.layers.recurrences.mamba import Mamba
from headway.layers.recurrences.s4 import S4
from headway.layers.roles import roles
from headway.tasks.task import Loss
from headway.training.learner import Learner
from headway.training.loop import Loop
from headway.training.optimizers import muon
from headway.training.optimizers.muon import (
    ITERATIONS,
    A,
    B,
    C,
    Muon,
    all_orthogonalised,
    from_blocks,
    orthogonalised,
    to_blocks,
)
from headway.training.plan import Settings
from headway.training.precision import Arithmetic


def test_rates_are_neither_orthogonalised_nor_decayed() -> None:
    """Logarithms of rates of S4 and Mamba went to Muon with weight decay once, because they are stored as matrices."""
    for layer, rates in ((S4(6, 6, states=4), {"dt", "decay", "omega"}), (Mamba(6, 6), {"A"})):
        declared = roles(layer)
        assert {n for n, role in declared.items() if role == "rate"} == rates
        learner = Learner(layer, Settings(steps=1, batch=1, rate=1e-3))
        muon, adamw = learner.optimizers
        assert isinstance(muon, Muon)
        named = {id(p): n for n, p in layer.named_parameters()}
        assert {named[id(p)] for p in muon.param_groups[0]["params"]} == {
            n for n, role in declared.items() if role == "matrix"
        }
        assert (
            rates <= {named[id(p)] for p in adamw.param_groups[1]["params"]}
            and adamw.param_groups[1]["weight_decay"] == 0
        )


def test_muon_takes_a_kernel_as_a_matrix() -> None:
    weight = nn.Parameter(torch.zeros(4, 2, 3, 3))
    weight.grad = torch.randn(4, 2, 3, 3)
    Muon([weight], lr=0.1).step()
    flat = weight.grad.flatten(1)
    expected = -0.1 * 0.2 * 18**0.5 * orthogonalised(flat[None])[0]
    torch.testing.assert_close(weight.data.flatten(1), expected)


def test_muon_against_the_singular_value_decomposition() -> None:
    torch.manual_seed(0)
    x = torch.randn(5, 24, 24)
    u, _, vt = torch.linalg.svd(x)
    o = orthogonalised(x)
    # Newton-Schulz keeps the singular vectors: o = U diag(s) V^T with s near 1 (0.7 to 1.2) except for the smallest ones.
    s = torch.diagonal(u.mT @ o @ vt.mT, dim1=-2, dim2=-1)
    torch.testing.assert_close(u @ torch.diag_embed(s) @ vt, o, atol=1e-4, rtol=1e-3)
    assert ((s[:, :-4] > 0.6) & (s[:, :-4] < 1.25)).all()
    for rows, columns in ((6, 2), (2, 6), (5, 3), (3, 5), (4, 4)):
        m = torch.randn(rows, columns)
        assert torch.equal(from_blocks(to_blocks(m), rows, columns), m)
    wide = torch.randn(2, 8, 32)  # iterated through its Gram matrix
    u, _, vt = torch.linalg.svd(wide, full_matrices=False)
    s = torch.diagonal(u.mT @ orthogonalised(wide) @ vt.mT, dim1=-2, dim2=-1)
    torch.testing.assert_close(u @ torch.diag_embed(s) @ vt, orthogonalised(wide), atol=1e-4, rtol=1e-3)
    assert ((s > 0.6) & (s < 1.25)).all()
    for size in (1e-5, 1e5):  # a matrix has a direction, however small or large it is
        torch.testing.assert_close(orthogonalised(size * wide), orthogonalised(wide), atol=1e-2, rtol=1e-2)
    for size in (0.0, 1e-30, 1e-12, 1e-8):  # and in the end none: nothing grows out of noise
        assert torch.linalg.matrix_norm(orthogonalised(size * x), 2).max() < 1.25
    weight = torch.nn.Parameter(torch.zeros(8, 8))
    weight.grad = torch.randn(8, 8)
    Muon([weight], lr=0.1).step()
    expected = -0.1 * 0.2 * 8**0.5 * orthogonalised(weight.grad[None])[0]
    torch.testing.assert_close(weight.data, expected)


@pytest.mark.parametrize("rows, columns", [(24, 24), (8, 32)])  # iterated itself, and through its Gram matrix
@pytest.mark.parametrize("size", [0.0, 1e-30, 1e-20, 1e-14])
def test_muon_makes_nothing_of_noise(rows: int, columns: int, size: float) -> None:
    """Far below 1e-7 all is linear: times rows^(3/8), the bound of the scale, and 3.4 in each iteration. Without the bound: 1, or NaN."""
    torch.manual_seed(0)
    gradient = size * torch.randn(rows, columns)
    expected = A**ITERATIONS * rows**0.375 / 1e-7 * gradient
    torch.testing.assert_close(orthogonalised(gradient[None])[0], expected, atol=0, rtol=1e-3)
    weight = nn.Parameter(torch.zeros(rows, columns))
    weight.grad = gradient
    Muon([weight], lr=0.1, momentum=0.0).step()
    torch.testing.assert_close(weight.data, -0.1 * 0.2 * columns**0.5 * expected, atol=0, rtol=1e-3)


@pytest.mark.parametrize("rows, columns", [(24, 24), (8, 32)])
@pytest.mark.parametrize("size", [1e-3, 1.0, 1e3])
def test_muon_leaves_an_orthogonal_matrix_orthogonal(rows: int, columns: int, size: float) -> None:
    """All n singular values are equal: the scale is at its bound, each becomes n^(-1/8), and then follows the polynomial on its own."""
    torch.manual_seed(0)
    q = torch.linalg.qr(torch.randn(columns, rows))[0].T
    s = rows**-0.125
    for _ in range(ITERATIONS):
        s = A * s + B * s**3 + C * s**5
    assert 0.68 < s < 1.21  # where the polynomial has its least and largest value
    torch.testing.assert_close(orthogonalised(size * q[None])[0], s * q, atol=1e-4, rtol=1e-3)


@pytest.mark.parametrize("rows, columns", [(64, 64), (24, 48), (16, 64)])
def test_muon_in_half_precision(rows: int, columns: int) -> None:
    """The same singular vectors, up to the 8 bits of bfloat16; what comes out is float32 again."""
    torch.manual_seed(0)
    batches = [torch.randn(3, rows, columns), torch.randn(2, rows, columns)]
    with torch.autocast("cpu", torch.bfloat16):
        found = all_orthogonalised(batches)
    assert [len(batch) for batch in found] == [3, 2] and {batch.dtype for batch in found} == {torch.float32}
    low, full = torch.cat(found), orthogonalised(torch.cat(batches))
    assert not torch.equal(low, full)
    along = (low * full).sum((1, 2)) / low.norm(dim=(1, 2)) / full.norm(dim=(1, 2))
    assert (along > 0.99).all(), along
    assert torch.linalg.svdvals(low).max() < 1.25


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_muon_multiplies_in_the_precision_of_training(precision: Arithmetic, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[torch.dtype] = []

    def spy(x: Tensor) -> Tensor:
        seen.append(x.dtype)
        assert not torch.is_autocast_enabled("cpu")
        return orthogonalised(x)

    monkeypatch.setattr(muon, "orthogonalised", spy)

    class Rows:
        def __len__(self) -> int:
            return 1

        def __getitem__(self, number: int) -> Tensor:
            return torch.ones(8, 4)

        def largest(self) -> Tensor:
            return self[0]

    def loss(model: nn.Module, x: Tensor) -> Loss:
        total = model(x).float().square().sum()
        return Loss(total, total.detach(), len(x))

    net = nn.Linear(4, 4)
    Loop(net, Rows(), loss, Settings(steps=2, batch=8, rate=0.1), 1, precision=precision).run()
    assert seen == [getattr(torch, precision)] * 2 and net.weight.dtype == torch.float32
