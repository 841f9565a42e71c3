"""The chunked loss against torch.nn.functional.cross_entropy, values and gradients, for whole batches and many chunks."""

from functools import partial

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from headway.data.batches import PairBatch
from headway.data.tokens import train_tokenizer
from headway.layers import cross_entropy
from headway.layers.cross_entropy import linear_cross_entropy
from headway.tasks.search import Seen
from headway.tasks.translation import Data, Translation

N, D, V = 23, 5, 13


def draw() -> tuple[Tensor, Tensor, Tensor]:
    hidden, weight = torch.randn(N, D, requires_grad=True), torch.randn(V, D, requires_grad=True)
    return hidden, weight, torch.randint(V, (N,))


@pytest.fixture(params=[1 << 22, 4 * V, 1], ids=["one chunk", "chunks of 4 rows", "row by row"])
def chunked(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, doubles: None) -> None:
    monkeypatch.setattr(cross_entropy, "CHUNK", request.param)


@pytest.mark.parametrize("smoothing", [0.0, 0.1, 0.7])
def test_values_and_gradients(chunked: None, smoothing: float) -> None:
    hidden, weight, target = draw()
    expected = F.cross_entropy(hidden @ weight.T, target, label_smoothing=smoothing, reduction="sum")
    gradients = torch.autograd.grad(3 * expected, (hidden, weight))
    loss, nll = linear_cross_entropy(hidden, weight, target, smoothing)
    torch.testing.assert_close(loss, expected, rtol=0.0, atol=1e-10)
    torch.testing.assert_close(nll, F.cross_entropy(hidden @ weight.T, target, reduction="sum"), rtol=0.0, atol=1e-10)
    assert not nll.requires_grad
    for found, wanted in zip(torch.autograd.grad(3 * loss, (hidden, weight)), gradients, strict=True):
        torch.testing.assert_close(found, wanted, rtol=0.0, atol=1e-10)


def test_gradcheck(chunked: None) -> None:
    hidden, weight, target = draw()
    assert torch.autograd.gradcheck(lambda h, w: linear_cross_entropy(h, w, target, 0.1)[0], (hidden, weight))


def test_without_gradients_the_values_are_the_same(doubles: None) -> None:
    hidden, weight, target = draw()
    with torch.inference_mode():
        quiet = linear_cross_entropy(hidden, weight, target, 0.1)
    loud = linear_cross_entropy(hidden, weight, target, 0.1)
    assert torch.equal(quiet[0], loud[0]) and torch.equal(quiet[1], loud[1])


def test_large_logits_do_not_overflow(doubles: None) -> None:
    hidden, weight, target = draw()
    expected = F.cross_entropy(1e4 * hidden @ weight.T, target, label_smoothing=0.1, reduction="sum")
    loss, _ = linear_cross_entropy(1e4 * hidden, weight, target, 0.1)
    torch.testing.assert_close(loss, expected)


class Fixed:
    """A model whose hidden states are given: what matters here is which of them the task counts."""

    def __init__(self, hidden: Tensor, weight: Tensor) -> None:
        self.training, self.hidden, self.output = True, hidden, torch.nn.Embedding.from_pretrained(weight)

    def __call__(self, source: Tensor, keep: Tensor, target: Tensor) -> Tensor:
        return self.hidden


def test_the_task_counts_no_padding(doubles: None) -> None:
    """Translation.loss is cross-entropy with `ignore_index`, and the number of tokens is that of real ones."""
    wanted = torch.tensor([[5, 4, 2, 0, 0], [3, 2, 0, 0, 0], [9, 9, 9, 9, 2]])
    hidden, weight = torch.randn(3, 5, D), torch.randn(V, D)
    batch = PairBatch(torch.ones(3, 1, dtype=torch.long), torch.ones(3, 1, dtype=torch.bool), wanted, wanted)
    tokens = train_tokenizer("bytes", ["some text"], 260)
    assert tokens.pad == 0
    task = Translation(Data(smoothing=0.1), tokens, tokens, Seen(1, 1, 1, 1.0, ""))
    found = task.loss(Fixed(hidden, weight), batch)
    loss, nll, count = found.total, found.plain, found.count
    logits = (hidden @ weight.T).flatten(0, 1)
    expected = F.cross_entropy(logits, wanted.flatten(), label_smoothing=0.1, reduction="sum", ignore_index=0)
    torch.testing.assert_close(loss, expected)
    torch.testing.assert_close(nll, F.cross_entropy(logits, wanted.flatten(), reduction="sum", ignore_index=0))
    assert count == 10


def test_second_derivatives(chunked: None) -> None:
    """With respect to both inputs; and the gradient is the same whether or not it will be differentiated again."""
    hidden, weight, target = draw()
    for smoothing in (0.0, 0.3):
        run = partial(linear_cross_entropy, target=target, smoothing=smoothing)
        assert torch.autograd.gradgradcheck(lambda h, w, run=run: run(h, w)[0], (hidden, weight))
        loss, both = run(hidden, weight)[0], (hidden, weight)
        plain, again = (torch.autograd.grad(loss, both, create_graph=c, retain_graph=True) for c in (False, True))
        for a, b in zip(plain, again, strict=True):
            torch.testing.assert_close(a, b)
