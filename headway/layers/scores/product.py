from jaxtyping import Float
from torch import Tensor, nn


class Product(nn.Module):
    """What all scores that are dot products share: e_ts = scale * query(q_t) . key(k_s), which the fused kernel can compute.

    Queries and keys are transformed one by one, so a key is transformed once, before it is cached.
    """

    scale: float = 1.0

    def query(self, q: Float[Tensor, "b h t e"]) -> Float[Tensor, "b h t e"]:
        return q

    def key(self, k: Float[Tensor, "b h s e"]) -> Float[Tensor, "b h s e"]:
        return k

    def forward(self, q: Float[Tensor, "b h t e"], k: Float[Tensor, "b h s e"]) -> Float[Tensor, "b h t s"]:
        """The scores of queries and keys that are transformed already."""
        return (q * self.scale) @ k.transpose(-2, -1)
