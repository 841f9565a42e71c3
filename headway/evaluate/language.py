"""How well a language model predicts a text: nats per token, perplexity, and bits per byte.

    nats = -1/n sum_t ln p(w_t | w_<t)        perplexity = exp(nats)        bits per byte = n nats / (bytes ln 2)

Bits per byte compare models with different tokens. n counts the predicted tokens: all but the first, which has nothing
before it. `bytes` is the length of the text that these n tokens spell. An end mark between two documents spells no
byte, but its nats count: a code for the text must say where a document ends.

The text is read in windows of the model's context, and each token is evaluated once. Windows overlap by half, and a
token is evaluated in the later half of its window, so that every token but the first few has at least half a context
before it. A model with a memory (`model.memory` tokens before a window that it can still use) reads windows that do not
overlap: `model(ids, past)` is given the tokens before each window.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby, islice, pairwise
from typing import Any

import numpy as np
import torch
from torch import Tensor

from headway.core.errors import DataError
from headway.layers.cross_entropy import output_cross_entropy

# Tokens in one forward pass: no more than in most steps of training, so that validating needs no more memory; 16,384 are no faster.
ROWS = 1 << 12


@dataclass(frozen=True)
class Prediction:
    """How well a text was predicted: nats per token, perplexity = exp(nats), bits per byte = n nats / (bytes ln 2)."""

    aliases = ("perplexity", "bits per byte", "nats per token")

    nats: float  # per token
    tokens: int  # predicted: all but the first
    bytes: int  # that the predicted tokens spell
    error: float  # the standard error of `nats` over windows

    @property
    def perplexity(self) -> float:
        return math.exp(min(self.nats, 700.0))

    @property
    def bits_per_byte(self) -> float:
        return self.nats * self.tokens / (self.bytes * math.log(2))

    def to_json(self) -> dict[str, float | int]:
        values = {"nats_per_token": self.nats, "bits_per_byte": self.bits_per_byte, "perplexity": self.perplexity}
        return values | {"standard_error": self.error, "tokens": self.tokens, "bytes": self.bytes}


@dataclass(frozen=True)
class Window:
    """The tokens from `start` on, how many before them a memory is given, and the first position to evaluate."""

    start: int  # its first token
    past: int  # tokens before it that the model is given
    first: int  # the first position that is evaluated


@torch.inference_mode()
def predict(model: Any, tokens: np.ndarray, size: int, context: int) -> Prediction:
    """Evaluate a model on a text, given as tokens. `size` is the bytes of the text without its first token."""
    if len(tokens) < 2 or size < 1:
        raise DataError(
            "the text is too short to evaluate a model on: nothing follows its first token", "bring more text."
        )
    device, memory = next(model.parameters()).device, getattr(model, "memory", 0)
    length = min(context, len(tokens) - 1)
    sums: list[float] = []
    counts: list[int] = []
    for batch in _batches(_windows(len(tokens), length, memory), max(1, ROWS // length)):
        past = batch[0].past
        rows = np.stack([tokens[w.start - past : w.start + length + 1] for w in batch]).astype(np.int64)
        ids = torch.from_numpy(rows).to(device)
        hidden = _hidden(model, ids[:, :-1], past)
        for h, wanted, window in zip(hidden, ids[:, past + 1 :], batch, strict=True):
            _, nll = output_cross_entropy(model.output, h[window.first :], wanted[window.first :])
            sums.append(float(nll))
            counts.append(length - window.first)
    n = sum(counts)
    nats = sum(sums) / n
    spread = [(s - nats * c) ** 2 for s, c in zip(sums, counts, strict=True)]
    return Prediction(nats, n, size, math.sqrt(sum(spread)) / n)


def _hidden(model: Any, ids: Tensor, past: int) -> Tensor:
    return model(ids[:, past:], ids[:, :past]) if past else model(ids)


def _windows(count: int, length: int, memory: int) -> list[Window]:
    """Windows of `length` tokens and one more to predict: the first is evaluated whole, the last ends with the text."""
    stride, last = length if memory else max(1, length // 2), count - 1 - length
    starts = sorted({*range(0, last + 1, stride), last})
    firsts = [0] + [before + length - start for before, start in pairwise(starts)]
    return [Window(start, min(start, memory), first) for start, first in zip(starts, firsts, strict=True)]


def _batches(windows: list[Window], rows: int) -> Iterator[list[Window]]:
    """At most `rows` windows with equally long pasts at a time."""
    for _, group in groupby(windows, key=lambda window: window.past):
        while batch := list(islice(group, rows)):
            yield batch
