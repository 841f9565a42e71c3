from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from headway.core.config import require
from headway.core.errors import ConfigError
from headway.layers.activations import gelu
from headway.layers.attention.multihead import Multihead
from headway.layers.block import Block
from headway.layers.connections.post_norm import PostNorm
from headway.layers.dropout import Dropout
from headway.layers.feedforward import Feedforward
from headway.layers.initialisation import gaussian
from headway.layers.norms.layer_norm import LayerNorm
from headway.layers.positions.learned import Learned
from headway.models.reader import known


@dataclass(frozen=True)
class Config:
    width: int = 128  # d, the width of every position
    depth: int = 4  # blocks
    heads: int = 4  # of attention; must divide the width
    inner: int = 512  # f, the width inside the feed-forward network
    dropout: float = 0.1  # on every sublayer, on the embeddings and before the heads
    context: int = 512  # the longest input in tokens, marks included: each position has a learned vector
    segments: int = 2  # parts of an input that are told apart, such as question and passage

    def __post_init__(self) -> None:
        sizes = ("width", "depth", "heads", "inner", "context", "segments")
        require(
            *((getattr(self, name) >= 1, f"`{name}` must be at least 1") for name in sizes),
            (self.heads < 1 or self.width % self.heads == 0, f"`heads` {self.heads} must divide `width` {self.width}"),
            (0 <= self.dropout <= 0.9, f"`dropout` {self.dropout} must be between 0 and 0.9"),
        )


class Norm(LayerNorm):
    """Layer normalisation with the eps of BERT: with another one, published weights give other numbers."""

    eps = 1e-12


class ExactPostNorm(PostNorm):
    def __init__(self, width: int, dropout: float) -> None:
        super().__init__(width, dropout, Norm)


class WordHead(nn.Module):
    """The scores of all words at a position: E norm(gelu(U x + u)) + c, E the embedding's own matrix."""

    def __init__(self, vocabulary: int, width: int) -> None:
        super().__init__()
        self.dense, self.norm = nn.Linear(width, width), Norm(width)
        self.bias = nn.Parameter(torch.zeros(vocabulary))

    def forward(self, hidden: Float[Tensor, "*b d"], table: Float[Tensor, "v d"]) -> Float[Tensor, "*b v"]:
        return nn.functional.linear(self.norm(gelu(self.dense(hidden))), table, self.bias)


class BERT(nn.Module):
    """BERT: a text read from both sides at once, to fill in masked words, and then for any task on texts.

        x_t = norm(E[w_t] + P_t + S[segment of t])      x <- norm(x + attention(x))      x <- norm(x + W_2 gelu(W_1 x))

        h = tanh(W x_0 + b), x_0 of `[CLS]`      p(class) = softmax(V h + a)      p(w_t) = softmax(E norm(gelu(U x_t + u)) + c)

    The input is `[CLS] A [SEP]`, or `[CLS] A [SEP] B [SEP]` for two segments. Devlin et al. 2019, "BERT: pre-training of
    deep bidirectional transformers for language understanding", https://arxiv.org/abs/1810.04805; lecture C. Attention
    weights are not dropped out, everything else is as there; `headway/models/hugging_face.py` reads published weights.
    """

    aliases = ("bidirectional encoder representations from transformers", "masked language model", "pretrained encoder")
    reads, gives = ("tokens",), ("one vector", "one per position", "masked words")

    def __init__(
        self, config: Config, vocabulary: int, outputs: int = 0, tags: int = 0, words: int = 0, next_sentence: int = 0
    ) -> None:
        super().__init__()
        if words not in (0, vocabulary):
            raise ConfigError(f"`words` is {words}: it should be {vocabulary}, the size of the vocabulary")
        c = self.config = config
        self.embedding = nn.Embedding(vocabulary, c.width)
        self.position = Learned(c.width, c.context)
        self.segment = nn.Embedding(c.segments, c.width)
        self.norm, self.dropout = Norm(c.width), Dropout(c.dropout)
        self.blocks = nn.ModuleList(
            Block(c.width, Multihead(c.width, c.heads), Feedforward(c.width, c.inner, gelu), ExactPostNorm, c.dropout)
            for _ in range(c.depth)
        )
        self.pooler = nn.Linear(c.width, c.width) if outputs or next_sentence else None
        self.head = nn.Linear(c.width, outputs) if outputs else None  # of the whole text
        self.next_head = nn.Linear(c.width, next_sentence) if next_sentence else None  # does B follow A?
        self.tag_head = nn.Linear(c.width, tags) if tags else None  # of each position
        self.word_head = WordHead(vocabulary, c.width) if words else None
        for table in (self.embedding.weight, self.segment.weight):
            gaussian(table, 0.02)

    def states(
        self, ids: Int[Tensor, "b t"], keep: Bool[Tensor, "b t"], segments: Int[Tensor, "b t"] | None = None
    ) -> Float[Tensor, "b t d"]:
        """One vector for each token; `keep` is False at padding, on the right, where the vectors mean nothing.

        Without `segments` everything is in the first.
        """
        segments = torch.zeros_like(ids) if segments is None else segments
        x = self.dropout(self.norm(self.embedding(ids) + self.position(ids.shape[1]) + self.segment(segments)))
        for block in self.blocks:
            x = block(x, keep)
        return x

    def pool(self, states: Float[Tensor, "b t d"]) -> Float[Tensor, "b d"]:
        """One vector for the text, from that of its first token, `[CLS]`."""
        return self.dropout(torch.tanh(known(self.pooler, "outputs")(states[:, 0])))

    def forward(
        self, ids: Int[Tensor, "b t"], keep: Bool[Tensor, "b t"], segments: Int[Tensor, "b t"] | None = None
    ) -> Float[Tensor, "b d"]:
        return self.pool(self.states(ids, keep, segments))

    def logits(self, hidden: Float[Tensor, "b d"]) -> Float[Tensor, "b c"]:
        return known(self.head, "outputs")(hidden)

    def next_logits(self, hidden: Float[Tensor, "b d"]) -> Float[Tensor, "b c"]:
        return known(self.next_head, "next_sentence")(hidden)

    def tag_logits(self, states: Float[Tensor, "b t d"]) -> Float[Tensor, "b t c"]:
        return known(self.tag_head, "tags")(self.dropout(states))

    def word_logits(self, states: Float[Tensor, "*b d"]) -> Float[Tensor, "*b v"]:
        return known(self.word_head, "words")(states, self.embedding.weight)
