"""Masks are rules that compose; the matrix is the rule written out, and attention obeys it."""

import pytest
import torch
from tiny import HEADS, TARGET, WIDTH, band
from torch import Tensor

from headway.layers.attention.multihead import Multihead
from headway.layers.masks import Causal, Everything, First, Mask, Matrix, Window

RULES = {
    "everything": (Everything(), lambda t, s: True),
    "causal": (Causal(), lambda t, s: s <= t),
    "window": (Window(3), lambda t, s: abs(t - s) <= 2),
    "first": (First(2), lambda t, s: s in (0, 1)),
    "matrix": (Matrix(band(TARGET)), lambda t, s: bool(band(TARGET)[t, s])),
}


def table(rule: object, queries: int = TARGET, keys: int = TARGET, offset: int = 0) -> list[list[bool]]:
    return [[bool(rule(t, s)) for s in range(keys)] for t in range(offset, offset + queries)]  # type: ignore[operator]


@pytest.mark.parametrize("name", RULES)
def test_the_matrix_is_the_rule(name: str) -> None:
    mask, rule = RULES[name]
    assert mask.matrix(TARGET, TARGET).tolist() == table(rule)
    assert mask.matrix(5, 3).tolist() == table(rule, 5, 3)
    assert mask.matrix(1, TARGET, offset=4).tolist() == table(rule, 1, TARGET, offset=4)


@pytest.mark.parametrize("left", RULES)
@pytest.mark.parametrize("right", RULES)
def test_and_or_are_those_of_logic(left: str, right: str) -> None:
    (a, rule_a), (b, rule_b) = RULES[left], RULES[right]
    assert (a & b).matrix(TARGET, TARGET).tolist() == table(lambda t, s: rule_a(t, s) and rule_b(t, s))
    assert (a | b).matrix(TARGET, TARGET).tolist() == table(lambda t, s: rule_a(t, s) or rule_b(t, s))


@pytest.mark.parametrize(
    ("mask", "expected"),
    [
        (Causal(), True),
        (Causal() & Window(3), True),
        (Window(1), True),
        (Causal() & Everything(), True),
        (Matrix(torch.ones(TARGET, TARGET, dtype=torch.bool).tril()), True),
        (Everything(), False),
        (Window(2), False),
        (First(2), False),
        (Causal() | First(2), False),
        (Matrix(torch.ones(TARGET, TARGET, dtype=torch.bool)), False),
    ],
)
def test_is_causal(mask: Mask, expected: bool) -> None:
    assert mask.causal is expected
    assert Multihead(WIDTH, HEADS, mask).causal is expected


def dense(mixer: Multihead, x: Tensor, allowed: Tensor) -> Tensor:
    """Lecture C, masked attention: exponentials times M, divided by their sum. Loops over heads, nothing fused."""
    q, k, v = mixer.project(x).chunk(3, -1)
    heads = []
    for i in range(HEADS):
        e = WIDTH // HEADS
        part = slice(i * e, (i + 1) * e)
        weights = torch.exp(q[..., part] @ k[..., part].transpose(1, 2) / e**0.5) * allowed
        heads.append((weights / weights.sum(-1, keepdim=True)) @ v[..., part])
    return mixer.output(torch.cat(heads, -1))


MIXED = [Matrix(band(TARGET)), Causal(), Causal() & Window(2), Window(2) | First(1), Everything()]


@pytest.mark.parametrize("mask", MIXED, ids=lambda m: type(m).__name__)
def test_attention_obeys_the_matrix(doubles: None, mask: Mask) -> None:
    mixer, x = Multihead(WIDTH, HEADS, mask), torch.randn(3, TARGET, WIDTH)
    torch.testing.assert_close(mixer(x), dense(mixer, x, mask.matrix(TARGET, TARGET)), rtol=0.0, atol=1e-12)


def test_what_lies_outside_a_matrix_is_not_allowed() -> None:
    mask = Matrix(torch.ones(2, 3, dtype=torch.bool))
    assert mask.matrix(3, 4).tolist() == [[True, True, True, False], [True, True, True, False], [False] * 4]


def test_a_mask_without_a_rule_says_so() -> None:
    with pytest.raises(TypeError, match="`Mask` is a mask without a rule"):
        Mask().matrix(2, 2)
