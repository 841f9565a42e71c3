from dataclasses import dataclass
from typing import Any, Literal

from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from headway.core import registry
from headway.layers.embedding import Embedding, both_sides
from headway.models.bahdanau import Bahdanau
from headway.models.encoder_decoder import Memory
from headway.models.luong import InputFeeding, Luong
from headway.models.rnn_seq2seq import Config as EncoderConfig
from headway.models.rnn_seq2seq import RecurrentEncoder, States

DECODERS: dict[str, Any] = {"luong": Luong, "feeding": InputFeeding, "bahdanau": Bahdanau}


@dataclass(frozen=True)
class Config:
    width: int = 256  # d, the width of embeddings and states
    depth: int = 2  # recurrences on top of each other, in the encoder and in the decoder
    cell: Literal["elman", "lstm", "gru"] = "lstm"  # which recurrence
    bidirectional: bool = True  # whether the encoder reads in both directions
    score: Literal["dot", "multiplicative", "additive"] = "additive"  # of a decoder state and an encoder state
    dropout: float = 0.2  # on the input of every layer
    share: bool = True  # one embedding for source, target and output
    order: Literal["luong", "feeding", "bahdanau"] = "luong"  # attention after the cell; fed back, too; before the cell

    def __post_init__(self) -> None:
        _ = self.encoder  # the ranges of what both share are checked there

    @property
    def encoder(self) -> EncoderConfig:
        return EncoderConfig(self.width, self.depth, self.cell, self.bidirectional, self.dropout)


class AttentionSeq2seq(nn.Module):
    """Sequence to sequence with attention: the decoder looks back at every source position.

        e_ti = score(s, h_i)        alpha_t = softmax(e_t)        c_t = sum_i alpha_ti h_i        y_t ~ softmax(E out_t)

        luong       s_t = f(s_{t-1}, y_{t-1}), which asks            out_t = tanh(W [s_t ; c_t]), as in the lecture
        feeding     s_t = f(s_{t-1}, [y_{t-1} ; out_{t-1}])          the same; each output enters the next cell
        bahdanau    s_{t-1} asks, s_t = f(s_{t-1}, [y_{t-1} ; c_t])  out_t = tanh(W [s_t ; c_t ; y_{t-1}])

    alpha is a soft alignment of target words with source words. Bahdanau, Cho, Bengio 2015,
    https://arxiv.org/abs/1409.0473 (additive score); Luong, Pham, Manning 2015, https://arxiv.org/abs/1508.04025 (dot
    and multiplicative scores, input feeding). The first order computes all target positions at once, the others one
    after the other, so they train more slowly.
    """

    aliases = (
        "seq2seq with attention",
        "Bahdanau",
        "Luong",
        "jointly learning to align and translate",
        "alignment model",
        "input feeding",
    )
    reads, gives = ("tokens",), ("target tokens",)

    def __init__(self, config: Config, source_vocabulary: int, target_vocabulary: int) -> None:
        super().__init__()
        c = self.config = config
        cell, score = registry.get("recurrences", c.cell).load(), registry.get("scores", c.score).load()
        source, self.target = both_sides(source_vocabulary, target_vocabulary, c.width, c.share)
        self.encoder = RecurrentEncoder(c.encoder, source)
        self.decoder = DECODERS[c.order](cell, score, c.width, c.depth, c.dropout)

    @property
    def output(self) -> Embedding:
        return self.target

    def forward(
        self, source: Int[Tensor, "b s"], keep: Bool[Tensor, "b s"], target: Int[Tensor, "b t"]
    ) -> Float[Tensor, "b t d"]:
        (seen,), state = self.read(source, keep)
        return self.decoder(self.target(target), state, seen)

    def read(self, source: Int[Tensor, "b s"], keep: Bool[Tensor, "b s"]) -> tuple[Memory, States]:
        hidden, last = self.encoder(source, keep)
        return (self.decoder.attention.remember(hidden, keep),), self.decoder.start(last)

    def step(self, token: Int[Tensor, "bk"], state: States, memory: Memory) -> tuple[Float[Tensor, "bk d"], States]:
        return self.decoder.step(self.target(token), state, memory[0])

    def logits(self, hidden: Float[Tensor, "*b d"]) -> Float[Tensor, "*b v"]:
        return self.target.logits(hidden)
