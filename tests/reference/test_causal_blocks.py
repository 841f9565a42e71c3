"""Causal attention in blocks against torch's own, with first and second derivatives."""

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from headway.layers.attention import causal
from headway.layers.attention.attend import Attend, recorded
from headway.layers.attention.causal import causal_attention, prefers_blocks
from headway.layers.scores.scaled import Scaled


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(causal, "BLOCK", 4)


def heads(t: int, dtype: torch.dtype = torch.float64) -> list[Tensor]:
    torch.manual_seed(0)
    return [x.transpose(1, 2).to(dtype).requires_grad_() for x in torch.randn(3, 2, t, 3, 5)]


@pytest.mark.parametrize("t", [1, 3, 4, 5, 8, 11])
def test_blocks_are_the_kernel_of_torch(t: int) -> None:
    """Sequences that fill their blocks, and that do not; with their gradients."""
    given, g = heads(t), torch.randn(2, 3, t, 5).double()
    found = causal_attention(*given, 0.3)
    expected = F.scaled_dot_product_attention(*given, is_causal=True, scale=0.3)
    torch.testing.assert_close(found, expected)
    of_expected = torch.autograd.grad(expected, given, g)
    for again in (True, False):  # with second derivatives to come, and without
        of_found = torch.autograd.grad(found, given, g, create_graph=again, retain_graph=True)
        for mine, theirs in zip(of_found, of_expected, strict=True):
            torch.testing.assert_close(mine, theirs)


def test_derivatives_by_differences() -> None:
    given = heads(6)
    assert torch.autograd.gradcheck(lambda q, k, v: causal_attention(q, k, v, 0.3), given)
    assert torch.autograd.gradgradcheck(lambda q, k, v: causal_attention(q, k, v, 0.3), given)


def test_when_blocks_are_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not for few or long sequences, half precision, or a single query of a step; and not if maps are asked for."""
    monkeypatch.setattr(causal, "LEAST", 60)
    q, k, v = heads(11, torch.float32)
    assert prefers_blocks(q, k) and not prefers_blocks(q[:1], k[:1]) and not prefers_blocks(q[:, :, :1], k)
    assert not prefers_blocks(q.bfloat16(), k.bfloat16())
    with torch.autocast("cpu", torch.bfloat16):
        assert not prefers_blocks(q, k)
    calls: list[int] = []
    monkeypatch.setattr("headway.layers.attention.attend.causal_attention", lambda *x: calls.append(1) or causal_attention(*x))
    attend = Attend(Scaled(5))
    with recorded(attend) as maps:
        written = attend(q, k, v, causal=True)
    assert not calls and len(maps[""]) == 1
    torch.testing.assert_close(attend(q, k, v, causal=True), written)
    assert calls == [1]
    monkeypatch.setattr(causal, "LONGEST", 10)
    assert not prefers_blocks(q, k)
