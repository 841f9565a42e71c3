from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal

from torch import nn

from headway.core import registry
from headway.core.config import require
from headway.layers.activations import ACTIVATIONS
from headway.layers.attention.multihead import Multihead
from headway.layers.block import Block
from headway.layers.connections.deep_norm import deep, deep_initialise
from headway.layers.embedding import Embedding
from headway.layers.feedforward import Feedforward
from headway.layers.masks import Causal, Window
from headway.layers.mixer import build_mixer, check_options, mixer_class
from headway.layers.ngrams import NGrams
from headway.layers.positions.sinusoidal import Sinusoidal
from headway.layers.scores.scaled import Scaled
from headway.layers.scores.unit_norm import UnitNorm
from headway.models.decoder import Decoder


@dataclass(frozen=True)
class Config:
    mixer: str = "multihead"  # which causal layer: `headway list attention`, `headway list recurrences`
    width: int = 256  # d, the width of every position
    depth: int = 4  # blocks
    heads: int = 4  # of attention mixers; must divide the width
    inner: int = 1024  # f, the width inside the feed-forward network
    context: int = 256  # positions that a token can look back at, itself included; of `multihead` and learned positions
    share: bool = False  # one matrix for embedding and output, as in GPT-2 and GPT-3
    ngrams: int = 0  # rows of each table of the last 2, 3 ... tokens, added to the embeddings; 0: none
    ngram_order: int = 3  # how many tokens the last of these tables looks at
    dropout: float = 0.0  # on every sublayer and on the embeddings
    position: Literal["rotary", "alibi", "relative", "learned", "sinusoidal"] = "rotary"  # where a token stands
    score: Literal["unit_norm", "scaled"] = "unit_norm"  # queries and keys of length 1 (QK-norm), or as in 2017
    norm: Literal["layer_norm", "rms_norm"] = "layer_norm"  # which normalisation; torch has a kernel for the first
    residual: Literal["pre", "post", "deep"] = "pre"  # where the norm stands; `deep` is post-norm for very deep stacks
    activation: Literal["squared_relu", "gelu", "relu"] = "squared_relu"  # inside the feed-forward network
    options: dict[str, int | float] = field(default_factory=dict)  # of the mixer: `headway show NAME`

    def __post_init__(self) -> None:
        sizes = (self.width, self.depth, self.heads, self.inner, self.context)
        require(
            (min(sizes) >= 1, "`width`, `depth`, `heads`, `inner` and `context` must be at least 1"),
            (self.heads < 1 or self.width % self.heads == 0, f"`heads` {self.heads} must divide `width` {self.width}"),
            (0 <= self.dropout <= 0.9, f"`dropout` {self.dropout} must be between 0 and 0.9"),
            (self.ngrams >= 0, f"`ngrams` {self.ngrams} must be at least 0"),
            (self.ngram_order >= 2, f"`ngram_order` {self.ngram_order} must be at least 2"),
            (
                self.ngrams < 1 or registry.mixer(self.mixer).name != "transformer_xl",
                "`transformer_xl` does not know the tokens before its memory: `ngrams` must be 0",
            ),
            (
                self.residual != "deep" or registry.mixer(self.mixer).name == "multihead",
                f"`residual deep` has first weights for `multihead` only, not for `{self.mixer}`",
            ),
        )


