from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal

from torch import nn

from headway.core import registry
from headway.core.config import require
from headway.core.errors import ConfigError
from headway.layers.activations import squared_relu
from headway.layers.block import Block
from headway.layers.connections.pre_norm import PreNorm
from headway.layers.embedding import Embedding
from headway.layers.feedforward import Feedforward
from headway.layers.masks import Causal
from headway.layers.norms.layer_norm import LayerNorm
from headway.models.decoder import Decoder


@dataclass(frozen=True)
class Config:
    mixer: str = "lstm"  # which causal layer: `headway list recurrences`, `headway list attention`
    width: int = 256  # d, the width of every position
    depth: int = 4  # blocks
    heads: int = 4  # of attention mixers; must divide the width
    inner: int = 1024  # f, the width inside the feed-forward network
    dropout: float = 0.0  # on every sublayer and on the embeddings
    position: Literal["auto", "none", "sinusoidal"] = "auto"  # added to the embeddings; auto: to those of attention mixers only
    options: dict[str, int | float] = field(default_factory=dict)  # of the mixer: `headway show NAME`

    def __post_init__(self) -> None:
        require(
            (min(self.width, self.depth, self.heads, self.inner) >= 1, "`width`, `depth`, `heads` and `inner` must be at least 1"),
            (self.heads < 1 or self.width % self.heads == 0, f"`heads` {self.heads} must divide `width` {self.width}"),
            (0 <= self.dropout <= 0.9, f"`dropout` {self.dropout} must be between 0 and 0.9"),
        )


class Blocks(Decoder):
    """Blocks: a language model from any causal mixer. `--model mamba`, `--model lstm` and their like are this, with that mixer.

        x <- x + mixer(norm(x))        x <- x + W_2 relu(W_1 norm(x))^2        p(w_t+1) = softmax(E norm(x_t))

    What differs between these models is the mixer alone, so that a comparison compares mixers. Pre-norm residuals as in
    Xiong et al. 2020, https://arxiv.org/abs/2002.04745; squared ReLU of So et al. 2021, https://arxiv.org/abs/2109.08668.
    """

    aliases = ("language model from blocks", "RNN language model", "state space language model")
    task = "language"

    def __init__(self, config: Config, vocabulary: int) -> None:
        c = self.config = config
        make, attends = mixer(c.mixer)
        sizes = (c.width, c.heads, Causal()) if attends else (c.width, c.width)
        try:
            made = [make(*sizes, **c.options) for _ in range(c.depth)]
        except TypeError as problem:
            hint = f"`headway show {c.mixer}` names them."
            raise ConfigError(f"`{c.mixer}` cannot be made with the options {c.options}: {problem}", hint) from problem
        residual: Any = partial(PreNorm, norm=LayerNorm)
        blocks: list[nn.Module] = [Block(c.width, m, Feedforward(c.width, c.inner, squared_relu), residual, c.dropout) for m in made]
        placed = c.position == "sinusoidal" or (c.position == "auto" and make.needs_positions)
        position = registry.get("positions", "sinusoidal").load()(c.width) if placed else None
        words, output = Embedding(vocabulary, c.width), Embedding(vocabulary, c.width)
        super().__init__(words, position, blocks, LayerNorm(c.width), output, c.dropout)
        for block in self.blocks:
            nn.init.zeros_(block.feedforward.down.weight)


def mixer(name: str) -> tuple[Any, bool]:
    """The class of a causal mixer by any of its names, and whether it attends (and takes heads and a mask)."""
    entry = registry.mixer(name)
    return entry.load(), entry.room == "attention"
