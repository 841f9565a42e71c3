import torch
from jaxtyping import Float
from torch import Tensor, nn


class Sinusoidal(nn.Module):
    """Sinusoidal positions: p_{t,2k} = sin(t w_k), p_{t,2k+1} = cos(t w_k), w_k = 10000^(-2k/d).

    Nothing is learned, so any length is defined; each frequency turns by a fixed angle from one position to the next.
    Vaswani et al. 2017, https://arxiv.org/abs/1706.03762, section 3.5; lecture C prints C^(k/d), the corrected exponent is used.

    longest   positions that are kept in a table; later ones are computed when they are asked for
    """

    aliases = ("sinusoidal positional encoding", "positional encoding")
    acts = "inputs"

    def __init__(self, width: int, longest: int = 1024) -> None:
        super().__init__()
        self.width = width
        self.register_buffer("table", self._rows(0, longest, torch.empty(0)), persistent=False)
        self.table: Tensor

    def _rows(self, start: int, stop: int, like: Tensor) -> Float[Tensor, "t d"]:
        t = torch.arange(start, stop, dtype=torch.float64, device=like.device)[:, None]
        w = 10000.0 ** (-torch.arange(0, self.width, 2, dtype=torch.float64, device=like.device) / self.width)
        rows = torch.stack((torch.sin(t * w), torch.cos(t * w)), -1).flatten(1)[:, : self.width]
        return rows.to(like.dtype)

    def forward(self, length: int, offset: int = 0) -> Float[Tensor, "t d"]:
        """Positions offset .. offset + length - 1."""
        if offset + length > len(self.table):
            return self._rows(offset, offset + length, self.table)
        return self.table[offset : offset + length]
