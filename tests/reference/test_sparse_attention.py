"""Longformer and BigBird against dense attention under a pattern that loops write down."""

import itertools
import math
from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F
from dense_attention import CLOSE, B, D, E, H, dense, either, heads, joined, same_with_gradients, stepped
from probes import shaken
from torch import Tensor

from headway.layers.attention.big_bird import BigBird
from headway.layers.attention.longformer import Longformer
from headway.layers.masks import Causal

pytestmark = pytest.mark.usefixtures("doubles")

LONGFORMERS = [
    {"window": 3, "dilation": 1, "first": 2},
    {"window": 3, "dilation": 4, "first": 0},
    {"window": 40, "dilation": 2, "first": 3},
    {"window": 0, "dilation": 1, "first": 1},
    {"window": 2, "dilation": 300, "first": 1},
    {"window": 500, "dilation": 1, "first": 500},
]
BIRDS = [
    {"block": 4, "window": 1, "first": 1, "random": 2},
    {"block": 3, "window": 0, "first": 0, "random": 5},
    {"block": 16, "window": 2, "first": 2, "random": 0},
    {"block": 200, "window": 1, "first": 1, "random": 1},
]
LENGTHS = [1, 2, 33, 101]


def longformer_sees(m: Longformer, t: int, s: int, length: int) -> bool:
    if t < m.first or s < m.first:
        return True
    return any(s == t + j * m.dilation for j in range(-m.window, m.window + 1))


