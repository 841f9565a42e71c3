from dataclasses import dataclass
from typing import Literal

from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from headway.core import registry
from headway.core.config import require
from headway.layers.dropout import Dropout
from headway.layers.embedding import Embedding, both_sides
from headway.layers.recurrences.bidirectional import Bidirectional
from headway.layers.recurrences.recurrence import State
from headway.layers.recurrences.stacked import Stacked
from headway.models.encoder_decoder import Memory

States = tuple[State, ...]  # of each layer


@dataclass(frozen=True)
class Config:
    width: int = 256  # d, the width of embeddings and states
    depth: int = 2  # recurrences on top of each other, in the encoder and in the decoder
    cell: Literal["elman", "lstm", "gru"] = "lstm"  # which recurrence
    bidirectional: bool = True  # whether the encoder reads in both directions
    dropout: float = 0.2  # on the input of every layer
    share: bool = True  # one embedding for source, target and output

    def __post_init__(self) -> None:
        require(
            (min(self.width, self.depth) >= 1, "`width` and `depth` must be at least 1"),
            (
                self.width % 2 == 0 or not self.bidirectional,
                f"`width` {self.width} must be even: each direction gets a half",
            ),
            (0 <= self.dropout <= 0.9, f"`dropout` {self.dropout} must be between 0 and 0.9"),
        )


class RecurrentEncoder(nn.Module):
    """Reads the source: hidden states h_1 .. h_s, and a first state for each layer of the decoder."""

    def __init__(self, config: Config, embedding: Embedding) -> None:
        super().__init__()
        cell = registry.get("recurrences", config.cell).load()
        width = config.width
        self.embedding = embedding
        both, depth = config.bidirectional, range(config.depth)
        layers = [Bidirectional(cell, width, width) if both else cell(width, width) for _ in depth]
        self.layers = Stacked(layers, config.dropout)
        # With two directions the decoder's first state is a mixture of where both ended.
        self.bridge = nn.ModuleList(nn.Linear(width, width) for _ in depth) if both else None

    def forward(self, source: Int[Tensor, "b s"], keep: Bool[Tensor, "b s"]) -> tuple[Float[Tensor, "b s d"], States]:
        hidden, last = self.layers.scan(self.embedding(source), keep)
        if self.bridge is not None:
            last = tuple(tuple(b(v).tanh() for v in s) for b, s in zip(self.bridge, last, strict=True))
        return hidden, last


class RNNSeq2seq(nn.Module):
    """Plain sequence to sequence: an encoder RNN squeezes the source into its last state, a decoder RNN unfolds it.

        zeta = f_enc(x_1 .. x_s)        z_0 = zeta        z_t = f_dec(z_{t-1}, y_{t-1})        y_t ~ softmax(E z_t)

    Everything the decoder knows of the source passes through zeta: the bottleneck that attention removes.
    Sutskever, Vinyals, Le 2014, https://arxiv.org/abs/1409.3215; Cho et al. 2014, https://arxiv.org/abs/1406.1078.
    """

    aliases = ("seq2seq", "RNN encoder-decoder", "sequence to sequence model", "Sutskever", "stacked seq2seq")
    reads, gives = ("tokens",), ("target tokens",)

    def __init__(self, config: Config, source_vocabulary: int, target_vocabulary: int) -> None:
        super().__init__()
        self.config = config
        cell = registry.get("recurrences", config.cell).load()
        source, self.target = both_sides(source_vocabulary, target_vocabulary, config.width, config.share)
        self.encoder = RecurrentEncoder(config, source)
        self.decoder = Stacked([cell(config.width, config.width) for _ in range(config.depth)], config.dropout)
        self.dropout = Dropout(config.dropout)

    @property
    def output(self) -> Embedding:
        return self.target

    def forward(
        self, source: Int[Tensor, "b s"], keep: Bool[Tensor, "b s"], target: Int[Tensor, "b t"]
    ) -> Float[Tensor, "b t d"]:
        _, last = self.encoder(source, keep)
        hidden, _ = self.decoder.scan(self.target(target), None, last)
        return self.dropout(hidden)

    def read(self, source: Int[Tensor, "b s"], keep: Bool[Tensor, "b s"]) -> tuple[Memory, States]:
        _, last = self.encoder(source, keep)
        return (), last

    def step(self, token: Int[Tensor, "bk"], state: States, memory: Memory) -> tuple[Float[Tensor, "bk d"], States]:
        return self.decoder.step(self.target(token), state)

    def logits(self, hidden: Float[Tensor, "*b d"]) -> Float[Tensor, "*b v"]:
        return self.target.logits(hidden)
