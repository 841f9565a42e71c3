"""Attention against torch: the same weights give the same numbers as torch.nn.MultiheadAttention and its kernel."""

import math
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from headway.layers.attention.attend import Attend
from headway.layers.attention.cross import Cross
from headway.layers.attention.multihead import Multihead
from headway.layers.attention.pointer import Pointer
from headway.layers.masks import Causal
from headway.layers.scores.additive import Additive
from headway.layers.scores.dot import Dot
from headway.layers.scores.scaled import Scaled
from headway.layers.scores.unit_norm import UnitNorm

pytestmark = pytest.mark.usefixtures("doubles")
B, T, S, H, E = 3, 7, 5, 2, 11
D = H * E
CLOSE = {"rtol": 0.0, "atol": 1e-12}
KEEP_T = torch.arange(T)[None, :] < torch.tensor([[7], [4], [1]])
KEEP_S = torch.arange(S)[None, :] < torch.tensor([[5], [2], [1]])


def torch_attention(project: tuple[Tensor, Tensor], output: nn.Linear) -> nn.MultiheadAttention:
    """torch's module with these weights; its input projection is Q, K, V on top of each other, as ours."""
    reference = nn.MultiheadAttention(D, H, batch_first=True)
    with torch.no_grad():
        reference.in_proj_weight.copy_(project[0])
        reference.in_proj_bias.copy_(project[1])
        reference.out_proj.weight.copy_(output.weight)
        reference.out_proj.bias.copy_(output.bias)
    return reference


def test_scaled_is_the_kernel_of_torch() -> None:
    q, k, v = torch.randn(B, H, T, E), torch.randn(B, H, S, E), torch.randn(B, H, S, E)
    allowed = KEEP_S[:, None, None, :]
    weights = Attend(Scaled(E))
    written = (Scaled(E)(q, k).masked_fill(~allowed, float("-inf")).softmax(-1)) @ v
    expected = F.scaled_dot_product_attention(q, k, v, attn_mask=allowed)
    torch.testing.assert_close(weights(q, k, v, allowed), expected, **CLOSE)
    torch.testing.assert_close(written, expected, **CLOSE)
    square = torch.randn(B, H, T, E), torch.randn(B, H, T, E), torch.randn(B, H, T, E)
    torch.testing.assert_close(weights(*square, causal=True), F.scaled_dot_product_attention(*square, is_causal=True), **CLOSE)


@pytest.mark.parametrize("keys", [S, 31, 61])  # of many short sequences attention is written out: one limit with a mask, one without
@pytest.mark.parametrize("kind", ["free", "causal", "padded", "biased", "causal and biased"])
def test_many_short_sequences_are_as_the_kernel_of_torch_has_them(keys: int, kind: str) -> None:
    ours = [torch.randn(17, H, keys, E, requires_grad=True) for _ in range(3)]
    theirs = [x.detach().clone().requires_grad_() for x in ours]
    allowed = (torch.arange(keys) < torch.randint(1, keys, (17, 1)))[:, None, None, :] if kind == "padded" else None
    bias = torch.randn(17, H, keys, keys) if "biased" in kind else None
    causal = "causal" in kind
    hidden = torch.full((keys, keys), -math.inf).triu(1) if causal else torch.zeros(keys, keys)
    mask = allowed if allowed is not None else hidden if bias is None else bias + hidden
    found, expected = Attend(Scaled(E))(*ours, allowed, causal, bias), F.scaled_dot_product_attention(*theirs, attn_mask=mask)
    torch.testing.assert_close(found, expected, **CLOSE)
    weights = torch.randn_like(found)
    (found * weights).sum().backward()
    (expected * weights).sum().backward()
    for mine, other in zip(ours, theirs, strict=True):
        torch.testing.assert_close(mine.grad, other.grad, **CLOSE)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("padded", [False, True])
def test_multihead_is_that_of_torch(causal: bool, padded: bool) -> None:
    ours = Multihead(D, H, Causal() if causal else None)
    reference = torch_attention((ours.project.weight, ours.project.bias), ours.output)
    x = torch.randn(B, T, D, requires_grad=True)
    y = x.detach().clone().requires_grad_()
    mask = torch.ones(T, T, dtype=torch.bool).triu(1) if causal else None
    expected, _ = reference(y, y, y, key_padding_mask=~KEEP_T if padded else None, attn_mask=mask)
    found = ours(x, KEEP_T if padded else None)
    real = KEEP_T if padded else torch.ones_like(KEEP_T)
    torch.testing.assert_close(found[real], expected[real], **CLOSE)
    found[real].square().sum().backward()
    expected[real].square().sum().backward()
    torch.testing.assert_close(x.grad, y.grad, **CLOSE)
    torch.testing.assert_close(ours.project.weight.grad, reference.in_proj_weight.grad, **CLOSE)


