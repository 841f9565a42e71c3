from dataclasses import dataclass, field

import torch
from jaxtyping import Float
from torch import Tensor, nn

from headway.core.config import require
from headway.layers.activations import squared_relu
from headway.layers.block import Block
from headway.layers.connections.pre_norm import PreNorm
from headway.layers.dropout import Dropout
from headway.layers.feedforward import Feedforward
from headway.layers.masks import Causal
from headway.layers.mixer import build_mixer, mixer_class
from headway.layers.positions.sinusoidal import Sinusoidal
from headway.layers.readout import Readout


@dataclass(frozen=True)
class Config:
    mixer: str = "lstm"  # which causal layer: `headway list recurrences`, `headway list attention`
    width: int = 32  # d, the width of every position
    depth: int = 1  # blocks
    heads: int = 4  # of attention mixers; must divide the width
    inner: int = 64  # f, the width inside the feed-forward network
    dropout: float = 0.1  # on every sublayer and before the head
    options: dict[str, int | float] = field(default_factory=dict)  # of the mixer: `headway show NAME`

    def __post_init__(self) -> None:
        sizes = (self.width, self.depth, self.heads, self.inner)
        require(
            (min(sizes) >= 1, "`width`, `depth`, `heads` and `inner` must be at least 1"),
            (self.heads < 1 or self.width % self.heads == 0, f"`heads` {self.heads} must divide `width` {self.width}"),
            (0 <= self.dropout <= 0.9, f"`dropout` {self.dropout} must be between 0 and 0.9"),
        )


class SeriesEncoder(nn.Module):
    """Series encoder: the past of a series, read in the order of time by any causal mixer, as one vector.

        x_t = W s_t + V z + p_t        x <- x + mixer(norm(x))        x <- x + W_2 relu(W_1 norm(x))^2
        y = U x_T + A (s, z) + b

    s_t are the values at time t and z the categories of the time that is predicted, such as its weekday. A (s, z) is an
    autoregression beside the network, after LSTNet (Lai et al. 2018, https://arxiv.org/abs/1703.07015): norms and
    saturating units lose how large a value is, which a linear part keeps, and the network learns what is left.

    With `lstm`, `gru` or `elman` the network is a recurrent one (Elman 1990, https://doi.org/10.1207/s15516709cog1402_1;
    James et al. 2023, ch. 10.5), with `multihead` a Transformer, with `mamba` a state space model. Positions are added
    if the mixer needs them. Lectures B, C and D.

    categories   k, entries of z; 0: none
    """

    aliases = ("recurrent network", "recurrent neural network", "time series encoder", "RNN for time series")
    reads, gives = ("series",), ("one vector",)
    causal = True  # its mixers look back only

    def __init__(self, config: Config, channels: int, categories: int, features: int, outputs: int) -> None:
        super().__init__()
        c = self.config = config
        self.input = nn.Linear(channels, c.width)
        self.category = nn.Linear(categories, c.width, bias=False) if categories else None
        self.position = Sinusoidal(c.width) if mixer_class(c.mixer).needs_positions else None
        blocks = [
            Block(
                c.width,
                build_mixer(c.mixer, c.width, c.heads, Causal(), c.options),
                Feedforward(c.width, c.inner, squared_relu),
                PreNorm,
                c.dropout,
            )
            for _ in range(c.depth)
        ]
        self.blocks = nn.ModuleList(blocks)
        self.head, self.dropout = Readout(c.width + features, outputs), Dropout(c.dropout)
        for block in blocks:  # every block starts as its mixer alone
            nn.init.zeros_(block.feedforward.down.weight)

    def forward(self, series: Float[Tensor, "b t c"], categories: Float[Tensor, "b k"]) -> Float[Tensor, "b d"]:
        """The state after the last value, and beside it everything that was read, for the autoregression."""
        x = self.input(series)
        if self.category is not None:
            x = x + self.category(categories)[:, None]
        if self.position is not None:
            x = x + self.position(series.shape[1])
        for block in self.blocks:
            x = block(x)
        return torch.cat([self.dropout(x[:, -1]), series.flatten(1), categories], 1)

    def logits(self, hidden: Float[Tensor, "b d"]) -> Float[Tensor, "b c"]:
        return self.head(hidden)
