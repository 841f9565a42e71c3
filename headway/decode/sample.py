"""Sampling: the next token is drawn from what the model believes, sharpened or cut.

    p_v = softmax(logits_v / T)        top-k: only the k most probable        top-p: the fewest whose probabilities add up to p

T = 0 takes the most probable token. Top-p (nucleus): Holtzman et al. 2020, https://arxiv.org/abs/1904.09751.
"""

from collections.abc import Iterator
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor

from headway.models.decoder import LanguageModel


def narrowed(logits: Float[Tensor, "b v"], temperature: float, top_k: int | None, top_p: float) -> Float[Tensor, "b v"]:
    """The probabilities that are drawn from. Of equally probable tokens at the edge the earlier ids stay."""
    if temperature == 0:
        return torch.zeros_like(logits).scatter_(1, logits.argmax(1, keepdim=True), 1.0)
    p = (logits / temperature).softmax(-1)
    if top_k is not None or top_p < 1:
        sorted_p, order = p.sort(dim=-1, descending=True, stable=True)
        drop = sorted_p.cumsum(-1) - sorted_p >= top_p  # those before it suffice already
        if top_k is not None:
            drop[:, top_k:] = True
        drop[:, 0] = False
        p = p.masked_fill(torch.zeros_like(drop).scatter_(1, order, drop), 0.0)
    return p / p.sum(-1, keepdim=True)


@torch.inference_mode()
def sample(
    model: LanguageModel,
    prompt: Int[Tensor, "b t"],
    temperature: float,
    top_k: int | None,
    top_p: float,
    seed: int,
    longest: int | None = None,
) -> Iterator[Int[Tensor, "b"]]:
    """Sampling: the next token is drawn from what the model believes, sharpened by a temperature or cut to the most probable.

    Tokens after the prompt, one for each row at a time, without end: whoever asks stops asking. A model that counts places from the
    beginning of a text knows `longest` of them; when those are used up, it begins anew with the later half of what it has read.
    Also called sampling, ancestral sampling, temperature sampling, top-k sampling, top-p sampling, nucleus sampling.
    """
    generator, reader = torch.Generator().manual_seed(seed), Reader(model, longest)
    for token in prompt.T:
        hidden = reader.read(token)
    while True:
        p = narrowed(model.logits(hidden), temperature, top_k, top_p)
        token = torch.multinomial(p, 1, generator=generator)[:, 0]
        yield token
        hidden = reader.read(token)


class Reader:
    """A model that reads on and on: its state, and, if it knows only so many places, the tokens that stand in them."""

    def __init__(self, model: LanguageModel, longest: int | None) -> None:
        self.model, self.longest = model, longest if model.absolute else None
        self.state: Any = None
        self.seen: list[Tensor] = []

    def read(self, token: Int[Tensor, "b"]) -> Float[Tensor, "b d"]:
        """What the model makes of one more token."""
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
