from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor, nn

from headway.layers.linear import Linear


class Feedforward(nn.Module):
    """Position-wise feed-forward network: y = W_2 phi(W_1 x + b_1) + b_2, the nonlinearity that attention lacks.

    Vaswani et al. 2017, https://arxiv.org/abs/1706.03762, section 3.3, with phi = ReLU.

    inner        f, the width inside
    activation   phi
    """

    aliases = ("feed-forward network", "position-wise feed-forward network", "pointwise MLP", "FFN")

    def __init__(self, width: int, inner: int, activation: Callable[[Tensor], Tensor] = torch.relu) -> None:
        super().__init__()
        self.up = Linear(width, inner)
        self.activation = activation
        self.down = Linear(inner, width)

    def score_weights(self) -> list[Tensor]:
        """None: there are no scores."""
        return []

    def value_weights(self) -> list[Tensor]:
        """W_1 and W_2, the matrices that values pass through."""
        return [self.up.weight, self.down.weight]

    def forward(self, x: Float[Tensor, "*b d"]) -> Float[Tensor, "*b d"]:
        return self.down(self.activation(self.up(x)))
