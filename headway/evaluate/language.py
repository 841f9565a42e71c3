"""How well a language model predicts a text: nats per token, perplexity, and bits per byte, which does not depend on the tokens.

    nats = -1/n sum_t ln p(w_t | w_<t)        perplexity = exp(nats)        bits per byte = n nats / (bytes ln 2)

The text is read in windows of the model's context that overlap by half, and each token is judged once, in the later half of its
window: every token but the first few has at least half a context before it.
"""

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import torch

from headway.layers.cross_entropy import linear_cross_entropy

ROWS = 1 << 14  # tokens in one forward pass


@dataclass(frozen=True)
class Prediction:
    """How well a text was predicted: nats per token, perplexity = exp(nats), bits per byte = n nats / (bytes ln 2)."""

    aliases = ("perplexity", "bits per byte", "nats per token")

    nats: float  # per token
    tokens: int
    bytes: int
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


@torch.inference_mode()
def predict(model: Any, tokens: np.ndarray, size: int, context: int) -> Prediction:
    """Judge a model by the text that `tokens` spell, whose length in bytes is `size`."""
    length = min(context, len(tokens) - 1)
    half = max(1, length // 2)
    # (start, first judged): the first window is judged whole, the last one ends with the text
    last = len(tokens) - 1 - length
    starts = sorted({*range(0, last + 1, half), last})
    judged = [0] + [a + length - b for a, b in pairwise(starts)]
    sums: list[float] = []
    counts: list[int] = []
    rows = max(1, ROWS // length)
    for i in range(0, len(starts), rows):
        ids = torch.from_numpy(np.stack([tokens[s : s + length + 1] for s in starts[i : i + rows]]).astype(np.int64))
        hidden = model(ids[:, :-1])
        for row, first in enumerate(judged[i : i + rows]):
            _, nll = linear_cross_entropy(hidden[row, first:], model.output.weight, ids[row, first + 1 :])
            sums.append(float(nll))
            counts.append(length - first)
    nats, n = sum(sums) / sum(counts), sum(counts)
    spread = [(s - nats * c) ** 2 for s, c in zip(sums, counts, strict=True)]
    return Prediction(nats, n, size, math.sqrt(sum(spread)) / n)
