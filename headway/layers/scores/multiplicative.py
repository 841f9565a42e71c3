import torch
from jaxtyping import Float
from torch import Tensor, nn

from headway.layers.scores.product import Product


class Multiplicative(Product):
    """Multiplicative (bilinear) score: e_ts = q_t^T W k_s.

    Luong, Pham, Manning 2015 ("general"), https://arxiv.org/abs/1508.04025.

    width   e, numbers in a query and in a key
    """

    aliases = ("Luong attention", "Luong general", "bilinear attention")
    roles = {"weight": "matrix"}

    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(width, width))
        nn.init.xavier_uniform_(self.weight)

    def key(self, k: Float[Tensor, "b h s e"]) -> Float[Tensor, "b h s e"]:
        return k @ self.weight.T
