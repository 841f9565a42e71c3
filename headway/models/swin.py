from dataclasses import dataclass

import torch.nn.functional as F
from einops import rearrange
from jaxtyping import Float
from torch import Tensor, nn

from headway.core.config import require
from headway.layers.activations import gelu
from headway.layers.attention.shifted_window import ShiftedWindow
from headway.layers.connections.pre_norm import PreNorm
from headway.layers.dropout import Dropout
from headway.layers.feedforward import Feedforward
from headway.layers.norms.layer_norm import LayerNorm
from headway.layers.patches import Patches


@dataclass(frozen=True)
class Config:
    patch: int = 2  # p, pixels along each side of a patch
    window: int = 4  # patches along each side of a window
    width: int = 32  # d, of the first stage; every further stage has twice as much
    heads: int = 2  # of the first stage; every further stage has twice as many
    depth: int = 3  # stages, of two blocks each; between them four patches become one
    expansion: int = 2  # the feed-forward network is this many times as wide as its stage
    dropout: float = 0.1  # on every sublayer, and before the head

    def __post_init__(self) -> None:
        least = min(self.patch, self.width, self.heads, self.depth, self.expansion)
        require(
            (least >= 1, "`patch`, `width`, `heads`, `depth` and `expansion` must be at least 1"),
            (self.window >= 2, f"`window` {self.window} must be at least 2, so that it can be shifted by half"),
            (self.heads < 1 or self.width % self.heads == 0, f"`heads` {self.heads} must divide `width` {self.width}"),
            (0 <= self.dropout <= 0.9, f"`dropout` {self.dropout} must be between 0 and 0.9"),
        )


class WindowBlock(nn.Module):
    """x -> x + attention within windows (shifted or not) -> that + feed-forward network, each behind its norm."""

    def __init__(self, width: int, heads: int, shift: int, config: Config) -> None:
        super().__init__()
        c = config
        self.attention = ShiftedWindow(width, heads, c.window, shift)
        self.feedforward = Feedforward(width, c.expansion * width, gelu)
        self.around_attention, self.around_feedforward = PreNorm(width, c.dropout), PreNorm(width, c.dropout)

    def forward(self, x: Float[Tensor, "b y x d"]) -> Float[Tensor, "b y x d"]:
        return self.around_feedforward(self.around_attention(x, self.attention), self.feedforward)


class Merging(nn.Module):
    """Four neighbouring patches become one of twice the width: W norm([x_00, x_01, x_10, x_11]). Odd sizes are filled up with zeros."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm, self.project = LayerNorm(4 * width), nn.Linear(4 * width, 2 * width, bias=False)

    def forward(self, x: Float[Tensor, "b y x d"]) -> Float[Tensor, "b _ _ e"]:
        x = F.pad(x, (0, 0, 0, x.shape[2] % 2, 0, x.shape[1] % 2))
        return self.project(self.norm(rearrange(x, "b (y i) (x j) d -> b y x (i j d)", i=2, j=2)))


class Swin(nn.Module):
    """Swin Transformer: attention within windows that shift from block to block, over patches that merge from stage to stage.

        x <- x + windows(norm(x))    x <- x + F(norm(x))    x <- x + shifted windows(norm(x))    x <- x + F(norm(x))    h = mean_yx norm(x)

    Cost grows with the number of patches, where that of a ViT grows with its square; a bias for each displacement takes
    the place of positions (`layers/attention/shifted_window.py`). Liu et al. 2021, "Swin Transformer: Hierarchical vision
    Transformer using shifted windows", https://arxiv.org/abs/2103.14030; lecture A.
    """

    aliases = ("Swin Transformer", "hierarchical vision Transformer", "shifted window Transformer")
    reads, gives = ("pictures",), ("one vector",)

    def __init__(self, config: Config, channels: int, outputs: int) -> None:
        super().__init__()
        c = self.config = config
        self.patches, self.first = Patches(channels, c.width, c.patch), LayerNorm(c.width)
        layers: list[nn.Module] = []
        for stage in range(c.depth):
            width, heads = c.width * 2**stage, c.heads * 2**stage
            if stage:
                layers.append(Merging(width // 2))
            layers += [WindowBlock(width, heads, shift, c) for shift in (0, c.window // 2)]
        self.layers = nn.ModuleList(layers)
        self.norm, self.dropout, self.head = PreNorm.final(width), Dropout(c.dropout), nn.Linear(width, outputs)

    def forward(self, pictures: Float[Tensor, "b c y x"]) -> Float[Tensor, "b d"]:
        x = self.first(self.patches(pictures))
        for layer in self.layers:
            x = layer(x)
        return self.dropout(self.norm(x).mean((1, 2)))

    def logits(self, hidden: Float[Tensor, "b d"]) -> Float[Tensor, "b c"]:
        return self.head(hidden)
