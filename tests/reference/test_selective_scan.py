"""The selective scan in C against the one of torch's operations, which float64 has been checked by (`test_selective_recurrences.py`)."""

import shutil

import pytest
import torch
from torch import Tensor

from headway.core.seeds import derive
from headway.layers import compiled
from headway.layers.recurrences import selective_scan as scans
from headway.layers.recurrences.selective_scan import selective_scan

pytestmark = pytest.mark.skipif(compiled.library() is None and not shutil.which("cc"), reason="headway was installed without a C compiler")
CLOSE = {"rtol": 1e-4, "atol": 1e-4}


def inputs(rows: int, positions: int, states: int, channels: int, seed: int = 0) -> list[Tensor]:
    torch.manual_seed(derive(seed, "scan", 0) % 2**31)
    dt = torch.rand(rows, positions, channels)
    v = torch.randn(rows, positions, channels)
    b, c = torch.randn(2, rows, positions, states)
    return [dt, v, b, c, -torch.rand(states, channels) * 3]


def outputs_and_gradients(given: list[Tensor]) -> list[Tensor]:
    leaves = [z.detach().clone().requires_grad_() for z in given]
    y = selective_scan(*(z * 1 for z in leaves))  # a parameter is no plain tensor, what is computed of it is
    torch.manual_seed(1)
    return [y, *torch.autograd.grad(y, leaves, torch.randn_like(y))]


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("sizes", [(1, 1, 1, 1), (2, 16, 3, 64), (3, 17, 4, 65), (5, 40, 16, 130)], ids=str)
def test_c_computes_what_torch_does(sizes: tuple[int, int, int, int], threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pieces and channels that are full, and that are not; outputs and all five gradients."""
    assert compiled.library() is not None, "torch would be compared with itself"
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        found = outputs_and_gradients(inputs(*sizes))
    finally:
        torch.set_num_threads(before)
    monkeypatch.setattr(compiled, "library", lambda: None)
    for mine, theirs in zip(found, outputs_and_gradients(inputs(*sizes)), strict=True):
        torch.testing.assert_close(mine, theirs, **CLOSE)


def test_numbers_with_gaps_between_them() -> None:
    """Inputs that are parts of larger tensors, and a gradient that is one number repeated."""
    found = []
    for gaps in (False, True):
        given = [(torch.stack((z, z), -1)[..., 0] if gaps else z).detach().requires_grad_() for z in inputs(2, 21, 4, 9)]
        assert given[0].is_contiguous() != gaps
        y = selective_scan(*given)
        y.sum().backward()
        found.append([y, *(z.grad for z in given)])
    for a, b in zip(*found, strict=True):
        torch.testing.assert_close(a, b, **CLOSE)


def test_bits_do_not_depend_on_the_number_of_threads() -> None:
    before, found = torch.get_num_threads(), []
    for threads in (1, 2, 3):
        torch.set_num_threads(threads)
        found.append(outputs_and_gradients(inputs(5, 40, 16, 130)))
    torch.set_num_threads(before)
    assert all(torch.equal(a, b) for other in found[1:] for a, b in zip(found[0], other, strict=True))


def test_large_steps_forget_everything() -> None:
    """exp(dt A) is 0 where the exponent is beyond float32, and near 1 for tiny steps."""
    for step, factor in ((1e4, 0.0), (1e-6, 1.0)):
        dt, v, b, c, a = inputs(1, 3, 2, 5)
        y = selective_scan(torch.full_like(dt, step), v, torch.ones_like(b), torch.ones_like(c), torch.full_like(a, -1.0))
        state, expected = torch.zeros(5), []
        for t in range(3):
            state = factor * state + v[0, t]
            expected.append(2 * state)
        torch.testing.assert_close(y[0], torch.stack(expected), rtol=1e-4, atol=1e-4)


def test_the_exponential_is_that_of_torch() -> None:
    """y_2 = exp(dt A) v_1 with one state, for exponents from 0 to -100."""
    exponents = -torch.linspace(0, 100, 4096)
    dt, v = torch.stack((torch.zeros(4096), -exponents))[None], torch.stack((torch.ones(4096), torch.zeros(4096)))[None]
    one = torch.ones(1, 2, 1)
    y = selective_scan(dt, v, one, one, -torch.ones(1, 4096))[0, 1]
    expected = exponents.double().exp()
    wrong = ((y.double() - expected).abs() / expected / (1 - exponents))[expected > 2.0**-125]
    assert float(wrong.max()) < 1.2e-7 and not y[expected < 2.0**-127].any()


@pytest.mark.parametrize("what", ["no rows", "no positions"])
def test_nothing_to_scan(what: str) -> None:
    given = inputs(0 if what == "no rows" else 2, 0 if what == "no positions" else 4, 3, 5)
    assert [len(z.flatten()) for z in outputs_and_gradients(given)[:5]] == [0] * 5


def test_other_numbers_are_left_to_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scans._InC, "apply", lambda *_: pytest.fail("C was asked"))
    assert selective_scan(*(z.double() for z in inputs(2, 5, 3, 4))).dtype == torch.float64
