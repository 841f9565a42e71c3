import copy

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from headway.layers.attention.refusals import at_least
from headway.layers.attention.sparse import Cache, Plan, Sparse, attend
from headway.layers.masks import Mask

SMALLEST = 32  # queries in a block: for narrower windows the products would be too small to be worth a call


class Longformer(Sparse):
    """Longformer: a dilated sliding window, and a few global tokens that see everything and are seen by everybody.

        P(t) = {s : |t - s| <= window * dilation and dilation divides t - s}  +  {s < first};    P(t) = everything for t < first

    A sparse attention pattern, O(t (window + first)). What the global tokens see, they see through projections Q_g,
    K_g, V_g of their own, which begin as copies of the others, as in the paper. The causal form has none: there a
    global token is one that all others see, and the state is the last `window * dilation` keys and the global ones. All
    heads have one dilation. Beltagy et al. 2020, https://arxiv.org/abs/2004.05150.

    window     keys on each side
    dilation   the distance from one of them to the next
    first      positions at the beginning that are global
    """

    aliases = ("Longformer", "sliding window attention", "dilated window attention")
    sees, needs_positions = "mask", True

    def __init__(
        self, width: int, heads: int, mask: Mask | None = None, window: int = 128, dilation: int = 1, first: int = 1
    ) -> None:
        at_least(0, window=window, first=first)
        at_least(1, dilation=dilation)
        super().__init__(width, heads, mask, "longformer", first)
        self.window = window  # keys on each side
        self.dilation = dilation
        self.project_global = copy.deepcopy(self.project) if first and not self.causal else None  # Q_g, K_g, V_g

    def global_projections(
        self, x: Float[Tensor, "b t d"], q: Float[Tensor, "b t d"], kv: Float[Tensor, "b t 2*d"]
    ) -> tuple[Float[Tensor, "b first d"], Float[Tensor, "b t 2*d"]]:
        if self.project_global is None:
            return super().global_projections(x, q, kv)
        q_g, kv_g = self.project_global(x).split((x.shape[-1], 2 * x.shape[-1]), -1)
        return q_g[:, : self.first], kv_g

    def plan(self, length: int, real: Int[Tensor, "b"]) -> Plan:
        """Positions with the same remainder modulo the dilation are a sequence of their own, with a plain window."""
        parts = -(-length // self.dilation)  # the longest such sequence
        block, reach = min(max(self.window, SMALLEST), parts), min(self.window, parts - 1)
        start = torch.arange(0, parts, block, device=real.device)[:, None]
        offset = torch.arange(-reach, block if self.causal else block + reach, device=real.device)
        remainder = torch.arange(self.dilation, device=real.device)[:, None, None]
        t, s = (
            ((start + o) * self.dilation + remainder).flatten(0, 1) for o in (offset[reach : reach + block], offset)
        )
        s = s.where((s >= self.first) & (s < length), -1)
        everybody = torch.arange(min(self.first, length), device=real.device).expand(len(s), -1)
        return t, torch.cat((everybody, s), 1)[None]

    def keeps(self, t: Int[Tensor, "..."], s: Int[Tensor, "..."]) -> Bool[Tensor, "..."]:
        return super().keeps(t, s) & ((s < self.first) | ((t - s).abs() <= self.window * self.dilation))

    def step(self, x: Float[Tensor, "b d"], state: Cache) -> tuple[Float[Tensor, "b d"], Cache]:
        """One position. The state holds the global keys, then the latest ones: distances need no count of positions."""
        q, new = self.project(x)[:, None].split((x.shape[1], 2 * x.shape[1]), -1)
        kv = torch.cat((*state, new), 1)
        held = kv.shape[1]
        first = min(self.first, held)
        near = kv[:, first + (held - 1 - first) % self.dilation :: self.dilation]  # every dilation-th, up to the latest
        y = attend(q, torch.cat((kv[:, :first], near), 1), self.heads)
        if held > self.first + self.window * self.dilation:  # the oldest of the window is out of reach from now on
            kv = torch.cat((kv[:, : self.first], kv[:, self.first + 1 :]), 1)
        return self.output(y[:, 0]), (kv,)
