"""What makes decoding fast changes nothing: packed output weights, and batches side by side."""

import copy
import threading

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
