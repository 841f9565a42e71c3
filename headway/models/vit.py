from dataclasses import dataclass
from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor, nn

from headway.core.config import require
from headway.layers.activations import gelu
from headway.layers.attention.multihead import Multihead
from headway.layers.block import Block
from headway.layers.connections.pre_norm import PreNorm
from headway.layers.dropout import Dropout
from headway.layers.feedforward import Feedforward
from headway.layers.patches import EarlyConvolutions, Patches
from headway.layers.positions.learned import Learned

TOKENS = {"patches": Patches, "convolutions": EarlyConvolutions}


@dataclass(frozen=True)
class Config:
    patch: int = 4  # p, pixels along each side of a patch
    width: int = 64  # d, numbers of each patch
    depth: int = 6  # blocks
    heads: int = 4  # must divide the width
    inner: int = 128  # f, the width inside the feed-forward network
    tokens: Literal["patches", "convolutions"] = "patches"  # how a patch becomes d numbers: one matrix, or convolutions
    dropout: float = 0.1  # on every sublayer, on the patches and before the head

    def __post_init__(self) -> None:
        least = min(self.patch, self.width, self.depth, self.heads, self.inner)
        require(
            (least >= 1, "`patch`, `width`, `depth`, `heads` and `inner` must be at least 1"),
            (self.heads < 1 or self.width % self.heads == 0, f"`heads` {self.heads} must divide `width` {self.width}"),
            (0 <= self.dropout <= 0.9, f"`dropout` {self.dropout} must be between 0 and 0.9"),
        )


class ViT(nn.Module):
    """Vision Transformer: patches of a picture read like the words of a sentence, beside one vector that collects the answer.

        X = [c ; z_1 ; ... ; z_n] + P    X <- X + attention(norm(X))    X <- X + W_2 gelu(W_1 norm(X))    h = norm(X)_c

    z are the patches (`layers/patches.py`) row by row, c is the class token, P a learned position for each of them. Nothing
    but P tells which patches are neighbours, so it needs more pictures than a convolutional network, or
    `tokens="convolutions"`. 205,962 parameters as it comes, for grey pictures of 28 x 28 in 10 classes. Dosovitskiy et
    al. 2021, "An image is worth 16x16 words", https://arxiv.org/abs/2010.11929; lectures A to D.
    """

    aliases = ("Vision Transformer", "ViT", "image Transformer", "compact convolutional Transformer")
    reads, gives = ("pictures",), ("one vector",)
    roles = {"token": "table"}

    def __init__(self, config: Config, channels: int, height: int, width: int, outputs: int) -> None:
        super().__init__()
        c = self.config = config
        self.patches = TOKENS[c.tokens](channels, c.width, c.patch)
        self.grid = (-(-height // c.patch), -(-width // c.patch))  # rows and columns of patches
        self.position = Learned(c.width, 1 + self.grid[0] * self.grid[1])  # P
        self.token = nn.Parameter(0.02 * torch.randn(1, c.width))  # c
        self.blocks = nn.ModuleList(
            Block(c.width, Multihead(c.width, c.heads), Feedforward(c.width, c.inner, gelu), PreNorm, c.dropout)
            for _ in range(c.depth)
        )
        self.norm, self.dropout = PreNorm.final(c.width), Dropout(c.dropout)
        self.head = nn.Linear(c.width, outputs)

    def forward(self, pictures: Float[Tensor, "b c y x"]) -> Float[Tensor, "b d"]:
        z = self.patches(pictures).flatten(1, 2)
        x = torch.cat((self.token.expand(len(z), 1, -1), z), 1)
        x = self.dropout(x + self.position(x.shape[1]))
        for block in self.blocks:
            x = block(x)
        return self.dropout(self.norm(x[:, 0]))

    def logits(self, hidden: Float[Tensor, "b d"]) -> Float[Tensor, "b c"]:
        return self.head(hidden)
