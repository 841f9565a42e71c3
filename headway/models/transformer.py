from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal

from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from headway.core import registry
from headway.core.config import require
from headway.layers.attention.cross import Cross
from headway.layers.attention.multihead import Multihead
from headway.layers.block import Block, CrossBlock
from headway.layers.connections.deep_norm import deep_decoder, deep_encoder, deep_initialise
from headway.layers.dropout import Dropout
from headway.layers.embedding import Embedding, both_sides
from headway.layers.feedforward import Feedforward
from headway.layers.masks import Causal
from headway.layers.mixer import build_mixer, mixer_class
from headway.layers.padding import where_padded
from headway.layers.steps import step_through
from headway.models.encoder_decoder import Memory, State


@dataclass(frozen=True)
class Config:
    mixer: str = "multihead"  # of the encoder: `headway list attention`, `headway list recurrences`
    width: int = 256  # d, the width of every position
    depth: int = 3  # blocks in the encoder, and in the decoder
    heads: int = 4  # of attention; must divide the width
    inner: int = 1024  # f, the width inside the feed-forward network
    dropout: float = 0.1  # on every sublayer and on the embeddings
    norm: Literal["pre", "post", "deep"] = "pre"  # before a sublayer; after it, as in 2017; after it, for many layers
    position: Literal["sinusoidal", "learned"] = "sinusoidal"  # of what needs positions
    share: bool = True  # one embedding for source, target and output
    options: dict[str, int | float] = field(default_factory=dict)  # of the encoder's mixer: `headway show NAME`

    def __post_init__(self) -> None:
        require(
            (
                min(self.width, self.depth, self.heads, self.inner) >= 1,
                "`width`, `depth`, `heads` and `inner` must be at least 1",
            ),
            (self.heads < 1 or self.width % self.heads == 0, f"`heads` {self.heads} must divide `width` {self.width}"),
            (0 <= self.dropout <= 0.9, f"`dropout` {self.dropout} must be between 0 and 0.9"),
            (
                self.norm != "deep" or registry.mixer(self.mixer).name == "multihead",
                f"`norm deep` has first weights for `multihead` only, not for `{self.mixer}`",
            ),
        )


class Transformer(nn.Module):
    """Transformer: an encoder and a decoder made of attention only.

        encoder block:   x -> self-attention -> feed-forward
        decoder block:   y -> causal self-attention -> cross-attention to the encoder's output -> feed-forward

    each inside a residual connection with layer normalisation. Vaswani et al. 2017, "Attention is all you need",
    https://arxiv.org/abs/1706.03762; lectures A to E. With `norm deep` it is DeepNet, which trains at a hundred layers
    and more: Wang et al. 2022, https://arxiv.org/abs/2203.00555; lecture A. The encoder may have another `mixer`, such
    as `linformer` or a recurrence, which then reads from both ends; positions are added to its input if that mixer
    needs them.
    """

    aliases = ("Attention is all you need", "Vaswani", "encoder-decoder Transformer", "DeepNet")
    reads, gives = ("tokens",), ("target tokens",)

    def __init__(self, config: Config, source_vocabulary: int, target_vocabulary: int) -> None:
        super().__init__()
        c = self.config = config
        position = registry.get("positions", c.position).load()
        self.source, self.target = both_sides(source_vocabulary, target_vocabulary, c.width, c.share)
        needs_positions = mixer_class(c.mixer).needs_positions
        self.source_position: Any = position(c.width) if needs_positions else None
        self.target_position = position(c.width)
        self.dropout = Dropout(c.dropout)
        around = registry.get("connections", f"{c.norm}_norm").load()
        before = after = around
        first, second = deep_encoder(c.depth, c.depth), deep_decoder(c.depth)  # DeepNorm depends on the depth
        if c.norm == "deep":
            before, after = partial(around, alpha=first.alpha), partial(around, alpha=second.alpha)
        encoder = [
            Block(
                c.width,
                build_mixer(c.mixer, c.width, c.heads, None, c.options),
                Feedforward(c.width, c.inner),
                before,
                c.dropout,
            )
            for _ in range(c.depth)
        ]
        self.encoder: Any = nn.ModuleList(encoder)
        self.encoder_norm = around.final(c.width)
        self.decoder: Any = nn.ModuleList(
            CrossBlock(
                c.width,
                Multihead(c.width, c.heads, Causal()),
                Cross(c.width, c.heads),
                Feedforward(c.width, c.inner),
                after,
                c.dropout,
            )
            for _ in range(c.depth)
        )
        self.decoder_norm = around.final(c.width)
        mixers = [b.mixer for b in encoder if type(b.mixer) is not Multihead]  # they bring first weights of their own
        own = {module for mixer in mixers for module in mixer.modules()}
        for module in self.modules():
            if isinstance(module, nn.Linear) and module not in own:
                nn.init.xavier_uniform_(module.weight)
                nn.init.zeros_(module.bias)
        if c.norm == "deep":
            deep_initialise(self.encoder, first.beta)
            deep_initialise(self.decoder, second.beta)

    @property
    def output(self) -> Embedding:
        return self.target

    def encode(self, source: Int[Tensor, "b s"], keep: Bool[Tensor, "b s"] | None) -> Float[Tensor, "b s d"]:
        x = self.source(source)
        if self.source_position is not None:
            x = x + self.source_position(source.shape[1])
        x = self.dropout(x)
        for block in self.encoder:
            x = block(x, keep)
        return self.encoder_norm(x)

    def _remember(self, source: Tensor, keep: Tensor | None) -> Memory:
        encoded = self.encode(source, keep)
        return tuple(block.cross.remember(encoded, keep) for block in self.decoder)

    def forward(
        self, source: Int[Tensor, "b s"], keep: Bool[Tensor, "b s"], target: Int[Tensor, "b t"]
    ) -> Float[Tensor, "b t d"]:
        x = self.dropout(self.target(target) + self.target_position(target.shape[1]))
        for block, seen in zip(self.decoder, self._remember(source, keep), strict=True):
            x = block(x, seen)
        return self.decoder_norm(x)

    def read(self, source: Int[Tensor, "b s"], keep: Bool[Tensor, "b s"]) -> tuple[Memory, State]:
        memory = self._remember(source, where_padded(keep))
        return memory, tuple(block.mixer.start(len(source)) for block in self.decoder)

    def step(self, token: Int[Tensor, "bk"], state: State, memory: Memory) -> tuple[Float[Tensor, "bk d"], State]:
        past = state[0].past  # type: ignore[union-attr] # the mixers of its blocks keep caches
        x = self.target(token) + self.target_position(1, past)
        return step_through(self.decoder, self.decoder_norm, x, state, memory)

    def logits(self, hidden: Float[Tensor, "*b d"]) -> Float[Tensor, "*b v"]:
        return self.target.logits(hidden)
