import torch
from jaxtyping import Float
from torch import Tensor, nn

from headway.core.errors import UsageError


class Learned(nn.Module):
    """Learned positions: one free vector per position, up to a longest length.

    Gehring et al. 2017, https://arxiv.org/abs/1705.03122; Vaswani et al. 2017 found them equal to the sinusoidal ones.

    longest   positions that there is a vector for
    """

    aliases = ("learned positional embedding", "learned positional encoding")
    roles = {"table": "table"}
    acts = "inputs"

    def __init__(self, width: int, longest: int = 1024) -> None:
        super().__init__()
        self.table = nn.Parameter(torch.empty(longest, width))
        nn.init.normal_(self.table, std=0.02)

    def forward(self, length: int, offset: int = 0) -> Float[Tensor, "t d"]:
        """Positions offset .. offset + length - 1."""
        if offset + length > len(self.table):
            raise UsageError(
                f"position {offset + length} was asked of learned positions that end at {len(self.table)}",
                "shorten the input, or train with another `--model.position` (`headway list positions`).",
            )
        return self.table[offset : offset + length]
