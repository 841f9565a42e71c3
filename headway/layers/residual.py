"""Residual arrangements: where the norm stands around a sublayer F."""

from collections.abc import Callable

from torch import Tensor, nn

from headway.layers.dropout import Dropout


class PreNorm(nn.Module):
    """y = x + dropout(F(norm(x))): an identity path through the whole stack, so it trains without care.

    Xiong et al. 2020, "On layer normalization in the Transformer architecture", https://arxiv.org/abs/2002.04745.
    """

    def __init__(self, width: int, dropout: float) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.dropout = Dropout(dropout)

    def forward(self, x: Tensor, sublayer: Callable[[Tensor], Tensor]) -> Tensor:
        return x + self.dropout(sublayer(self.norm(x)))

    @staticmethod
    def final(width: int) -> nn.Module:
        """What stands at the end of the stack: nobody has normalised the sum yet."""
        return nn.LayerNorm(width)


class PostNorm(nn.Module):
    """y = norm(x + dropout(F(x))): the arrangement of Vaswani et al. 2017. Needs warm-up; deep stacks need DeepNorm."""

    def __init__(self, width: int, dropout: float) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.dropout = Dropout(dropout)

    def forward(self, x: Tensor, sublayer: Callable[[Tensor], Tensor]) -> Tensor:
        return self.norm(x + self.dropout(sublayer(x)))

    @staticmethod
    def final(width: int) -> nn.Module:
        return nn.Identity()


RESIDUALS: dict[str, type[PreNorm] | type[PostNorm]] = {"pre": PreNorm, "post": PostNorm}
