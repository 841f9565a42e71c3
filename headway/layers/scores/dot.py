from jaxtyping import Float
from torch import Tensor, nn


class Dot(nn.Module):
    """Dot product: e_ts = q_t . k_s, the score of the lecture's seq2seq with attention (e_i = h_t . h_i^enc).

    Luong, Pham, Manning 2015, "Effective approaches to attention-based neural machine translation", https://arxiv.org/abs/1508.04025.
    """

    aliases = ("dot product", "dot_product", "Luong dot")

    def __init__(self, width: int) -> None:
        super().__init__()
        self.scale = 1.0

    def forward(self, q: Float[Tensor, "b h t e"], k: Float[Tensor, "b h s e"]) -> Float[Tensor, "b h t s"]:
        return q @ k.transpose(-2, -1)
