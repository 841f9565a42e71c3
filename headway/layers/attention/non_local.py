from jaxtyping import Float
from torch import Tensor, nn

from headway.layers.attention.attend import Attend
from headway.layers.linear import Linear
from headway.layers.norms.batch_norm import BatchNorm
from headway.layers.scores.dot import Dot


class NonLocal(nn.Module):
    """Non-local block: every pixel of a feature map looks at every other, and what it finds is added to it.

        y_t = sum_s softmax_s(theta(x_t) . phi(x_s)) g(x_s),        z_t = x_t + norm(W_z y_t)        (embedded Gaussian)

    theta, phi and g are 1 x 1 convolutions to half the channels, norm is batch normalisation. Its gain starts at zero,
    so the block starts as the identity and can be put into a network that is trained already. `pool` makes the maps
    phi(x) and g(x) smaller, so that there are fewer pixels to look at: the paper takes `MaxPooling(2)`, a quarter of
    the work. Wang, Girshick, Gupta, He 2018, https://arxiv.org/abs/1711.07971; lecture A.

    channels   c, numbers of one pixel
    pool       a pooling layer for keys and values; None: every pixel is looked at
    """

    aliases = ("non-local block", "non-local network", "non-local neural network", "embedded Gaussian")

    def __init__(self, channels: int, pool: nn.Module | None = None) -> None:
        super().__init__()
        inner = max(1, channels // 2)
        self.project = nn.Conv2d(channels, 3 * inner, 1)  # theta, phi and g in one product
        self.pool = pool or nn.Identity()
        self.attend = Attend(Dot(inner))
        self.output = Linear(inner, channels, bias=False)  # W_z; the norm has a bias
        self.norm = BatchNorm(channels)
        nn.init.zeros_(self.norm.weight)

    def forward(self, x: Float[Tensor, "b c y x"]) -> Float[Tensor, "b c y x"]:
        theta, phi, g = self.project(x).chunk(3, 1)
        q, k, v = (y.flatten(2).transpose(1, 2).unsqueeze(1) for y in (theta, self.pool(phi), self.pool(g)))  # b 1 t e
        y = self.norm(self.output(self.attend(q, k, v).squeeze(1)))
        return x + y.transpose(1, 2).unflatten(2, x.shape[2:])
