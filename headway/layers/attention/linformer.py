import torch
import torch.nn.functional as F
from einops import rearrange
from jaxtyping import Bool, Float
from torch import Tensor, nn

from headway.core.errors import ConfigError
from headway.layers.attention.refusals import at_least, wants_causal
from headway.layers.linear import Linear
from headway.layers.masks import Mask
from headway.layers.padding import require_right_padding


class Linformer(nn.Module):
    """Linformer: keys and values are projected along the sequence to r rows, so attention costs O(t r) instead of O(t^2).

        Y = softmax(Q (E K)^T / sqrt(e)) (F V) W_O        E, F of r rows and `longest` columns, shared by the heads

    A sequence of length t uses the first t columns of E and F, and padding counts as zero: alone or padded, the answer is the same.
    There is no causal form, since every row of E K mixes all positions. Wang et al. 2020, https://arxiv.org/abs/2006.04768.

    rank      r, rows that keys and values are projected to
    longest   positions of the longest sequence
    """

    aliases = ("Linformer", "low-rank attention", "projection tricks to O(L)")
    sees, needs_positions = "all", True
    roles = {"e": "matrix", "f": "matrix"}
    causal = False

    def __init__(self, width: int, heads: int, mask: Mask | None = None, rank: int = 64, longest: int = 512) -> None:
        super().__init__()
        at_least(1, rank=rank, longest=longest)
        if wants_causal(mask, "linformer"):
            raise ConfigError(
                "`linformer` cannot be causal: its projections mix all positions, so the future would leak into the past",
                "take `performer`, `linear_attention` or `longformer`, or leave the mask out.",
            )
        self.heads = heads
        self.longest = longest
        self.project = Linear(width, 3 * width)  # Q, K and V of all heads in one product
        # E K is of the size of K
        self.e, self.f = (nn.Parameter(torch.randn(rank, longest) * longest**-0.5) for _ in range(2))
        self.output = Linear(width, width)

    def forward(self, x: Float[Tensor, "b t d"], keep: Bool[Tensor, "b t"] | None = None) -> Float[Tensor, "b t d"]:
        """`keep` is False at padding."""
        require_right_padding(keep)
        length = x.shape[1]
        if length > self.longest:
            raise ConfigError(
                f"the sequence has {length} positions, this `linformer` projects at most `longest` = {self.longest}",
                f"construct it with `longest={length}`, or cut the sequence.",
            )
        q, k, v = self.project(x).chunk(3, -1)
        if keep is not None:
            k, v = (y.masked_fill(~keep[..., None], 0.0) for y in (k, v))
        # b r d: the heads share E and F, so they are cut afterwards
        k, v = (
            self.e[:, :length] @ k,
            self.f[:, :length] @ v,
        )
        y = F.scaled_dot_product_attention(*(rearrange(y, "b s (h e) -> b h s e", h=self.heads) for y in (q, k, v)))
        return self.output(rearrange(y, "b h t e -> b t (h e)"))
