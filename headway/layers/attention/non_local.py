from jaxtyping import Float
from torch import Tensor, nn

from headway.layers.attention.weights import Weights
from headway.layers.scores.dot import Dot


class NonLocal(nn.Module):
    """Non-local block: every pixel of a feature map looks at every other, and what it finds is added to it.

        y_t = sum_s softmax_s(theta(x_t) . phi(x_s)) g(x_s),        z_t = x_t + W_z y_t        (embedded Gaussian)

    theta, phi and g are 1 x 1 convolutions to half the channels. W_z starts at zero, so the block starts as the identity and can be put
    into a network that is trained already. Wang, Girshick, Gupta, He 2018, https://arxiv.org/abs/1711.07971; lecture A.
    """

    aliases = ("non-local block", "non-local network", "non-local neural network", "embedded Gaussian")
    shape = "grid"

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.project = nn.Conv2d(channels, 3 * max(1, channels // 2), 1)  # theta, phi and g in one product
        self.weights = Weights(Dot(max(1, channels // 2)))
        self.output = nn.Conv2d(max(1, channels // 2), channels, 1)  # W_z
        nn.init.zeros_(self.output.weight)
        nn.init.zeros_(self.output.bias)  # type: ignore[arg-type]

    def forward(self, x: Float[Tensor, "b c y x"]) -> Float[Tensor, "b c y x"]:
        theta, phi, g = self.project(x).flatten(2).transpose(1, 2).unsqueeze(1).chunk(3, -1)  # b 1 t e
        y = self.weights(theta, phi, g).squeeze(1).transpose(1, 2).unflatten(2, x.shape[2:])
        return x + self.output(y)
