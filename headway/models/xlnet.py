from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from headway.core.config import require
from headway.layers.activations import squared_relu
from headway.layers.attention.two_stream import TwoStream
from headway.layers.embedding import Embedding
from headway.layers.feedforward import Feedforward
from headway.layers.norms.layer_norm import LayerNorm
from headway.layers.positions.sinusoidal import Sinusoidal
from headway.models.decoder import State


@dataclass(frozen=True)
class Config:
    width: int = 256  # d, the width of every position
    depth: int = 4  # blocks
    heads: int = 4  # attention heads; must divide the width
    inner: int = 1024  # f, the width inside the feed-forward network
    predict: int = 6  # K: in training the last 1/K of each order is predicted
    memory: int = 64  # tokens before a window that it sees; 0: none

    def __post_init__(self) -> None:
        require(
            (
                min(self.width, self.depth, self.heads, self.inner, self.predict) >= 1,
                "`width`, `depth`, `heads`, `inner` and `predict` must be at least 1",
            ),
            (self.memory >= 0, f"`memory` {self.memory} must be 0 or more"),
            (self.heads < 1 or self.width % self.heads == 0, f"`heads` {self.heads} must divide `width` {self.width}"),
        )


class StreamBlock(nn.Module):
    """Two-stream attention, then the feed-forward network on both streams, with residuals and norms before each."""

    def __init__(self, width: int, heads: int, inner: int) -> None:
        super().__init__()
        self.mixer, self.feedforward = TwoStream(width, heads), Feedforward(width, inner, squared_relu)
        self.before_mixer, self.before_feedforward = LayerNorm(width), LayerNorm(width)

    def forward(self, h: Tensor, g: Tensor, rank: Tensor, memory: Tensor | None) -> tuple[Tensor, Tensor]:
        a, b = self.mixer(self.before_mixer(h), self.before_mixer(g), rank, memory)
        return self._forward(h + a), self._forward(g + b)

    def read(self, h: Float[Tensor, "b t d"]) -> tuple[Float[Tensor, "b t d"], Float[Tensor, "b t d"]]:
        """The content stream from left to right: what comes out, and what the mixer was given."""
        given = self.before_mixer(h)
        return self._forward(h + self.mixer.read(given)), given

    def step(self, h: Tensor, g: Tensor, state: Any) -> tuple[Tensor, Tensor, Any]:
        a, b, state = self.mixer.step(self.before_mixer(h), self.before_mixer(g), state)
        return self._forward(h + a), self._forward(g + b), state

    def _forward(self, x: Tensor) -> Tensor:
        return x + self.feedforward(self.before_feedforward(x))


class XLNet(nn.Module):
    """XLNet: a language model that learns to fill in a text in every order, by permuting who sees whom.

        max E_z sum_(t > c) log p(x_zt | x_z1 .. x_z(t-1))        z a random order of places; the text stays as it is

    In training every row of a batch draws an order z, and the last 1/K of it is predicted (partial prediction, section
    2.3: the first tokens of an order have too little to go on). Validation and generation go from left to right, so the
    figures compare with those of other models. The first token is given. The tokens before a window are a memory: both
    streams see their content, which is computed from left to right and without gradient (the paper keeps the content of
    older weights from the batch before).

    The query for a place starts as one learned vector plus the sinusoids of the place in its window: relative positions
    only weigh what is seen, so a query that sees a single token would not know where it stands. Segment encodings tell
    the two texts of a pair apart; plain text has no pairs, so there are none. Yang et al. 2019,
    https://arxiv.org/abs/1906.08237; lecture A.
    """

    aliases = ("permutation language model", "permutation language modeling", "generalized autoregressive pretraining")
    reads, gives = ("tokens",), ("next token",)
    absolute = True

    def __init__(self, config: Config, vocabulary: int) -> None:
        super().__init__()
        c = self.config = config
        self.memory = c.memory
        self.embedding, self.output = Embedding(vocabulary, c.width), Embedding(vocabulary, c.width)
        self.query, self.place = nn.Parameter(torch.randn(c.width)), Sinusoidal(c.width)
        self.blocks: Any = nn.ModuleList(StreamBlock(c.width, c.heads, c.inner) for _ in range(c.depth))
        self.norm = LayerNorm(c.width)

    def forward(self, ids: Int[Tensor, "b t"], past: Int[Tensor, "b m"] | None = None) -> Float[Tensor, "b t d"]:
        """What is predicted at the places 1 .. t, each from all places before it."""
        rank = torch.arange(-1.0, ids.shape[1], device=ids.device)
        return self.ordered(ids, rank.expand(len(ids), -1), past)

    def predicted(
        self, ids: Int[Tensor, "b t"], past: Int[Tensor, "b m"] | None = None
    ) -> tuple[Float[Tensor, "n d"], Bool[Tensor, "b t"]]:
        """In training the last 1/K of a random order of each row; else every place, from left to right."""
        b, t = ids.shape
        if not self.training:
            return self(ids, past).flatten(0, 1), torch.ones_like(ids, dtype=torch.bool)
        order = torch.rand(b, t, device=ids.device).argsort(1)  # when the places 1 .. t are filled
        counted = order >= t - -(-t // self.config.predict)
        rank = torch.cat((order.new_full((b, 1), -1), order), 1)
        return self.ordered(ids, rank.to(self.query.dtype), past)[counted], counted

    def ordered(
        self, ids: Int[Tensor, "b t"], rank: Float[Tensor, "b t+1"], past: Int[Tensor, "b m"] | None = None
    ) -> Float[Tensor, "b t d"]:
        """What is predicted at the places 1 .. t, each from the places of lower rank and from the past."""
        memories = self._memories(past)
        h = self.embedding(ids)
        g = (self.query + self.place(ids.shape[1], 1)).expand_as(h)
        for block, memory in zip(self.blocks, memories, strict=True):
            h, g = block(h, g, rank, memory)
        return self.norm(g)

    @torch.no_grad()
    def _memories(self, past: Int[Tensor, "b m"] | None) -> list[Float[Tensor, "b _ d"] | None]:
        """For each block what its mixer read in the past."""
        if past is None or self.memory == 0 or past.shape[1] == 0:
            return [None] * len(self.blocks)
        h, memories = self.embedding(past[:, -self.memory :]), []
        for block in self.blocks:
            h, given = block.read(h)
            memories.append(given)
        return memories

    def start(self, batch: int) -> State:
        return 0, tuple(block.mixer.start(batch) for block in self.blocks)

    def step(self, token: Int[Tensor, "b"], state: State) -> tuple[Float[Tensor, "b d"], State]:
        read, states = state
        h = self.embedding(token)
        g, after = (self.query + self.place(1, read + 1)).expand_as(h), []
        for block, mine in zip(self.blocks, states, strict=True):
            h, g, mine = block.step(h, g, mine)
            after.append(mine)
        return self.norm(g), (read + 1, tuple(after))

    def logits(self, hidden: Float[Tensor, "*b d"]) -> Float[Tensor, "*b v"]:
        return self.output.logits(hidden)
