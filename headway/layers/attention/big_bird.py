import torch
from jaxtyping import Float, Int
from torch import Tensor

from headway.layers.attention.refusals import at_least
from headway.layers.attention.sparse import Cache, Plan, Sparse, attend
from headway.layers.masks import Mask

ROWS = 1024  # blocks until the random draws repeat


class BigBird(Sparse):
    """Big Bird: every block of positions sees its neighbours, the first blocks (which see everything), and a few blocks at random.

        P(t) = {s : |B(t) - B(s)| <= window  or  B(s) < first  or  B(s) in R(B(t))},    B(t) = floor(t / block); P(t) =
        everything for B(t) < first;    R(i): `random` of the blocks that i does not see otherwise, or all where there
        are fewer

    A sparse attention pattern, O(t). The draws come from integers u, drawn once from torch's generator at construction
    and saved with the weights; all heads share them (in the paper each head draws its own). The causal form, which the
    paper does not have, intersects everything with s <= t and draws among the blocks of the past. Zaheer et al. 2020,
    https://arxiv.org/abs/2007.14062.

    block    positions of a block
    window   neighbouring blocks on each side
    first    blocks at the beginning that are global
    random   blocks drawn at random for each block
    """

    aliases = ("Big Bird", "BigBird", "sparse interactions", "sparse attention")
    sees, needs_positions = "mask", True
    u: Tensor

    def __init__(
        self,
        width: int,
        heads: int,
        mask: Mask | None = None,
        block: int = 64,
        window: int = 1,
        first: int = 2,
        random: int = 3,
    ) -> None:
        at_least(1, block=block)
        at_least(0, window=window, first=first, random=random)
        super().__init__(width, heads, mask, "big_bird", first * block)  # there `first` counts positions, here blocks
        self.block = block  # positions
        self.window = window  # blocks on each side
        self.register_buffer("u", torch.randint(2**31, (ROWS, random)))

    def blocks(self, i: Int[Tensor, "n"], count: Int[Tensor, "b"], most: int) -> Int[Tensor, "#b n _"]:
        """The blocks that block i sees when there are `count`, none twice, -1 for none; `most` is the largest count."""
        first = self.first // self.block
        everybody = torch.arange(first, device=i.device).expand(len(i), -1)
        near = i[:, None] + torch.arange(-self.window, 1 if self.causal else self.window + 1, device=i.device)
        near = near.where((near >= first) & (near < most), -1)
        known = torch.cat((everybody.where(everybody < most, -1), near), 1)
        drawn = self._draw(i, i[None] + 1 if self.causal else count[:, None])
        found = torch.cat((known.expand(len(drawn), -1, -1), drawn), -1)
        return found.sort(-1, descending=True).values[..., :most]

    def _draw(self, i: Int[Tensor, "n"], count: Int[Tensor, "#b #n"]) -> Int[Tensor, "#b n r"]:
        """R(i), drawn without replacement: the k-th is number u mod (m - k) of the m others that are not taken.

        The others are two runs of blocks: from `first` to the window of i, and from there to the last block.
        """
        first = self.first // self.block
        start = (i - self.window).clamp(min=first)  # the first block of the window, and below the first one behind it
        behind = (i + (0 if self.causal else self.window)).clamp(min=first - 1) + 1
        others = start - first + (count - behind).clamp(min=0)
        taken = others.new_empty((*others.shape, 0))
        for k, u in enumerate(self.u[i % ROWS].unbind(1)):
            number = u % (others - k).clamp(min=1)
            for before in taken.sort(-1).values.unbind(-1):
                number = number + (number >= before)
            taken = torch.cat((taken, number[..., None]), -1)
        drawn = taken + first
        drawn = drawn + (behind - start)[:, None] * (drawn >= start[:, None])
        return drawn.where(torch.arange(self.u.shape[1], device=i.device) < others[..., None], -1)

    def plan(self, length: int, real: Int[Tensor, "b"]) -> Plan:
        block = min(self.block, length)
        t = torch.arange(-(-length // block) * block, device=real.device).unflatten(0, (-1, block))
        found = self.blocks(torch.arange(len(t), device=real.device), (real.clamp(min=1) + block - 1) // block, len(t))
        s = (found[..., None] * block + t[0]).where(found[..., None] >= 0, -1).flatten(2)
        return t, s.where(s < length, -1)

    def step(self, x: Float[Tensor, "b d"], state: Cache) -> tuple[Float[Tensor, "b d"], Cache]:
        """One position. All keys are held, since a later block may draw any of them; only those of the pattern are read."""
        q, new = self.project(x)[:, None].split((x.shape[1], 2 * x.shape[1]), -1)
        kv = torch.cat((*state, new), 1)
        now = kv.shape[1] - 1
        i = torch.full((1,), now // self.block, device=x.device)
        found = self.blocks(i, i + 1, now // self.block + 1)[0, 0]
        s = (found[:, None] * self.block + torch.arange(self.block, device=x.device)).flatten()
        s = s.where(found.repeat_interleave(self.block, output_size=len(s)) >= 0, now + 1)  # beyond the last: not seen
        allowed = (s <= now).expand(len(x), 1, -1)
        return self.output(attend(q, kv[:, s.clamp(max=now)], self.heads, allowed)[:, 0]), (kv,)
