import torch
from jaxtyping import Float, Int
from torch import Tensor

from headway.layers.attention.refusals import at_least
from headway.layers.attention.sparse import Cache, Plan, Sparse, attend
from headway.layers.masks import Mask

ROWS = 1024  # blocks until the random draws repeat


class BigBird(Sparse):
    """Big Bird: every block of positions sees its neighbours, the first blocks (which see everything), and a few blocks at random.

        P(t) = {s : |B(t) - B(s)| <= window  or  B(s) < first  or  B(s) in R(B(t))},    B(t) = floor(t / block);
        P(t) = everything for B(t) < first;    R(i) = {u_i1 mod n, ..., u_ir mod n},    n blocks, causal: the i + 1 up to block i

    A sparse attention pattern, O(t). The integers u are drawn once, from torch's generator at construction, and saved with the weights. A
    random block that is seen anyway is not replaced by another. Zaheer et al. 2020, https://arxiv.org/abs/2007.14062.
    """

    aliases = ("Big Bird", "BigBird", "sparse interactions", "sparse attention")
    sees, needs_positions = "mask", True
    u: Tensor

    def __init__(
        self, width: int, heads: int, mask: Mask | None = None, block: int = 64, window: int = 1, first: int = 2, random: int = 3
    ) -> None:
        at_least(1, block=block)
        at_least(0, window=window, first=first, random=random)
        super().__init__(width, heads, mask, "big_bird", first * block)  # there `first` counts positions, here blocks
        self.block = block  # positions
        self.window = window  # blocks on each side
        self.register_buffer("u", torch.randint(2**31, (ROWS, random)))

    def blocks(self, i: Int[Tensor, "n"], count: Int[Tensor, "b"]) -> Int[Tensor, "#b n _"]:
        """The blocks that block i sees when there are `count`: none twice, -1 for none."""
        everybody = torch.arange(self.first // self.block, device=i.device)
        near = i[:, None] + torch.arange(-self.window, 1 if self.causal else self.window + 1, device=i.device)
        drawn = self.u[i % ROWS] % (i[None, :, None] + 1 if self.causal else count[:, None, None])
        found = torch.cat((*(b.expand(*drawn.shape[:-1], -1) for b in (everybody, near)), drawn), -1)
        twice = (found[..., :, None] == found[..., None, :]).tril(-1).any(-1)
        found = found.masked_fill(twice | (found > i.max()), -1).clamp(min=-1).sort(-1, descending=True).values
        return found[..., : int((found >= 0).sum(-1).max())]

    def plan(self, length: int, real: Int[Tensor, "b"]) -> Plan:
        block = min(self.block, length)
        t = torch.arange(-(-length // block) * block, device=real.device).unflatten(0, (-1, block))
        found = self.blocks(torch.arange(len(t), device=real.device), (real.clamp(min=1) + block - 1) // block)
        s = (found[..., None] * block + t[0]).where(found[..., None] >= 0, -1).flatten(2)
        return t, s.where(s < length, -1)

    def step(self, x: Float[Tensor, "b d"], state: Cache) -> tuple[Float[Tensor, "b d"], Cache]:
        """One position. All keys are held, since a later block may draw any of them; only those of the pattern are read."""
        q, new = self.project(x)[:, None].split((x.shape[1], 2 * x.shape[1]), -1)
        kv = torch.cat((*state, new), 1)
        now = torch.tensor([kv.shape[1] - 1], device=x.device)
        found = self.blocks(now // self.block, now)[0, 0]
        s = (found[found >= 0, None] * self.block + torch.arange(self.block, device=x.device)).flatten()
        return self.output(attend(q, kv[:, s[s <= now]], self.heads)[:, 0]), (kv,)