class GPT(Decoder):
    """GPT: a stack of causal blocks that predicts the next token; its mixer is attention, or any other causal layer.

        x_t = E[w_t]    x <- x + mixer(norm(x))    x <- x + W_2 phi(W_1 norm(x))    p(w_t+1) = softmax(O norm(x_t))

    Radford et al. 2018/2019; Brown et al. 2020, "Language models are few-shot learners",
    https://arxiv.org/abs/2005.14165; lectures B and E. The defaults are what trains fastest today (docs/findings.md):
    rotary positions, queries and keys of unit length, squared ReLU (So et al. 2021, https://arxiv.org/abs/2109.08668),
    output projections that start at zero. `presets()` gives the eight sizes of GPT-3 as they were published.

    `--model mamba`, `--model lstm` and their like are this model with that mixer; nothing else differs between them, so
    a comparison compares mixers. A mixer that needs positions and is not `multihead` gets sinusoids added to its
    embeddings (or learned ones, if `position` says so); rotary, alibi and relative act on the scores of `multihead`.
    """

    aliases = (
        "GPT-2",
        "GPT-3",
        "nanoGPT",
        "decoder-only Transformer",
        "autoregressive Transformer",
        "generative pre-training",
        "language model from blocks",
        "RNN language model",
        "state space language model",
    )
    reads, gives = ("tokens",), ("next token",)

    def __init__(self, config: Config, vocabulary: int) -> None:
        c = self.config = config
        norm = registry.get("norms", c.norm).load()
        around = registry.get("connections", f"{c.residual}_norm").load()
        residual: Any = partial(around, norm=norm)
        if c.residual == "deep":
            residual = partial(residual, alpha=deep(c.depth).alpha)
        make = mixer_class(c.mixer)
        check_options(c.mixer, make, c.options)
        place = registry.get("positions", c.position).load()
        inside = place if place.acts == "scores" else None
        if inside is not None and make is not Multihead:
            place, inside = Sinusoidal, None
        score = partial(UnitNorm, alpha=-0.5) if c.score == "unit_norm" else Scaled
        attention = partial(Multihead, c.width, c.heads, Causal() & Window(c.context), score, inside)
        other = partial(build_mixer, c.mixer, c.width, c.heads, Causal(), c.options)
        mixers = [attention() if make is Multihead else other() for _ in range(c.depth)]
        phi = ACTIVATIONS[c.activation]
        blocks: list[nn.Module] = [
            Block(c.width, m, Feedforward(c.width, c.inner, phi), residual, c.dropout) for m in mixers
        ]
        added = None
        if make.needs_positions and inside is None:
            added = place(c.width, c.context) if c.position == "learned" else place(c.width)
        words = Embedding(vocabulary, c.width)
        output = words if c.share else Embedding(vocabulary, c.width)
        ngrams = NGrams(vocabulary, c.ngrams, c.width, c.ngram_order) if c.ngrams else None
        super().__init__(words, added, blocks, around.final(c.width, norm), output, c.dropout, ngrams)
        self._initialise(attends=make is Multihead)

    def _initialise(self, attends: bool) -> None:
        """Mixers other than `multihead` bring first weights of their own."""
        for module in self.blocks.modules() if attends else ():
            if isinstance(module, nn.Linear):
                nn.init.xavier_uniform_(module.weight)
                nn.init.zeros_(module.bias)
        if self.config.residual == "deep":
            deep_initialise(self.blocks, deep(self.config.depth).beta)
        elif self.config.residual == "pre":
            for block in self.blocks:  # every block starts as the identity, or as its mixer alone
                nn.init.zeros_(block.feedforward.down.weight)
                if attends:
                    nn.init.zeros_(block.mixer.output.weight)


def presets() -> dict[str, Config]:
    """The eight models of Brown et al. 2020, table 2.1, by name; feed-forward of four widths, context 2048.

    Two things differ from the paper: its odd layers attend to a band of positions only, here all layers are dense; and
    embeddings are multiplied by sqrt(d), as everywhere in this package. The numbers of parameters are not affected.

    The table contradicts itself twice, and what is countable is taken: XL has 24 heads of 128 in a width of 2048 (24 *
    128 = 3072; 16 heads fit), and 13B has 40 heads of 128 in a width of 5140 (40 * 128 = 5120, the width that is used).
    """
    table = {
        "gpt3-small": (12, 768, 12),
        "gpt3-medium": (24, 1024, 16),
        "gpt3-large": (24, 1536, 16),
        "gpt3-xl": (24, 2048, 16),
        "gpt3-2.7b": (32, 2560, 32),
        "gpt3-6.7b": (32, 4096, 32),
        "gpt3-13b": (40, 5120, 40),
        "gpt3-175b": (96, 12288, 96),
    }
    published: dict[str, Any] = {
        "share": True,
        "position": "learned",
        "score": "scaled",
        "activation": "gelu",
        "context": 2048,
    }
    return {name: Config(width=d, depth=n, heads=h, inner=4 * d, **published) for name, (n, d, h) in table.items()}
