from dataclasses import dataclass

from jaxtyping import Float
from torch import Tensor, nn

from headway.core.config import require
from headway.layers.connections.pre_norm import PreNorm
from headway.layers.dropout import Dropout
from headway.layers.feedforward import Feedforward
from headway.layers.linear import Linear


@dataclass(frozen=True)
class Config:
    width: int = 256  # d, numbers that pass from block to block
    depth: int = 4  # residual blocks
    inner: int = 256  # f, units inside a block
    dropout: float = 0.1  # on what each block adds, and before the head

    def __post_init__(self) -> None:
        require(
            (min(self.width, self.depth, self.inner) >= 1, "`width`, `depth` and `inner` must be at least 1"),
            (0 <= self.dropout <= 0.9, f"`dropout` {self.dropout} must be between 0 and 0.9"),
        )


class ResidualMLP(nn.Module):
    """Residual multi-layer perceptron: each block adds to its input, so that a hundred of them can be trained.

        h_0 = V vec(x) + a        h_l = h_{l-1} + W_l2 relu(W_l1 norm(h_{l-1}) + b_l1) + b_l2        p(class) = softmax(W norm(h_depth) + b)

    The last matrix and bias of each block start at zero: the network begins as a linear one, and its gradient passes unchanged
    through all blocks. He et al. 2015, https://arxiv.org/abs/1512.03385, without convolutions; norm is layer
    normalisation. Lecture C, section 2.3.
    """

    aliases = ("residual MLP", "residual multi-layer perceptron", "ResMLP", "fully connected ResNet")
    reads, gives = ("pictures", "vectors"), ("one vector",)

    def __init__(self, config: Config, features: int, outputs: int) -> None:
        super().__init__()
        c = self.config = config
        self.first = Linear(features, c.width)
        self.around = nn.ModuleList(PreNorm(c.width, c.dropout) for _ in range(c.depth))
        blocks = [Feedforward(c.width, c.inner) for _ in range(c.depth)]
        self.blocks = nn.ModuleList(blocks)
        self.norm, self.dropout = PreNorm.final(c.width), Dropout(c.dropout)
        self.head = Linear(c.width, outputs)
        for block in blocks:
            nn.init.zeros_(block.down.weight)
            nn.init.zeros_(block.down.bias)

    def forward(self, x: Float[Tensor, "b *_"]) -> Float[Tensor, "b d"]:
        h = self.first(x.flatten(1))
        for around, block in zip(self.around, self.blocks, strict=True):
            h = around(h, block)
        return self.dropout(self.norm(h))

    def logits(self, hidden: Float[Tensor, "b d"]) -> Float[Tensor, "b c"]:
        return self.head(hidden)
