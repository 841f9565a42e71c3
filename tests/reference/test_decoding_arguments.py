"""Decoding refuses values out of range before it computes anything, and every tensor is on the device of its input."""

import math
from itertools import islice
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from headway.core.errors import UsageError
from headway.decode.arguments import check_sampling, check_search
from headway.decode.beam import beam_search
from headway.decode.greedy import greedy
from headway.decode.sample import next_token_probabilities, sample

NAN, INF = math.nan, math.inf
BOS, EOS = 1, 2
TABLE = torch.randn(7, 7, generator=torch.Generator().manual_seed(3))


class Bigram(nn.Module):
    """p(next | last token) from a table: it translates, it writes, and every tensor it makes comes from its input."""

    absolute, memory, output = False, 0, None

    def __init__(self) -> None:
        super().__init__()
        self.table = TABLE

    def read(self, source: Tensor, keep: Tensor) -> tuple[Any, Any]:
        return (source,), (source[:, :1],)

    def predicted(self, ids: Tensor, past: Tensor | None = None) -> tuple[Tensor, Tensor]:
        return self.table[ids].flatten(0, 1), torch.ones_like(ids, dtype=torch.bool)

    def start(self, batch: int) -> Any:
        return ()

    def step(self, token: Tensor, state: Any, memory: Any = None) -> tuple[Tensor, Any]:
        return self.table[token], state

    def logits(self, hidden: Tensor) -> Tensor:
        return hidden.clone()


SOURCE = torch.tensor([[3, 4], [5, 6], [4, 4]])
LIMITS = [4, 0, 9]


@pytest.mark.parametrize(
    ("beam", "penalty", "sentence"),
    [
        (0, 1.0, "`beam` is 0, expected a whole number of 1 or more"),
        (-3, 1.0, "`beam` is -3"),
        (2.0, 1.0, "`beam` is 2.0"),
        (True, 1.0, "`beam` is True"),
        ("5", 1.0, "`beam` is '5'"),
        (None, 1.0, "`beam` is None"),
        (5, NAN, "`penalty` is nan, expected a finite number of 0 or more"),
        (5, INF, "`penalty` is inf"),
        (5, -5.0, "`penalty` is -5.0"),
        (5, "1", "`penalty` is '1'"),
        (5, None, "`penalty` is None"),
    ],
)
def test_beam_search_refuses(beam: Any, penalty: Any, sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence + ".*\nHint: 1 is"):
        check_search(beam, penalty)
    if type(beam) is int and type(penalty) is float:  # in tests, beartype refuses the others before
        with pytest.raises(UsageError, match=sentence):
            beam_search(Bigram(), SOURCE, SOURCE > 0, BOS, EOS, LIMITS, beam, penalty)


@pytest.mark.parametrize(
    ("temperature", "top_k", "top_p", "sentence"),
    [
        (NAN, None, 1.0, "`temperature` is nan, expected a finite number of 0 or more"),
        (INF, None, 1.0, "`temperature` is inf"),
        (-0.1, None, 1.0, "`temperature` is -0.1"),
        ("hot", None, 1.0, "`temperature` is 'hot'"),
        (1.0, 0, 1.0, "`top_k` is 0, expected a whole number of 1 or more"),
        (1.0, -2, 1.0, "`top_k` is -2"),
        (1.0, 2.5, 1.0, "`top_k` is 2.5"),
        (1.0, None, 0.0, "`top_p` is 0.0, expected a number above 0 and at most 1"),
        (1.0, None, 1.5, "`top_p` is 1.5"),
        (1.0, None, NAN, "`top_p` is nan"),
        (1.0, None, -INF, "`top_p` is -inf"),
    ],
)
def test_sampling_refuses(temperature: Any, top_k: Any, top_p: Any, sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence):
        check_sampling(temperature, top_k, top_p)
    if isinstance(temperature, float) and not isinstance(top_k, float):
        with pytest.raises(UsageError, match=sentence):  # when it is called, not when the first token is asked for
            sample(Bigram(), SOURCE, temperature, top_k, top_p, seed=1)


def test_valid_values_pass() -> None:
    check_search(1, 0)
    check_search(np.int64(5), np.float32(0.6))
    check_sampling(0, None, 1)
    check_sampling(0.8, np.int64(1), 1e-9)


def test_nothing_to_read_is_refused_and_nothing_to_translate_is_nothing() -> None:
    with pytest.raises(UsageError, match="the prompt holds no token"):
        sample(Bigram(), SOURCE[:, :0], 1.0, None, 1.0, seed=1)
    none = SOURCE[:0]
    assert greedy(Bigram(), none, none > 0, BOS, EOS, []) == [] == beam_search(Bigram(), none, none > 0, BOS, EOS, [])


@pytest.mark.parametrize("temperature", [1e-9, 1e-38, 1e-320])
def test_a_temperature_near_zero_is_the_maximum(temperature: float) -> None:
    logits = torch.tensor([[0.1, 3.0, 2.9], [5e30, -1.0, 0.0]])
    assert next_token_probabilities(logits, temperature, None, 0.9).tolist() == [[0, 1, 0], [1, 0, 0]]


def decode() -> Any:
    keep = torch.ones_like(SOURCE, dtype=torch.bool)
    return (
        greedy(Bigram(), SOURCE, keep, BOS, EOS, LIMITS),
        beam_search(Bigram(), SOURCE, keep, BOS, EOS, LIMITS, 3),
        torch.stack(list(islice(sample(Bigram(), SOURCE, 0.7, 5, 0.9, seed=4), 6))).tolist(),
    )


def test_every_tensor_is_on_the_device_of_the_input() -> None:
    """With `meta` as the default device, a tensor that is created without a device has no values: using it raises."""
    expected = decode()
    with torch.device("meta"):
        assert torch.zeros(1).is_meta and decode() == expected
