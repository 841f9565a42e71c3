from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from headway.core.config import require
from headway.layers.activations import squared_relu
from headway.layers.attention.two_stream import TwoStream
from headway.layers.embedding import Embedding
from headway.layers.feedforward import Feedforward
from headway.layers.norms.layer_norm import LayerNorm
from headway.layers.positions.sinusoidal import Sinusoidal


@dataclass(frozen=True)
class Config:
    width: int = 256  # d, the width of every position
    depth: int = 4  # blocks
    heads: int = 4  # attention heads; must divide the width
    inner: int = 1024  # f, the width inside the feed-forward network

    def __post_init__(self) -> None:
        require(
            (min(self.width, self.depth, self.heads, self.inner) >= 1, "`width`, `depth`, `heads` and `inner` must be at least 1"),
            (self.heads < 1 or self.width % self.heads == 0, f"`heads` {self.heads} must divide `width` {self.width}"),
        )


class StreamBlock(nn.Module):
    """Two-stream attention, then the feed-forward network on both streams, with residuals and norms before each."""

    def __init__(self, width: int, heads: int, inner: int) -> None:
        super().__init__()
        self.mixer, self.feedforward = TwoStream(width, heads), Feedforward(width, inner, squared_relu)
        self.before_mixer, self.before_feedforward = LayerNorm(width), LayerNorm(width)

    def forward(self, h: Tensor, g: Tensor, rank: Tensor) -> tuple[Tensor, Tensor]:
        a, b = self.mixer(self.before_mixer(h), self.before_mixer(g), rank)
        return self._forward(h + a), self._forward(g + b)

    def step(self, h: Tensor, g: Tensor, state: Any) -> tuple[Tensor, Tensor, Any]:
        a, b, state = self.mixer.step(self.before_mixer(h), self.before_mixer(g), state)
        return self._forward(h + a), self._forward(g + b), state

    def _forward(self, x: Tensor) -> Tensor:
        return x + self.feedforward(self.before_feedforward(x))


class XLNet(nn.Module):
    """XLNet: a language model that learns to fill in a text in every order, by permuting who sees whom.

        max E_z sum_t log p(x_zt | x_z1 .. x_z(t-1))        z a random order of the places; the text itself stays where it is

    While it trains, every batch draws an order; to judge and to generate, the order is from left to right, so its figures compare with
    those of other models. The first token is given. The query for a place starts as one learned vector plus the sinusoids of the place:
    relative positions only weigh what is seen, so a query that sees a single token would not know where it stands.
    Yang et al. 2019, https://arxiv.org/abs/1906.08237; lecture A.
    """

    aliases = ("permutation language model", "permutation language modeling", "generalized autoregressive pretraining")
    task = "language"
    absolute = True

    def __init__(self, config: Config, vocabulary: int) -> None:
        super().__init__()
        c = self.config = config
        self.embedding, self.output = Embedding(vocabulary, c.width), Embedding(vocabulary, c.width)
        self.query, self.place = nn.Parameter(torch.randn(c.width)), Sinusoidal(c.width)
        self.blocks: Any = nn.ModuleList(StreamBlock(c.width, c.heads, c.inner) for _ in range(c.depth))
        self.norm = LayerNorm(c.width)

    def forward(self, ids: Int[Tensor, "b t"]) -> Float[Tensor, "b t d"]:
        """What is predicted at the places 1 .. t; in training under a random order, else from left to right."""
        t = ids.shape[1]
        later = torch.randperm(t) if self.training else torch.arange(t)
        return self.ordered(ids, torch.cat((torch.tensor([-1.0]), later.float())))

    def ordered(self, ids: Int[Tensor, "b t"], rank: Float[Tensor, "t+1"]) -> Float[Tensor, "b t d"]:
        h = self.embedding(ids)
        g = (self.query + self.place(ids.shape[1], 1)).expand_as(h)
        for block in self.blocks:
            h, g = block(h, g, rank)
        return self.norm(g)

    def start(self, batch: int) -> Any:
        return tuple(block.mixer.start(batch) for block in self.blocks)

    def step(self, token: Int[Tensor, "b"], state: Any) -> tuple[Float[Tensor, "b d"], Any]:
        h = self.embedding(token)
        g, after = (self.query + self.place(1, state[0][2] + 1)).expand_as(h), []
        for block, mine in zip(self.blocks, state, strict=True):
            h, g, mine = block.step(h, g, mine)
            after.append(mine)
        return self.norm(g), tuple(after)

    def logits(self, hidden: Float[Tensor, "*b d"]) -> Float[Tensor, "*b v"]:
        return self.output.logits(hidden)
