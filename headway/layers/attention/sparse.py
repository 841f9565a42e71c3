"""What longformer and big_bird share: softmax attention that computes only what its pattern keeps, query block by query block."""

import torch
import torch.nn.functional as F
from einops import rearrange
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from headway.layers.attention.refusals import wants_causal
from headway.layers.linear import Linear
from headway.layers.masks import Mask
from headway.layers.padding import require_right_padding

Plan = tuple[Int[Tensor, "n q"], Int[Tensor, "#b n k"]]
Cache = tuple[Float[Tensor, "b _ _"]]  # keys and values side by side


class Sparse(nn.Module):
    """Attention of blocks of queries to the keys that a plan lists for each block. Subclasses write `plan` and `step`.

        y_t = sum_{s in P(t)} softmax_{s in P(t)}(q_t . k_s / sqrt(e)) v_s        P(t): row t of `pattern(length)`

    The first `first` positions are global: everybody sees them and they see everybody. The causal form intersects all that with s <= t.

    mixer   the name of the subclass, for error messages
    first   positions at the beginning that are global
    """

    def __init__(self, width: int, heads: int, mask: Mask | None, mixer: str, first: int) -> None:
        super().__init__()
        self.heads = heads
        self.causal = wants_causal(mask, mixer)
        self.first = first
        self.project = Linear(width, 3 * width)  # Q, K and V of all heads in one product
        self.output = Linear(width, width)

    def plan(self, length: int, real: Int[Tensor, "b"]) -> Plan:
        """Positions t of the n blocks of q queries, and positions s of the k keys each block is given: none twice, -1 for none.

        The queries are a permutation of 0, 1, ...; those from `length` on fill up the last block. `real` is the length of each row without
        its padding: a pattern that depends on the length depends on this one, so that padding does not change it.
        """
        raise TypeError(f"`{type(self).__name__}` is a sparse attention without a plan")

    def keeps(self, t: Int[Tensor, "..."], s: Int[Tensor, "..."]) -> Bool[Tensor, "..."]:
        """Which of the planned keys s the query t keeps."""
        return (s >= 0) & (s <= t) if self.causal else (s >= 0).expand(torch.broadcast_shapes(t.shape, s.shape))

    def pattern(self, length: int) -> Bool[Tensor, "t s"]:
        """Which keys s a query t sees, written out: dense attention under this mask gives the same numbers."""
        t, s = self.plan(length, torch.tensor([length], device=self.output.weight.device))
        t, s = t[:, :, None], s[0, :, None, :]
        # the last column takes what is not seen
        seen = torch.zeros(t.numel(), length + 1, dtype=torch.bool, device=t.device)
        seen[t.expand(-1, -1, s.shape[-1]), s.where(self.keeps(t, s), length)] = True
        seen = seen[:length, :length]
        seen[: self.first] = True
        return seen.tril() if self.causal else seen

    def forward(self, x: Float[Tensor, "b t d"], keep: Bool[Tensor, "b t"] | None = None) -> Float[Tensor, "b t d"]:
        """`keep` is False at padding; in the causal form padding on the right is invisible already."""
        require_right_padding(keep)
        if not x.numel():
            return self.output(x)
        batch, length, width = x.shape
        keep = None if self.causal else keep
        positions = torch.arange(length, device=x.device)
        t, s = self.plan(length, positions[-1:] + 1 if keep is None else (keep * (positions + 1)).amax(1))
        row, queries, keys = (
            torch.arange(batch, device=x.device)[:, None, None],
            t.clamp(max=length - 1)[None],
            s.clamp(min=0),
        )
        allowed = self.keeps(t[:, :, None], s[:, :, None, :])  # b n q k
        if keep is not None:
            allowed = allowed & keep[row, keys][:, :, None, :]
        # A query without any key (padding, or the rest of the last block) sees everything: it is dropped later, but
        # would be NaN in some kernels.
        allowed = (allowed | ~allowed.any(-1, keepdim=True)).expand(batch, -1, -1, -1)
        q, kv = self.project(x).split((width, 2 * width), -1)
        y = attend(q[row, queries].flatten(0, 1), kv[row, keys].flatten(0, 1), self.heads, allowed.flatten(0, 1))
        y = y.reshape(batch, -1, width)[:, t.flatten().argsort()[:length]]
        if self.first and not self.causal:
            some = None if keep is None else (keep | ~keep.any(1, keepdim=True))[:, None, :]
            y = torch.cat((attend(*self.global_projections(x, q, kv), self.heads, some), y[:, self.first :]), 1)
        return self.output(y)

    def global_projections(
        self, x: Float[Tensor, "b t d"], q: Float[Tensor, "b t d"], kv: Float[Tensor, "b t 2*d"]
    ) -> tuple[Float[Tensor, "b first d"], Float[Tensor, "b t 2*d"]]:
        """Queries of the global positions, and the keys and values that they look at: here those of everybody."""
        return q[:, : self.first], kv

    def start(self, batch: int) -> Cache:
        """Keys and values of nothing, side by side."""
        return (self.output.weight.new_empty(batch, 0, 2 * self.output.in_features),)

    def step(self, x: Float[Tensor, "b d"], state: Cache) -> tuple[Float[Tensor, "b d"], Cache]:
        """One position, given the keys and values of those before it."""
        raise TypeError(f"`{type(self).__name__}` is a sparse attention without a step")


def attend(
    q: Float[Tensor, "b t d"], kv: Float[Tensor, "b s 2*d"], heads: int, allowed: Bool[Tensor, "b #t s"] | None = None
) -> Float[Tensor, "b t d"]:
    """softmax(q k^T / sqrt(e)) v in each head, by torch's kernel."""
    q, k, v = (rearrange(y, "b s (h e) -> b h s e", h=heads) for y in (q, *kv.chunk(2, -1)))
    y = F.scaled_dot_product_attention(q, k, v, None if allowed is None else allowed[:, None])
    return rearrange(y, "b h t e -> b t (h e)")
