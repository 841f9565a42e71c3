import math

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn


class RelativeBias(nn.Module):
    """Relative position biases of T5: each head adds a learned number to a score, one for each bucket of distances.

        e_ts = q_t . k_s + b[h, bucket(t - s)]

    Of the n buckets of one direction the first n/2 hold one distance each: 0, 1, 2 ...; the others grow with the
    logarithm up to `farthest`, and the last one holds all that is farther. Models share one table in all layers.
    Raffel et al. 2020, "Exploring the limits of transfer learning", https://arxiv.org/abs/1910.10683, section 2.1.

    width      e, the width of a head
    sides      2: keys before and after the query have half of the buckets each; 1: no key comes after it (a causal mask)
    buckets    how many numbers a head has
    farthest   the distance from which on all share a bucket
    """

    aliases = ("T5 positions", "relative position bias", "bucketed relative positions")
    roles = {"weight": "table"}
    acts = "scores"

    def __init__(self, width: int, heads: int, sides: int = 2, buckets: int = 32, farthest: int = 128) -> None:
        super().__init__()
        self.sides, self.farthest = sides, farthest
        self.weight = nn.Parameter(torch.randn(buckets, heads) * (heads * width) ** -0.5)

    def turn(self, x: Float[Tensor, "b h t e"], offset: int) -> Float[Tensor, "b h t e"]:
        return x

    def bias(
        self, q: Float[Tensor, "b h t e"], k: Float[Tensor, "b h s e"], offset: int, scale: float | None = None
    ) -> Float[Tensor, "1 h t s"]:
        """The biases are those of the finished scores, so the scale of the score does not matter."""
        t = torch.arange(offset, offset + q.shape[2], device=q.device)[:, None]
        s = torch.arange(k.shape[2], device=q.device)[None, :]
        return self.weight[self.bucket(t - s)].permute(2, 0, 1).unsqueeze(0).to(q.dtype)

    def bucket(self, distance: Int[Tensor, "t s"]) -> Int[Tensor, "t s"]:
        """The bucket of t - s; that of a key after the query (t < s) lies in the second half, if there are two sides."""
        n = len(self.weight) // self.sides
        near = n // 2
        after = (distance < 0).long() * n if self.sides == 2 else 0
        d = distance.abs() if self.sides == 2 else distance.clamp(min=0)
        far = torch.log(d.clamp(min=1).double() / near) / math.log(self.farthest / near) * (n - near)
        return after + torch.where(d < near, d, (near + far.long()).clamp(max=n - 1))
