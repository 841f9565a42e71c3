"""Causal attention in blocks of queries: what lies behind the last query of a block is not computed.

    A_i = softmax(scale Q_i K_1..i^T + log M),    Y_i = A_i V_1..i        for each block i of queries
    dV = sum_i A_i^T G_i,   dA_i = G_i V^T,   dE_i = A_i (dA_i - sum_s dA_i A_i),   dQ_i = scale dE_i K,   dK = scale sum_i dE_i^T Q_i

torch's kernel for processors never keeps the weights A, which long sequences need. Up to a few hundred positions they take little memory,
and a block is a few large products: two thirds of the time of the kernel, forward and backward (docs/findings.md, 2026-11-18).
"""

from collections.abc import Sequence
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from headway.layers.compiled import is_counted

BLOCK = 64  # queries
LONGEST = 512  # positions: the weights of longer sequences would take much memory
LEAST = 1024  # queries of all heads and sequences together; for fewer the kernel is faster

Heads = Float[Tensor, "b h t e"]


def causal_attention(q: Heads, k: Heads, v: Heads, scale: float) -> Heads:
    """What `scaled_dot_product_attention` computes with `is_causal`."""
    return _Causal.apply(q, k, v, scale)  # type: ignore[no-any-return]


def prefers_blocks(q: Heads, k: Float[Tensor, "b h s e"]) -> bool:
    """Whether blocks are faster than torch's kernel for these queries and keys; in half precision they are not."""
    b, h, t, _ = q.shape
    plain = q.is_cpu and q.dtype in (torch.float32, torch.float64) and not torch.is_autocast_enabled("cpu")
    return plain and BLOCK <= t == k.shape[2] <= LONGEST and b * h * t >= LEAST and not is_counted()


class _Causal(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, q: Tensor, k: Tensor, v: Tensor, scale: float) -> Tensor:
        b, h, t, _ = q.shape
        y = v.new_empty(b, t, h, v.shape[-1]).transpose(1, 2)  # positions first, as the next layer reads them
        flat = [x.flatten(0, 1) for x in (q, k, v)]
        weights = []
        for i in range(0, t, BLOCK):
            j = min(t, i + BLOCK)
            a = _weights(flat[0][:, i:j], flat[1][:, :j], scale)
            y[:, :, i:j] = (a @ flat[2][:, :j]).view(b, h, j - i, -1)
            weights.append(a)
        ctx.save_for_backward(q, k, v, *weights)
        ctx.scale = scale
        return y

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:  # type: ignore[override]
        q, k, v, g = (x.flatten(0, 1) for x in (*ctx.saved_tensors[:3], grad))
        weights, scale = ctx.saved_tensors[3:], ctx.scale
        found = (
            _differentiable(q, k, v, g, scale) if torch.is_grad_enabled() else _gradients(q, k, v, g, weights, scale)
        )
        return *(x.unflatten(0, grad.shape[:2]) for x in found), None


def _weights(q: Float[Tensor, "n t e"], k: Float[Tensor, "n s e"], scale: float) -> Float[Tensor, "n t s"]:
    """A of the last t of s positions."""
    t = q.shape[1]
    scores = (q @ k.mT).mul_(scale)
    scores[..., -t:] += q.new_full((t, t), float("-inf")).triu_(1)
    return scores.softmax(-1)


def _gradients(
    q: Tensor, k: Tensor, v: Tensor, g: Tensor, weights: Sequence[Tensor], scale: float
) -> tuple[Tensor, Tensor, Tensor]:
    dq, t = torch.empty_like(q), q.shape[1]
    for i, a in reversed(list(zip(range(0, t, BLOCK), weights, strict=True))):
        block, seen = slice(i, i + a.shape[1]), slice(a.shape[2])
        de = torch._softmax_backward_data(g[:, block] @ v[:, seen].mT, a, -1, a.dtype).mul_(scale)
        dq[:, block] = de @ k[:, seen]
        of_k, of_v = de.mT @ q[:, block], a.mT @ g[:, block]
        if a.shape[2] == t:  # the last block, which is the first one here, has seen every position
            dk, dv = of_k, of_v
        else:  # not `baddbmm_`, which takes one row of the batch after the other where there are gaps between them
            dk[:, seen] += of_k
            dv[:, seen] += of_v
    return dq, dk, dv


def _differentiable(q: Tensor, k: Tensor, v: Tensor, g: Tensor, scale: float) -> tuple[Tensor, Tensor, Tensor]:
    """The same in operations that have gradients of their own, for second derivatives."""
    a = (scale * (q @ k.mT) + q.new_full((q.shape[1],) * 2, float("-inf")).triu(1)).softmax(-1)
    da = g @ v.mT
    de = a * (da - (da * a).sum(-1, keepdim=True))
    return scale * (de @ k), scale * (de.mT @ q), a.mT @ g
