import torch
from jaxtyping import Float
from torch import Tensor, nn

from headway.core.errors import UsageError


class LearnedGrid(nn.Module):
    """Learned positions of a grid of patches: p_yx = [a_y, b_x], one free vector per row beside one per column.

    `learned` over the patches read row by row is the alternative, with a vector per patch and one size of grid only. Dosovitskiy et
    al. 2021, "An image is worth 16x16 words", https://arxiv.org/abs/2010.11929, appendix D.4, found no difference in accuracy.

    longest   rows, and columns, that there is a vector for
    """

    aliases = ("2-D positional embedding", "2D learned positions", "patch positions")
    roles = {"rows": "table", "columns": "table"}
    acts = "inputs"

    def __init__(self, width: int, longest: int = 64) -> None:
        super().__init__()
        self.rows = nn.Parameter(torch.empty(longest, width - width // 2))  # a
        self.columns = nn.Parameter(torch.empty(longest, width // 2))  # b
        for table in (self.rows, self.columns):
            nn.init.normal_(table, std=0.02)

    def forward(self, rows: int, columns: int) -> Float[Tensor, "y x d"]:
        """Positions of a grid of so many rows and columns."""
        longest = len(self.rows)
        if max(rows, columns) > longest:
            raise UsageError(
                f"a grid of {rows} x {columns} patches was asked of learned positions that end at {longest}",
                f"make larger patches, or positions with `longest` {max(rows, columns)}.",
            )
        a = self.rows[:rows, None].expand(-1, columns, -1)
        return torch.cat((a, self.columns[:columns].expand(rows, -1, -1)), -1)
