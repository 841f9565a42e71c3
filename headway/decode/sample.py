"""Sampling: the next token is drawn from the model's distribution, made sharper or cut to the most probable tokens.

    p_v = softmax(logits_v / T)      top-k: only the k most probable      top-p: the fewest whose probabilities reach p

T = 0 takes the most probable token. Top-p (nucleus): Holtzman et al. 2020, https://arxiv.org/abs/1904.09751.
"""

from collections.abc import Iterator
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor

from headway.core.errors import UsageError
from headway.decode.arguments import check_sampling
from headway.models.decoder import LanguageModel

COLDEST = 1e-30  # a smaller temperature gives the same distribution, and would be 0 in float32


def next_token_probabilities(
    logits: Float[Tensor, "b v"], temperature: float, top_k: int | None, top_p: float
) -> Float[Tensor, "b v"]:
    """The probabilities of the next token under T, k and p. Of equal probabilities at the edge, smaller ids stay."""
    if temperature == 0:
        return torch.zeros_like(logits).scatter_(1, logits.argmax(1, keepdim=True), 1.0)
    # Subtracting the maximum changes no probability, and then a small T overflows to exp(-inf) = 0 and never to nan.
    p = ((logits - logits.amax(1, keepdim=True)) / max(temperature, COLDEST)).softmax(-1)
    if top_k is not None or top_p < 1:
        sorted_p, order = p.sort(dim=-1, descending=True, stable=True)
        drop = sorted_p.cumsum(-1) - sorted_p >= top_p  # the tokens before it already reach p
        if top_k is not None:
            drop[:, top_k:] = True
        drop[:, 0] = False
        p = p.masked_fill(torch.zeros_like(drop).scatter_(1, order, drop), 0.0)
    return p / p.sum(-1, keepdim=True)


def sample(
    model: LanguageModel,
    prompt: Int[Tensor, "b t"],
    temperature: float,
    top_k: int | None,
    top_p: float,
    seed: int,
    longest: int | None = None,
) -> Iterator[Int[Tensor, "b"]]:
    """Sampling: the next token is drawn from the model's distribution, made sharper by a temperature or cut.

    An endless iterator over the tokens after the prompt, one for each row at a time. A model with absolute positions
    knows `longest` of them; when all are used, it starts again with the later half of what it has read. `temperature`
    is finite and 0 or more, `top_k` is 1 or more (None: all tokens), `top_p` is above 0 and at most 1. On one device,
    equal seeds give equal tokens.
    Also called sampling, ancestral sampling, temperature sampling, top-k sampling, top-p sampling, nucleus sampling.

    prompt   token ids of the beginning, at least one, equally many in each row
    """
    check_sampling(temperature, top_k, top_p)
    if not prompt.shape[1]:
        raise UsageError("the prompt holds no token", "give it at least one, such as that of a line break.")
    return _draw(Reader(model, longest), prompt, temperature, top_k, top_p, seed)


@torch.inference_mode()
def _draw(
    reader: "Reader", prompt: Int[Tensor, "b t"], temperature: float, top_k: int | None, top_p: float, seed: int
) -> Iterator[Int[Tensor, "b"]]:
    generator = torch.Generator(prompt.device).manual_seed(seed)
    for token in prompt.T:
        hidden = reader.read(token)
    while True:
        p = next_token_probabilities(reader.model.logits(hidden), temperature, top_k, top_p)
        token = torch.multinomial(p, 1, generator=generator)[:, 0]
        yield token
        hidden = reader.read(token)


class Reader:
    """A model that reads a text of any length: its state, and, if its positions are limited, the tokens at them."""

    def __init__(self, model: LanguageModel, longest: int | None) -> None:
        self.model, self.longest = model, longest if model.absolute else None
        self.state: Any = None
        self.seen: list[Tensor] = []

    def read(self, token: Int[Tensor, "b"]) -> Float[Tensor, "b d"]:
        """The hidden state after one more token."""
        if len(self.seen) == self.longest:
            again, self.seen, self.state = self.seen[(self.longest + 1) // 2 :], [], None
            for old in again:
                self.read(old)
        if self.longest is not None:
            self.seen.append(token)
        if self.state is None:
            self.state = self.model.start(len(token))
        hidden, self.state = self.model.step(token, self.state)
        return hidden
