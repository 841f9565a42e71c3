import torch
from jaxtyping import Float
from torch import Tensor, nn


class Multiplicative(nn.Module):
    """Multiplicative (bilinear) score: e_ts = q_t^T W k_s.

    Luong, Pham, Manning 2015 ("general"), https://arxiv.org/abs/1508.04025.
    """

    aliases = ("Luong attention", "Luong general", "bilinear attention")
    scale = None  # no fused kernel computes this score

    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(width, width))
        nn.init.xavier_uniform_(self.weight)

    def forward(self, q: Float[Tensor, "b h t e"], k: Float[Tensor, "b h s e"]) -> Float[Tensor, "b h t s"]:
        return (q @ self.weight) @ k.transpose(-2, -1)