def drawn(m: BigBird, i: int, length: int) -> list[int]:
    """The random blocks of block i, by a list from which one after the other is taken out."""
    there = i + 1 if m.causal else math.ceil(length / m.block)
    others, found = [j for j in range(m.first // m.block, there) if abs(i - j) > m.window], []
    for u in m.u[i].tolist():
        if others:
            found.append(others.pop(u % len(others)))
    return found


def big_bird_sees(m: BigBird, t: int, s: int, length: int) -> bool:
    i, j, first = t // m.block, s // m.block, m.first // m.block
    return i < first or j < first or abs(i - j) <= m.window or j in drawn(m, i, length)


SPARSE = [(Longformer, longformer_sees, way) for way in LONGFORMERS] + [(BigBird, big_bird_sees, way) for way in BIRDS]
sparse = pytest.mark.parametrize(
    ("make", "sees", "way"), SPARSE, ids=lambda v: "-".join(map(str, v.values())) if isinstance(v, dict) else ""
)


@sparse
@either
def test_the_pattern_is_its_definition(make: type, sees: Callable, way: dict[str, int], mask: Causal | None) -> None:
    mixer = make(D, H, mask, **way)
    for length in LENGTHS:
        rule = [[sees(mixer, t, s, length) and (mask is None or s <= t) for s in range(length)] for t in range(length)]
        assert torch.equal(mixer.pattern(length), torch.tensor(rule))


@sparse
@either
def test_sparse_is_dense_under_its_pattern(make: type, sees: Callable, way: dict[str, int], mask: Causal | None) -> None:
    """The global tokens of a longformer that is not causal have projections of their own."""
    mixer = shaken(make(D, H, mask, **way))
    for length in LENGTHS:
        x = torch.randn(B, length, D)
        same_with_gradients(mixer, mixer, lambda x: written_out(mixer, x), x)


def written_out(mixer: Longformer | BigBird, x: Tensor) -> Tensor:
    y, own = dense(mixer, x, mixer.pattern(x.shape[1])), getattr(mixer, "project_global", None)
    if own is None:
        return y
    q, k, v = heads(mixer, x, own)
    first = joined(mixer, (q @ k.mT / math.sqrt(E)).softmax(-1) @ v)[:, : mixer.first]
    return torch.cat((first, y[:, mixer.first :]), 1)


def test_global_projections_begin_as_copies_and_are_learned_apart() -> None:
    mixer, x = Longformer(D, H, window=2, first=2), torch.randn(B, 9, D)
    assert torch.equal(mixer.project_global.weight, mixer.project.weight)
    torch.testing.assert_close(mixer(x), dense(mixer, x, mixer.pattern(9)), **CLOSE)
    mixer(x)[:, :2].square().sum().backward()
    assert mixer.project_global.weight.grad.abs().max() > 1e-3 and not mixer.project.weight.grad.any()
    assert Longformer(D, H, Causal()).project_global is None and Longformer(D, H, first=0).project_global is None


def test_as_many_random_blocks_are_seen_as_were_asked_for() -> None:
    """Beside the neighbours and the first, wherever so many are left; none is drawn twice."""
    for mask, r in itertools.product((None, Causal()), (1, 3, 7)):
        bird = BigBird(D, H, mask, block=1, window=1, first=2, random=r)
        seen = bird.pattern(40)
        for i in range(2, 40):
            others = [j for j in range(2, i + 1 if mask else 40) if abs(i - j) > 1]
            assert int(seen[i, others].sum()) == min(r, len(others))


@sparse
@either
def test_a_padded_row_has_the_pattern_of_its_own_length(make: type, sees: Callable, way: dict[str, int], mask: Causal | None) -> None:
    mixer, lengths = shaken(make(D, H, mask, **way)), [101, 58, 1]
    keep = torch.arange(101)[None, :] < torch.tensor(lengths)[:, None]
    x = torch.where(keep[..., None], torch.randn(3, 101, D), 1e3).requires_grad_()
    y = mixer(x, keep)
    y.sum().backward()
    assert y.isfinite().all() and x.grad.isfinite().all()
    for row, length in enumerate(lengths):
        alone = x[row : row + 1, :length]
        torch.testing.assert_close(y[row : row + 1, :length], written_out(mixer, alone), **CLOSE)


@pytest.mark.parametrize(("make", "sees", "way"), SPARSE)
def test_no_query_is_without_a_key(make: type, sees: Callable, way: dict[str, int], monkeypatch: pytest.MonkeyPatch) -> None:
    """Such a row is zero in torch's kernel of today, but was NaN, and is in the formula."""
    kernel, keep = F.scaled_dot_product_attention, torch.arange(101)[None, :] < torch.tensor([[101], [58], [0]])

    def strict(q: Tensor, k: Tensor, v: Tensor, attn_mask: Tensor | None = None) -> Tensor:
        assert attn_mask is None or attn_mask.any(-1).all()
        return kernel(q, k, v, attn_mask)

    monkeypatch.setattr(F, "scaled_dot_product_attention", strict)
    make(D, H, **way)(torch.randn(3, 101, D), keep)


@pytest.mark.parametrize(("make", "sees", "way"), SPARSE)
def test_sparse_steps(make: type, sees: Callable, way: dict[str, int]) -> None:
    mixer, x = make(D, H, Causal(), **way), torch.randn(B, 101, D)
    y, sizes = stepped(mixer, x)
    torch.testing.assert_close(y, mixer(x), **CLOSE)
    if make is Longformer:  # what is out of reach is forgotten
        assert max(sizes) == min(101, mixer.first + mixer.window * mixer.dilation) * 2 * D


def test_random_blocks_are_everywhere_and_travel_with_the_weights() -> None:
    """Of the 59 others a block draws 3, each with the same probability: within 5 standard errors."""
    torch.manual_seed(1)
    bird, other = (BigBird(D, H, block=1, window=0, first=0, random=3) for _ in range(2))
    seen = bird.pattern(60)
    often, p = seen.double().sum(0) - 1, 3 / 59
    assert (often - 59 * p).abs().max() < 5 * math.sqrt(59 * p * (1 - p))
    assert seen.triu(1).any() and not torch.equal(other.pattern(60), seen)
    other.load_state_dict(bird.state_dict())
    x = torch.randn(1, 60, D)
    assert torch.equal(other.pattern(60), seen) and torch.equal(other(x), bird(x))
    assert torch.equal(bird.to(torch.bfloat16).pattern(60), seen)