def test_cross_is_multihead_of_torch_with_another_memory() -> None:
    ours = Cross(D, H)
    weight = torch.cat((ours.query.weight, ours.memory.weight))
    reference = torch_attention((weight, torch.cat((ours.query.bias, ours.memory.bias))), ours.output)
    x, memory = torch.randn(B, T, D), torch.randn(B, S, D)
    for keep in (None, KEEP_S):
        expected, _ = reference(x, memory, memory, key_padding_mask=None if keep is None else ~keep)
        torch.testing.assert_close(ours(x, ours.remember(memory, keep)), expected, **CLOSE)


def test_scores_are_those_of_the_papers() -> None:
    """Each score for one query and one key, with loops over numbers instead of tensors."""
    from headway.core import registry

    q, k = torch.randn(E), torch.randn(E)
    scores = {name: entry.load()(E) for name, entry in registry.entries("scores").items()}
    one, other = q[None, None, None], k[None, None, None]
    found = {name: float(score(score.query(one), score.key(other)).detach()) for name, score in scores.items()}
    dot = sum(float(a) * float(b) for a, b in zip(q, k, strict=True))
    w, additive = scores["multiplicative"].weight, scores["additive"]
    inner = additive.key.weight @ k + additive.query.weight @ q
    assert found["dot"] == pytest.approx(dot) and found["scaled"] == pytest.approx(dot / E**0.5)
    bilinear = sum(q[i] * w[i, j] * k[j] for i in range(E) for j in range(E))
    assert found["multiplicative"] == pytest.approx(float(bilinear.detach()))
    assert found["additive"] == pytest.approx(float((additive.vector * inner.tanh()).sum().detach()))


def test_unit_norm_is_torchs_normalize_also_where_it_is_zero() -> None:
    """A row of zeros, as padding may be, has no direction: it stays zero, and neither it nor its gradient is NaN."""
    x = torch.randn(B, H, T, E)
    x[:, :, 2] = 0.0
    x, z, g = x.requires_grad_(), x.detach().clone().requires_grad_(), torch.randn(B, H, T, E)
    for side in (UnitNorm(E).query, UnitNorm(E).key):
        found, expected = side(x), F.normalize(z, dim=-1)
        torch.testing.assert_close(found, expected, **CLOSE)
        for mine, theirs in zip(torch.autograd.grad(found, x, g), torch.autograd.grad(expected, z, g), strict=True):
            torch.testing.assert_close(mine, theirs, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("score", [Scaled, Additive, Dot, UnitNorm], ids=lambda score: score.__name__)
@pytest.mark.parametrize("biased", [False, True], ids=["", "biased"])
def test_a_query_without_any_key_gives_zero(score: Any, biased: bool) -> None:
    """Fused or written out: the same finite numbers and gradients, also those of the other rows."""
    allowed = torch.ones(B, 1, T, S, dtype=torch.bool)
    allowed[1] = False
    allowed[2, :, 3] = False
    results = []
    for written in (False, True):
        torch.manual_seed(1)
        attend = Attend(score(E))
        leaves = [torch.randn(B, H, n, E, requires_grad=True) for n in (T, S, S)]
        bias = torch.randn(1, H, T, S, requires_grad=True) if biased else None
        attend.maps = [] if written else None
        q, k, v = leaves
        y = attend(attend.score.query(q), attend.score.key(k), v, allowed, bias=bias)
        assert not y[1].any() and not y[2, :, 3].any() and y[0].abs().min() > 0
        y.cos().sum().backward()
        grads = [p.grad for p in (*leaves, *attend.parameters(), *([bias] if biased else []))]
        assert all(g is not None and g.isfinite().all() for g in grads)
        assert not written or not attend.maps[0][1].any()
        results.append([y, *grads])
    for fused, written in zip(*results, strict=True):
        torch.testing.assert_close(fused, written, **CLOSE)


def test_a_memory_of_nothing_gives_zero() -> None:
    for score in (Scaled, Additive):
        cross, x = Cross(H * E, H, score), torch.randn(B, T, H * E, requires_grad=True)
        keep = torch.arange(S)[None, :] < torch.tensor([[S], [0], [2]])
        y = cross(x, cross.remember(torch.randn(B, S, H * E), keep))
        torch.testing.assert_close(y[1], cross.output.bias.expand(T, -1), **CLOSE)
        y.sum().backward()
        assert all(p.grad.isfinite().all() for p in (x, *cross.parameters()))


def test_pointing_into_nothing_leaves_the_others_alone() -> None:
    pointer, x = Pointer(E), torch.randn(B, T, E, requires_grad=True)
    keep = torch.arange(S)[None, :] < torch.tensor([[S], [0], [2]])
    found = pointer(x, pointer.remember(torch.randn(B, S, E), keep))
    assert (found[1] == -math.inf).all() and found[0].isfinite().all()
    found[keep[:, None].expand_as(found)].sum().backward()
    assert all(p.grad.isfinite().all() for p in (x, *pointer.parameters()))
