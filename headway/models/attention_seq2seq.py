from dataclasses import dataclass
from typing import Any, Literal

import torch
from einops import rearrange
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from headway.core import registry
from headway.layers.attention.attend import Attend
from headway.layers.attention.cross import Remembered
from headway.layers.dropout import Dropout
from headway.layers.embedding import both_sides
from headway.layers.recurrences.stacked import Stacked
from headway.models.rnn_seq2seq import Config as EncoderConfig
from headway.models.rnn_seq2seq import RecurrentEncoder


@dataclass(frozen=True)
class Config:
    width: int = 256  # d, the width of embeddings and states
    depth: int = 2  # recurrences on top of each other, in the encoder and in the decoder
    cell: Literal["elman", "lstm", "gru"] = "lstm"  # which recurrence
    bidirectional: bool = True  # whether the encoder reads in both directions
    score: Literal["dot", "multiplicative", "additive"] = "additive"  # how a decoder state is compared with encoder states
    dropout: float = 0.2  # on the input of every layer
    share: bool = True  # one embedding for source, target and output

    def __post_init__(self) -> None:
        _ = self.encoder  # the ranges of what both share are checked there

    @property
    def encoder(self) -> EncoderConfig:
        return EncoderConfig(self.width, self.depth, self.cell, self.bidirectional, self.dropout)


class AttentionSeq2seq(nn.Module):
    """Sequence to sequence with attention: the decoder looks back at every source position.

        e_ti = score(h_t, h_i^enc)      alpha_t = softmax(e_t)      h_att = sum_i alpha_ti h_i^enc
        y_t ~ softmax(E tanh(W [h_t ; h_att]))

    alpha is a soft alignment of target words with source words. Bahdanau, Cho, Bengio 2015, https://arxiv.org/abs/1409.0473
    (additive score); Luong, Pham, Manning 2015, https://arxiv.org/abs/1508.04025 (dot and multiplicative), whose order of
    computation the lecture follows: h_t first, then the attention, then the output.
    """

    aliases = ("seq2seq with attention", "Bahdanau", "Luong", "jointly learning to align and translate", "alignment model")
    task = "translation"

    def __init__(self, config: Config, source_vocabulary: int, target_vocabulary: int) -> None:
        super().__init__()
        self.config = config
        cell = registry.get("recurrences", config.cell).load()
        source, self.target = both_sides(source_vocabulary, target_vocabulary, config.width, config.share)
        self.encoder = RecurrentEncoder(config.encoder, source)
        self.decoder = Stacked([cell(config.width, config.width) for _ in range(config.depth)], config.dropout)
        self.attention: Any = nn.Module()
        self.attention.attend = Attend(registry.get("scores", config.score).load()(config.width))
        self.combine = nn.Linear(2 * config.width, config.width)
        self.dropout = Dropout(config.dropout)

    def _look(self, h: Float[Tensor, "b t d"], seen: Remembered) -> Float[Tensor, "b t d"]:
        """Attention with one head, then both halves combined."""
        allowed = None if seen.keep is None else seen.keep[:, None, None, :]
        q = self.attention.attend.score.query(h.unsqueeze(1))
        found = self.attention.attend(q, seen.k, seen.v, allowed).squeeze(1)
        return self.dropout(self.combine(torch.cat((h, found), -1)).tanh())

    def forward(self, source: Int[Tensor, "b s"], keep: Bool[Tensor, "b s"], target: Int[Tensor, "b t"]) -> Float[Tensor, "b t d"]:
        seen, last = self.read(source, keep)
        return self._look(self.decoder.scan(self.target(target), None, last)[0], seen)

    def read(self, source: Int[Tensor, "b s"], keep: Bool[Tensor, "b s"]) -> tuple[Any, Any]:
        hidden, last = self.encoder(source, keep)
        heads = hidden.unsqueeze(1)  # one head
        return Remembered(self.attention.attend.score.key(heads), heads, keep), last

    def step(self, token: Int[Tensor, "bk"], state: Any, memory: Any) -> tuple[Float[Tensor, "bk d"], Any]:
        h, state = self.decoder.step(self.target(token), state)
        grouped = rearrange(h, "(b k) d -> b k d", b=len(memory.k))  # hypotheses of a sentence are queries to one memory
        return rearrange(self._look(grouped, memory), "b k d -> (b k) d"), state

    def logits(self, hidden: Float[Tensor, "*b d"]) -> Float[Tensor, "*b v"]:
        return self.target.logits(hidden)
