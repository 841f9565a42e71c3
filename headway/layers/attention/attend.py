"""The core of every attention: scores, softmax over the keys, weighted sum of the values.

    A_ts = softmax_s(e_ts + b_ts + log M_ts),    out_t = sum_s A_ts v_s        (b: what a relative position adds)

A query that may see no key at all has weights 0 and the answer 0, with finite gradients. There are two ways to the same
numbers: the fused kernel of torch, and the formula written out. The written-out one is used whenever the maps are asked
for (`recorded`), for scores that the kernel cannot compute, and for many short sequences, where it is faster; a contract
checks that both agree.
"""

import contextlib
from collections.abc import Iterator
from typing import Any

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float
from torch import Tensor, nn

from headway.layers.attention.causal import causal_attention, prefers_blocks


class Attend(nn.Module):
    """Attention weights A from a score, and the values weighted by them. Holds no parameters but the score's.

    score   the attention score (`layers/scores`)
    """

    def __init__(self, score: nn.Module) -> None:
        super().__init__()
        self.score: Any = score
        self.maps: list[Tensor] | None = None  # a list while `recorded` runs

    def forward(
        self,
        q: Float[Tensor, "b h t e"],
        k: Float[Tensor, "b h s e"],
        v: Float[Tensor, "b h s e"],
        allowed: Bool[Tensor, "#b #h #t s"] | Bool[Tensor, "t s"] | None = None,
        causal: bool = False,
        bias: Float[Tensor, "#b h t s"] | None = None,
    ) -> Float[Tensor, "b h t e"]:
        """Queries and keys come as the score wants them (`score.query(q)`, `score.key(k)`).

        `causal` says that `allowed` is None and stands for s <= t, which the kernel can do without a matrix.
        """
        masked = causal or allowed is not None or bias is not None
        if self.maps is None and self.score.scale is not None and not _are_many_short(q, k, masked):
            if causal and bias is None and prefers_blocks(q, k):
                return causal_attention(q, k, v, self.score.scale)
            if causal and bias is not None:
                causal, allowed = False, _lower_triangle(q, k)
            added = allowed if bias is None else bias if allowed is None else bias.masked_fill(~allowed, float("-inf"))
            return F.scaled_dot_product_attention(q, k, v, attn_mask=added, is_causal=causal, scale=self.score.scale)
        e = self.score(q, k)
        if causal:
            allowed = _lower_triangle(q, k)
        if bias is not None:
            e = e + bias
        if allowed is not None:
            e = e.masked_fill(~allowed, float("-inf"))
        a = _softmax(e)
        if allowed is not None:  # a row without any key is NaN here; this fills it, and stops its gradient, NaN too
            a = a.masked_fill(~allowed, 0.0)
        if self.maps is not None:
            self.maps.append(a.detach())
        return a @ v


VECTOR = 16  # numbers that torch's softmax takes at a time; shorter rows it takes number by number


def _softmax(e: Float[Tensor, "*b s"]) -> Float[Tensor, "*b s"]:
    """Softmax over the keys. Few of them are filled up with keys of weight 0, which is two to six times as fast."""
    s = e.shape[-1]
    if s >= VECTOR or not e.is_cpu:
        return e.softmax(-1)
    return F.pad(e, (0, VECTOR - s), value=float("-inf")).softmax(-1)[..., :s]


def _lower_triangle(q: Float[Tensor, "b h t e"], k: Float[Tensor, "b h s e"]) -> Bool[Tensor, "t s"]:
    return q.new_ones(q.shape[2], k.shape[2], dtype=torch.bool).tril()


def _are_many_short(q: Float[Tensor, "b h t e"], k: Float[Tensor, "b h s e"], masked: bool) -> bool:
    """Many rows of few keys: there the kernel of a CPU, which takes one row and head after the other, is the slower way.

    The limits are measured (docs/findings.md, 2026-11-18). A single query (a step of decoding) has nothing to do with few keys.
    """
    (rows, _, queries, _), keys = q.shape, k.shape[2]
    if not q.is_cpu or rows < 16:
        return False
    return keys >= 8 if queries == 1 else keys <= (32 if masked else 64)


@contextlib.contextmanager
def recorded(model: nn.Module) -> Iterator[dict[str, list[Tensor]]]:
    """Record the weights of every attention in the model, by module path, while the block runs.

    with recorded(model) as maps:
        model(source, target)
    maps["decoder.0.cross"][0]     # "b h t s" of the first call
    """
    modules = {name.removesuffix(".attend"): m for name, m in model.named_modules() if isinstance(m, Attend)}
    maps: dict[str, list[Tensor]] = {name: [] for name in modules}
    for name, module in modules.items():
        module.maps = maps[name]
    try:
        yield maps
    finally:
        for module in modules.values():
            module.maps = None
