from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from headway.core.config import require
from headway.layers.attention.cross import Cross
from headway.layers.attention.multihead import Multihead
from headway.layers.block import Block, CrossBlock
from headway.layers.connections.pre_norm import PreNorm
from headway.layers.dropout import Dropout
from headway.layers.feedforward import Feedforward
from headway.layers.norms.layer_norm import LayerNorm
from headway.layers.positions.learned_grid import LearnedGrid
from headway.models.cnn import Stage


@dataclass(frozen=True)
class Config:
    filters: int = 32  # of the first stage of the backbone; every further stage has twice as many
    stages: int = 2  # of the backbone; each halves the picture
    kernel: int = 5  # m, pixels along each side of a filter
    width: int = 128  # d, the width of every position and every query
    depth: int = 2  # blocks in the encoder, and in the decoder
    heads: int = 4  # of attention; must divide the width
    inner: int = 256  # f, the width inside the feed-forward network
    queries: int = 12  # the most objects that can be found on a picture
    dropout: float = 0.0  # on every sublayer

    def __post_init__(self) -> None:
        sizes = ("filters", "stages", "kernel", "width", "depth", "heads", "inner", "queries")
        small = [f"`{name}` must be at least 1" for name in sizes if getattr(self, name) < 1]
        require(
            *((False, message) for message in small),
            (self.heads < 1 or self.width % self.heads == 0, f"`heads` {self.heads} must divide `width` {self.width}"),
            (0 <= self.dropout <= 0.9, f"`dropout` {self.dropout} must be between 0 and 0.9"),
        )


class DETR(nn.Module):
    """DETR: objects as a set. Learned queries look at the picture, and each gives one box with a class, or nothing.

        x = CNN(picture) + p        m = encoder(x)        z = decoder(q_1 .. q_N; m), all queries at once
        p(class of i) = softmax(W z_i + b), one class is "nothing"        (cx, cy, w, h)_i = sigmoid(MLP(z_i) + a_i)

    Carion et al. 2020, "End-to-end object detection with transformers", https://arxiv.org/abs/2005.12872; lecture D.
    No anchors on a grid, no suppression of near copies: the loss matches each object with exactly one query, so the
    queries, which see each other, share the objects out. The learned start a_i of each box, spread over the picture
    at first, is from Deformable DETR (Zhu et al. 2021, https://arxiv.org/abs/2010.04159), which trains faster.
    """

    aliases = ("DETR", "detection transformer", "set prediction", "object queries")
    reads, gives = ("pictures",), ("boxes",)
    roles = {"queries": "table", "starts": "table"}

    def __init__(self, config: Config, channels: int, outputs: int) -> None:
        super().__init__()
        c = self.config = config
        widths = [channels, *(c.filters * 2**stage for stage in range(c.stages))]
        stages = [Stage(*pair, c.kernel, torch.relu, (2, 2)) for pair in pairwise(widths)]
        self.backbone = nn.Sequential(*stages)
        self.project, self.position = nn.Linear(widths[-1], c.width), LearnedGrid(c.width)
        self.encoder = nn.ModuleList(
            Block(c.width, Multihead(c.width, c.heads), Feedforward(c.width, c.inner), PreNorm, c.dropout)
            for _ in range(c.depth)
        )
        self.memory_norm, self.dropout = LayerNorm(c.width), Dropout(c.dropout)
        mixers = [(Multihead(c.width, c.heads), Cross(c.width, c.heads)) for _ in range(c.depth)]
        self.decoder: Any = nn.ModuleList(
            CrossBlock(c.width, mixer, cross, Feedforward(c.width, c.inner), PreNorm, c.dropout)
            for mixer, cross in mixers
        )
        self.norm = LayerNorm(c.width)
        self.queries = nn.Parameter(torch.randn(c.queries, c.width))
        self.starts = nn.Parameter(spread(c.queries))
        self.head = nn.Linear(c.width, outputs + 1)  # the last class is "nothing"
        self.box = nn.Sequential(nn.Linear(c.width, c.width), nn.ReLU(), nn.Linear(c.width, 4))

    def forward(self, pictures: Float[Tensor, "b c y x"]) -> Float[Tensor, "b q d"]:
        """The queries after the last block."""
        return self.states(pictures)[-1]

    def states(self, pictures: Float[Tensor, "b c y x"]) -> Float[Tensor, "l b q d"]:
        """The queries after each block of the decoder: each can be asked for boxes (auxiliary losses)."""
        x = self.project(self.backbone(pictures).movedim(1, -1))
        x = self.dropout((x + self.position(*x.shape[1:3])).flatten(1, 2))
        for block in self.encoder:
            x = block(x)
        memory, z, after = self.memory_norm(x), self.queries.expand(len(x), -1, -1), []
        for block in self.decoder:
            z = block(z, block.cross.remember(memory, None))
            after.append(self.norm(z))
        return torch.stack(after)

    def logits(self, states: Float[Tensor, "*l b q d"]) -> Float[Tensor, "*l b q c"]:
        return self.head(states)

    def boxes(self, states: Float[Tensor, "*l b q d"]) -> Float[Tensor, "*l b q 4"]:
        """(cx, cy, w, h) in shares of the picture."""
        return (self.box(states) + self.starts).sigmoid()


def spread(queries: int) -> Float[Tensor, "q 4"]:
    """First boxes, before the sigmoid: middles spread evenly over the picture (a Kronecker sequence), a quarter as wide."""
    steps = torch.tensor([0.7548776662466927, 0.5698402909980532])  # 1/g and 1/g^2 with g^3 = g + 1
    middles = (0.5 + torch.arange(queries)[:, None] * steps) % 1
    return torch.cat((middles, torch.full_like(middles, 0.25)), -1).clamp(0.02, 0.98).logit()
