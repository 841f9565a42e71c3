from dataclasses import dataclass, field

from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from headway.core.config import require
from headway.layers.activations import squared_relu
from headway.layers.block import Block
from headway.layers.connections.pre_norm import PreNorm
from headway.layers.dropout import Dropout
from headway.layers.embedding import Embedding
from headway.layers.feedforward import Feedforward
from headway.layers.mixer import build_mixer, mixer_class
from headway.layers.norms.layer_norm import LayerNorm
from headway.layers.positions.sinusoidal import Sinusoidal
from headway.models.reader import known


@dataclass(frozen=True)
class Config:
    mixer: str = "multihead"  # which layer that sees both sides: `headway list attention`, `headway list recurrences`
    width: int = 128  # d, the width of every position
    depth: int = 2  # blocks
    heads: int = 4  # of attention mixers; must divide the width
    inner: int = 512  # f, the width inside the feed-forward network
    dropout: float = 0.1  # on every sublayer, on the embeddings and before the head
    options: dict[str, int | float] = field(default_factory=dict)  # of the mixer: `headway show NAME`

    def __post_init__(self) -> None:
        require(
            (
                min(self.width, self.depth, self.heads, self.inner) >= 1,
                "`width`, `depth`, `heads` and `inner` must be at least 1",
            ),
            (self.heads < 1 or self.width % self.heads == 0, f"`heads` {self.heads} must divide `width` {self.width}"),
            (0 <= self.dropout <= 0.9, f"`dropout` {self.dropout} must be between 0 and 0.9"),
        )


class Encoder(nn.Module):
    """Encoder: a text read from both sides, as one vector for each token (`states`) or for the whole text (`forward`).

        x_t = E[w_t] + p_t        x <- x + mixer(norm(x))        x <- x + W_2 relu(W_1 norm(x))^2        h_t = norm(x_t)

        h = 1/n sum_t h_t over the n real tokens            p(class) = softmax(W h + b)            p(tag of t) = softmax(V h_t + a)

    With attention it is the encoder of Vaswani et al. 2017, https://arxiv.org/abs/1706.03762, and of BERT (Devlin et
    al. 2019, https://arxiv.org/abs/1810.04805), with a mean in place of BERT's extra token; with `longformer`,
    `big_bird`, `performer` or `linformer` it reads long documents; a recurrence reads from both ends. Positions are
    added if the mixer needs them.
    """

    aliases = ("Transformer encoder", "text encoder", "text classifier", "bidirectional encoder", "BiLSTM classifier")
    reads, gives = ("tokens",), ("one vector", "one per position")

    def __init__(self, config: Config, vocabulary: int, outputs: int = 0, tags: int = 0) -> None:
        super().__init__()
        c = self.config = config
        self.embedding = Embedding(vocabulary, c.width)
        self.position = Sinusoidal(c.width) if mixer_class(c.mixer).needs_positions else None
        blocks = [
            Block(
                c.width,
                build_mixer(c.mixer, c.width, c.heads, None, c.options),
                Feedforward(c.width, c.inner, squared_relu),
                PreNorm,
                c.dropout,
            )
            for _ in range(c.depth)
        ]
        self.blocks = nn.ModuleList(blocks)
        self.norm = LayerNorm(c.width)
        self.head = nn.Linear(c.width, outputs) if outputs else None  # of the whole text
        self.tag_head = nn.Linear(c.width, tags) if tags else None  # of each position
        self.dropout = Dropout(c.dropout)
        for block in blocks:  # every block starts as its mixer alone
            nn.init.zeros_(block.feedforward.down.weight)

    def states(
        self, ids: Int[Tensor, "b t"], keep: Bool[Tensor, "b t"], segments: Int[Tensor, "b t"] | None = None
    ) -> Float[Tensor, "b t d"]:
        """One vector for each token; `keep` is False at padding, on the right, where the vectors mean nothing.

        This encoder has no segments: two parts of a text are told apart by the mark between them.
        """
        x = self.embedding(ids)
        if self.position is not None:
            x = x + self.position(ids.shape[1])
        x = self.dropout(x)
        for block in self.blocks:
            x = block(x, keep)
        return self.norm(x)

    def forward(self, ids: Int[Tensor, "b t"], keep: Bool[Tensor, "b t"]) -> Float[Tensor, "b d"]:
        """The mean over the real tokens."""
        total = self.states(ids, keep).masked_fill(~keep[..., None], 0.0).sum(1)
        return self.dropout(total / keep.sum(1, keepdim=True).clamp(min=1))

    def logits(self, hidden: Float[Tensor, "b d"]) -> Float[Tensor, "b c"]:
        return known(self.head, "outputs")(hidden)

    def tag_logits(self, states: Float[Tensor, "b t d"]) -> Float[Tensor, "b t c"]:
        return known(self.tag_head, "tags")(self.dropout(states))
