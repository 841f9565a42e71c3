from collections.abc import Callable

from torch import Tensor, nn

from headway.layers.dropout import Dropout
from headway.layers.norms.layer_norm import LayerNorm


class PreNorm(nn.Module):
    """Pre-norm residual connection: y = x + dropout(F(norm(x))), an identity path through the whole stack, so it trains without care.

    With all weights of F zero, x passes unchanged. He et al. 2015 for x + F(x), https://arxiv.org/abs/1512.03385, lecture C; Xiong et al.
    2020, "On layer normalization in the Transformer architecture", https://arxiv.org/abs/2002.04745, for the norm in front of F.
    """

    aliases = ("residual connection", "skip connection", "residual block", "ResNet connection", "Pre-LN")

    def __init__(self, width: int, dropout: float, norm: type[nn.Module] = LayerNorm) -> None:
        super().__init__()
        self.norm = norm(width)
        self.dropout = Dropout(dropout)

    def forward(self, x: Tensor, sublayer: Callable[[Tensor], Tensor]) -> Tensor:
        return x + self.dropout(sublayer(self.norm(x)))

    @staticmethod
    def final(width: int, norm: type[nn.Module] = LayerNorm) -> nn.Module:
        """What stands at the end of the stack, where the sum is not normalised yet."""
        return norm(width)
