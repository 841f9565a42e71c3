"""What makes decoding fast changes nothing: packed output weights, and batches side by side."""

import copy
import threading
from typing import Any

import pytest
import torch

from headway.decode.side_by_side import side_by_side
from headway.layers.embedding import Embedding


def test_packed_weights_give_the_same_logits_and_follow_the_weights() -> None:
    embedding, hidden = Embedding(300, 32), torch.randn(9, 32)
    expected = (hidden @ embedding.weight.T).detach()
    with torch.inference_mode():
        torch.testing.assert_close(embedding.logits(hidden), expected)
    with torch.no_grad():
        embedding.weight.mul_(3)
    with torch.inference_mode():
        torch.testing.assert_close(embedding.logits(hidden), 3 * expected)
        torch.testing.assert_close(copy.deepcopy(embedding).logits(hidden[:2]), 3 * expected[:2])


def test_side_by_side_keeps_the_order_and_the_threads() -> None:
    before, seen = torch.get_num_threads(), set()
    torch.set_num_threads(2)
    try:
        both = threading.Barrier(2, timeout=20)

        def work(item: int) -> int:
            seen.add((threading.get_ident(), torch.get_num_threads()))
            both.wait()  # two at a time, or this never ends
            return item * item

        assert side_by_side(work, range(4)) == [0, 1, 4, 9]
        assert {threads for _, threads in seen} == {1} and len(seen) == 2
        assert torch.get_num_threads() == 2, "the threads of the caller are given back"
        with pytest.raises(ValueError, match="three"):
            side_by_side(lambda item: (_ for _ in ()).throw(ValueError("three")), [3, 3])
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)


@pytest.mark.parametrize(
    "change",
    [
        lambda e, w: e.load_state_dict({"weight": w}, assign=True),
        lambda e, w: setattr(e.weight, "data", w),
        lambda e, w: torch.nn.utils.vector_to_parameters(w.flatten(), e.parameters()),
        lambda e, w: e.to(torch.bfloat16).to(torch.float32),
        lambda e, w: setattr(e, "weight", torch.nn.Parameter(w)),
    ],
    ids=["assign", "data", "vector", "to and fro", "parameter"],
)
def test_packed_weights_follow_new_storage(change: Any) -> None:
    """New numbers at another address need not have another version."""
    embedding, hidden, weight = Embedding(300, 32), torch.randn(9, 32), torch.randn(300, 32)
    with torch.inference_mode():
        embedding.logits(hidden)
    change(embedding, weight)
    with torch.inference_mode():
        torch.testing.assert_close(embedding.logits(hidden), hidden @ embedding.weight.T, rtol=0.0, atol=1e-5)


def test_the_address_of_old_weights_is_not_given_to_new_ones() -> None:
    embedding, hidden = Embedding(300, 32), torch.randn(9, 32)
    for _ in range(20):  # storage is freed and taken again, often at the same place
        with torch.inference_mode():
            torch.testing.assert_close(embedding.logits(hidden), hidden @ embedding.weight.T, rtol=0.0, atol=1e-5)
        embedding.weight.data = torch.empty(0)
        embedding.weight.data = torch.randn(300, 32)
