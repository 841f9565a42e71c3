from dataclasses import dataclass
from functools import partial
from typing import Any

from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from headway.core.config import require
from headway.layers.attention.cross import Cross
from headway.layers.attention.multihead import Multihead
from headway.layers.block import Block, CrossBlock
from headway.layers.connections.pre_norm import PreNorm
from headway.layers.dropout import Dropout
from headway.layers.embedding import Embedding, both_sides
from headway.layers.feedforward import Feedforward
from headway.layers.masks import Causal
from headway.layers.norms.rms_norm import RMSNorm
from headway.layers.padding import where_padded
from headway.layers.positions.relative_bias import RelativeBias
from headway.layers.steps import step_through
from headway.models.encoder_decoder import Memory, State


@dataclass(frozen=True)
class Config:
    width: int = 256  # d, the width of every position
    depth: int = 3  # blocks in the encoder, and in the decoder
    heads: int = 4  # of attention; must divide the width
    inner: int = 1024  # f, the width inside the feed-forward network
    dropout: float = 0.1  # on every sublayer and on the embeddings
    buckets: int = 32  # of distances, each with a bias for each head
    farthest: int = 128  # the distance from which on all share a bucket
    share: bool = True  # one embedding for source, target and output, as in the paper

    def __post_init__(self) -> None:
        require(
            (
                min(self.width, self.depth, self.heads, self.inner) >= 1,
                "`width`, `depth`, `heads` and `inner` must be at least 1",
            ),
            (self.heads < 1 or self.width % self.heads == 0, f"`heads` {self.heads} must divide `width` {self.width}"),
            (0 <= self.dropout <= 0.9, f"`dropout` {self.dropout} must be between 0 and 0.9"),
            (self.buckets >= 4 and self.buckets % 2 == 0, f"`buckets` {self.buckets} must be even and at least 4"),
            (self.farthest > self.buckets // 2, f"`farthest` {self.farthest} must be more than half of `buckets`"),
        )


class T5(nn.Module):
    """T5: the Transformer that takes every task as text in and text out, named by a prefix ("translate en de: ...").

        encoder block:   x <- x + attention(norm(x))                        x <- x + W_2 relu(W_1 norm(x))
        decoder block:   the same with a causal mask, and cross-attention to the encoder's output in between

        A = softmax(Q K^T / sqrt(e) + b)   b_ts: one number per head for the bucket of t - s, shared by all layers of a side
        norm(x) = w x / rms(x)             no other positions, and no biases in any linear map

    Raffel et al. 2020, "Exploring the limits of transfer learning with a unified text-to-text Transformer",
    https://arxiv.org/abs/1910.10683; lecture D. The paper's code has 1 / sqrt(e) in the first weights of W_Q instead of in
    the scores: the same function, for an optimizer whose steps are as large as the weights. Those here are not.
    """

    aliases = ("text-to-text transfer Transformer", "Text-to-Text Transfer Transformer")
    reads, gives = ("tokens",), ("target tokens",)

    def __init__(self, config: Config, source_vocabulary: int, target_vocabulary: int) -> None:
        super().__init__()
        c = self.config = config
        self.source, self.target = both_sides(source_vocabulary, target_vocabulary, c.width, c.share)
        self.dropout = Dropout(c.dropout)
        residual = partial(PreNorm, norm=RMSNorm)
        seen, past = (RelativeBias(c.width // c.heads, c.heads, sides, c.buckets, c.farthest) for sides in (2, 1))

        def attention(bias: RelativeBias) -> Multihead:
            mask = Causal() if bias is past else None
            return Multihead(c.width, c.heads, mask, position=lambda width, heads: bias)  # one table for all layers

        self.encoder: Any = nn.ModuleList(
            Block(c.width, attention(seen), Feedforward(c.width, c.inner), residual, c.dropout) for _ in range(c.depth)
        )
        self.encoder_norm = RMSNorm(c.width)
        self.decoder: Any = nn.ModuleList(
            CrossBlock(
                c.width,
                attention(past),
                Cross(c.width, c.heads),
                Feedforward(c.width, c.inner),
                residual,
                c.dropout,
            )
            for _ in range(c.depth)
        )
        self.decoder_norm = RMSNorm(c.width)
        for module in self.modules():
            if isinstance(module, nn.Linear):
                module.register_parameter("bias", None)
                nn.init.normal_(module.weight, std=module.in_features**-0.5)

    @property
    def output(self) -> Embedding:
        return self.target

    def encode(self, source: Int[Tensor, "b s"], keep: Bool[Tensor, "b s"] | None) -> Float[Tensor, "b s d"]:
        x = self.dropout(self.source(source))
        for block in self.encoder:
            x = block(x, keep)
        return self.dropout(self.encoder_norm(x))

    def _remember(self, source: Tensor, keep: Tensor | None) -> Memory:
        encoded = self.encode(source, keep)
        return tuple(block.cross.remember(encoded, keep) for block in self.decoder)

    def forward(
        self, source: Int[Tensor, "b s"], keep: Bool[Tensor, "b s"], target: Int[Tensor, "b t"]
    ) -> Float[Tensor, "b t d"]:
        x = self.dropout(self.target(target))
        for block, seen in zip(self.decoder, self._remember(source, keep), strict=True):
            x = block(x, seen)
        return self.dropout(self.decoder_norm(x))

    def read(self, source: Int[Tensor, "b s"], keep: Bool[Tensor, "b s"]) -> tuple[Memory, State]:
        memory = self._remember(source, where_padded(keep))
        return memory, tuple(block.mixer.start(len(source)) for block in self.decoder)

    def step(self, token: Int[Tensor, "bk"], state: State, memory: Memory) -> tuple[Float[Tensor, "bk d"], State]:
        x = self.target(token)
        return step_through(self.decoder, self.decoder_norm, x, state, memory)

    def logits(self, hidden: Float[Tensor, "*b d"]) -> Float[Tensor, "*b v"]:
        return self.target.logits(hidden)
