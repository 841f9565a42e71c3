from dataclasses import dataclass

from jaxtyping import Float
from torch import Tensor, nn

from headway.core.config import require
from headway.layers.activations import gelu
from headway.layers.connections.pre_norm import PreNorm
from headway.layers.dropout import Dropout
from headway.layers.feedforward import Feedforward
from headway.layers.linear import Linear
from headway.layers.patches import Patches


@dataclass(frozen=True)
class Config:
    patch: int = 4  # p, pixels along each side of a patch
    width: int = 64  # d, numbers of each patch
    depth: int = 6  # blocks
    across: int = 64  # f_S, units of the network across patches
    inner: int = 128  # f_C, units of the network across the width
    dropout: float = 0.1  # on every sublayer, and before the head

    def __post_init__(self) -> None:
        least = min(self.patch, self.width, self.depth, self.across, self.inner)
        require(
            (least >= 1, "`patch`, `width`, `depth`, `across` and `inner` must be at least 1"),
            (0 <= self.dropout <= 0.9, f"`dropout` {self.dropout} must be between 0 and 0.9"),
        )


class MixerBlock(nn.Module):
    """X -> X + F_S(norm(X)^T)^T -> that + F_C(norm(.)): one network for all columns, one for all rows."""

    def __init__(self, patches: int, config: Config) -> None:
        super().__init__()
        c = config
        self.up, self.down = Linear(patches, c.across), Linear(c.across, patches, bias=False)
        self.within = Feedforward(c.width, c.inner, gelu)
        self.around_across, self.around_within = PreNorm(c.width, c.dropout), PreNorm(c.width, c.dropout)

    def forward(self, x: Float[Tensor, "b p d"]) -> Float[Tensor, "b p d"]:
        x = self.around_across(x, self.across)
        return self.around_within(x, self.within)

    def across(self, x: Float[Tensor, "b p d"]) -> Float[Tensor, "b p d"]:
        """W_2 gelu(W_1 x^T). A bias after W_2 would add one number to all features of a patch, which every norm removes."""
        return self.down(gelu(self.up(x.transpose(1, 2)))).transpose(1, 2)


class MLPMixer(nn.Module):
    """MLP-Mixer: a picture as a matrix of patches and features, and perceptrons that mix its columns and rows in turn.

        U = X + (W_2 gelu(W_1 norm(X)^T))^T        Y = U + W_4 gelu(W_3 norm(U))        h = 1/p sum of norm(Y_L) over the p patches

    (W_1 and W_2 across patches, the same for every feature; W_3 and W_4 within a patch; biases not written). No
    convolution but the cutting into patches, and no attention; positions need no code, because the network across patches
    tells them apart. Tolstikhin et al. 2021, https://arxiv.org/abs/2105.01601; lecture D.
    """

    aliases = ("MLP-Mixer", "Mixer", "all-MLP architecture")
    reads, gives = ("pictures",), ("one vector",)

    def __init__(self, config: Config, channels: int, height: int, width: int, outputs: int) -> None:
        super().__init__()
        c = self.config = config
        patches = -(-height // c.patch) * -(-width // c.patch)
        self.patches = Patches(channels, c.width, c.patch)
        self.blocks = nn.ModuleList(MixerBlock(patches, c) for _ in range(c.depth))
        self.norm, self.dropout = PreNorm.final(c.width), Dropout(c.dropout)
        self.head = Linear(c.width, outputs)

    def forward(self, pictures: Float[Tensor, "b c y x"]) -> Float[Tensor, "b d"]:
        x = self.patches(pictures).flatten(1, 2)
        for block in self.blocks:
            x = block(x)
        return self.dropout(self.norm(x).mean(1))

    def logits(self, hidden: Float[Tensor, "b d"]) -> Float[Tensor, "b c"]:
        return self.head(hidden)
