from dataclasses import dataclass

from jaxtyping import Float
from torch import Tensor, nn

from headway.core.config import require
from headway.layers.dropout import Dropout
from headway.layers.initialisation import he_normal
from headway.layers.norms.batch_norm import BatchNorm
from headway.layers.pre_activation import PreActivation, activated, channels_last


@dataclass(frozen=True)
class Config:
    filters: int = 32  # of the first stage; every further stage has twice as many
    depth: int = 3  # stages; each but the first halves the picture
    blocks: int = 2  # residual blocks of a stage
    kernel: int = 3  # m, pixels along each side of a filter
    dropout: float = 0.1  # before the head

    def __post_init__(self) -> None:
        least = min(self.filters, self.depth, self.blocks, self.kernel)
        require(
            (least >= 1, "`filters`, `depth`, `blocks` and `kernel` must be at least 1"),
            (self.kernel % 2 == 1, f"`kernel` {self.kernel} must be odd, so that what is added has the same size"),
            (0 <= self.dropout <= 0.9, f"`dropout` {self.dropout} must be between 0 and 0.9"),
        )


class ResidualBlock(nn.Module):
    """x -> x + F(x), F two pre-activated convolutions; where the size changes, the shortcut is a convolution of 1 x 1.

    The last weights of F start at zero: every block begins as its shortcut (Goyal et al. 2017,
    https://arxiv.org/abs/1706.02677, section 5.1).
    """

    def __init__(self, inputs: int, filters: int, kernel: int, stride: int) -> None:
        super().__init__()
        self.first = PreActivation(inputs, filters, kernel, stride)
        self.second = PreActivation(filters, filters, kernel)
        same = stride == 1 and inputs == filters
        self.shortcut = None if same else nn.Conv2d(inputs, filters, 1, stride, bias=False)
        nn.init.zeros_(self.second.convolution.weight)
        if self.shortcut is not None:
            he_normal(self.shortcut.weight)

    def forward(self, x: Float[Tensor, "b c y x"]) -> Float[Tensor, "b d _ _"]:
        if self.shortcut is None:
            return self.second(self.first(x)).add_(x)  # in place: no gradient needs what a convolution gives
        a = activated(self.first.norm, x)  # the shortcut reads it, too
        return self.second(self.first.convolution(a)).add_(self.shortcut(a))


class ResNet(nn.Module):
    """Residual network: blocks that learn what to add to their input, so that deep networks train as easily as shallow ones.

        x_0 = K * x    x_l = x_{l-1} + K_l2 * relu(norm(K_l1 * relu(norm(x_{l-1}))))    h = mean_yx relu(norm(x_L))
        p(class) = softmax(W h + b)

    He et al. 2015, "Deep residual learning for image recognition", https://arxiv.org/abs/1512.03385, in its plan for small
    pictures (section 4.2: 2 x depth x blocks + 2 layers; filters double where the picture halves), with the pre-activation of
    He et al. 2016, https://arxiv.org/abs/1603.05027; lectures C and D.
    """

    aliases = ("residual network", "ResNet", "pre-activation ResNet")
    reads, gives = ("pictures",), ("one vector",)

    def __init__(self, config: Config, channels: int, outputs: int) -> None:
        super().__init__()
        c = self.config = config
        self.stem = nn.Conv2d(channels, c.filters, c.kernel, padding=c.kernel // 2, bias=False)
        blocks, inputs = [], c.filters
        for stage in range(c.depth):
            filters = c.filters * 2**stage
            for block in range(c.blocks):
                stride = 2 if stage and not block else 1
                blocks.append(ResidualBlock(inputs, filters, c.kernel, stride))
                inputs = filters
        self.blocks, self.norm = nn.ModuleList(blocks), BatchNorm(inputs)
        self.dropout, self.head = Dropout(c.dropout), nn.Linear(inputs, outputs)
        he_normal(self.stem.weight)

    def forward(self, pictures: Float[Tensor, "b c y x"]) -> Float[Tensor, "b d"]:
        x = channels_last(self.stem(pictures))
        for block in self.blocks:
            x = block(x)
        return self.dropout(activated(self.norm, x).mean((2, 3)))

    def logits(self, hidden: Float[Tensor, "b d"]) -> Float[Tensor, "b c"]:
        return self.head(hidden)
