from collections.abc import Callable

from torch import Tensor, nn

from headway.layers.dropout import Dropout
from headway.layers.norms.layer_norm import LayerNorm


class PostNorm(nn.Module):
    """Post-norm residual connection: y = norm(x + dropout(F(x))). Needs warm-up; deep stacks need DeepNorm.

    The arrangement of Vaswani et al. 2017, https://arxiv.org/abs/1706.03762 ("Add & Norm"); lectures A, C and D.
    """

    aliases = ("Post-LN", "Add & Norm")

    def __init__(self, width: int, dropout: float, norm: type[nn.Module] = LayerNorm) -> None:
        super().__init__()
        self.norm = norm(width)
        self.dropout = Dropout(dropout)

    def forward(self, x: Tensor, sublayer: Callable[[Tensor], Tensor]) -> Tensor:
        return self.norm(x + self.dropout(sublayer(x)))

    @staticmethod
    def final(width: int, norm: type[nn.Module] = LayerNorm) -> nn.Module:
        return nn.Identity()
