"""Muon: momentum whose matrix updates are orthogonalised, so that every direction of a weight matrix learns at the same speed.

    M <- mu M + G        O = U V^T  where  mu M + G = U S V^T        W <- W - rate (c O + decay W)

U V^T comes from four Newton-Schulz iterations X <- P X, P = a I + b A + c A^2, A = X X^T, which push all singular values towards 1. They
need singular values of at most 1 to begin with, and each makes small ones 3.4 times as large; so X is divided by the Schatten norm
(sum s_i^8)^(1/8) = |A^2|^(1/4), which is closer to the largest one than Frobenius' (sum s_i^2)^(1/2) and costs nothing, as A^2 is
computed anyway: four iterations reach what five did. In float32, and under `torch.autocast` in its type: the bfloat16 of torch's own Muon
is emulated by many CPUs, which then do not train in it either (`training/precision.py`).

A matrix with k times as many rows as columns (the joint Q, K, V projection, the gates of an LSTM, the first layer of a feed-forward
network) is cut into square blocks: they are different maps, and equal squares make one batched product. One with more columns than
rows stays whole; from two times as many on it is iterated through its small Gram matrix A.

c = 0.2 sqrt(d) gives the update the size of one of AdamW (Liu et al. 2025, https://arxiv.org/abs/2502.16982), so both share one
learning rate. Jordan et al. 2024, "Muon: an optimizer for hidden layers in neural networks".
"""

import math
from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import cast

import torch
from jaxtyping import Float
from torch import Tensor

from headway.core.side_by_side import side_by_side
from headway.layers.precision import without_autocast
from headway.layers.products import product, uses_onednn

Times = Callable[[Tensor, Tensor], Tensor]  # a product of matrices, or of each pair of two batches

A, B, C = 3.4445, -4.7750, 2.0315
ITERATIONS = 4


def orthogonalised(x: Float[Tensor, "*k r c"]) -> Float[Tensor, "*k r c"]:
    """About U V^T for a matrix, or each of a batch (singular values between 0.68 and 1.21, which is all that is needed)."""
    times = product if x.ndim == 2 else torch.bmm
    x = x / (x.norm(dim=(-2, -1), keepdim=True) + 1e-7)  # so that eighth powers are within float32
    a = times(x, x.mT)
    squared = times(a, a)
    # The scale is largest where all singular values are equal. That of a matrix of zeros would be infinite.
    equal = x.shape[-2] ** 0.375
    s = (squared.norm(dim=(-2, -1), keepdim=True) ** -0.25).clamp(max=equal)
    x, a, p = x * s, a * s**2, plus_identity((B * s**2) * a + (C * s**4) * squared, A)
    if x.shape[-1] >= 2 * x.shape[-2]:
        return times(_through_gram(a, p, times), x)
    for left in reversed(range(ITERATIONS)):
        x = times(p, x)
        if left:
            p = polynomial(times(x, x.mT), times)
    return x


def polynomial(a: Float[Tensor, "*k r r"], times: Times) -> Float[Tensor, "*k r r"]:
    """P = a I + b A + c A^2 = a I + A (b I + c A)"""
    return plus_identity(times(a, plus_identity(C * a, B)), A)


def plus_identity(x: Float[Tensor, "*k r r"], share: float) -> Float[Tensor, "*k r r"]:
    """x + share I, in place."""
    x.diagonal(dim1=-2, dim2=-1).add_(share)
    return x


def _through_gram(a: Float[Tensor, "*k r r"], p: Float[Tensor, "*k r r"], times: Times) -> Float[Tensor, "*k r r"]:
    """Q with Q X = U V^T, from A = X X^T and its P: Q <- P Q, A <- P A P, all of r rows only."""
    q = p
    for _ in range(ITERATIONS - 1):
        a = times(times(p, a), p)
        p = polynomial(a, times)
        q = times(p, q)
    return q


def all_orthogonalised(batches: list[Float[Tensor, "k r c"]]) -> list[Float[Tensor, "k r c"]]:
    """`orthogonalised` for batches of equal matrices: all in one batch, or, where oneDNN multiplies in float32, each on one core."""
    sizes, together = [len(batch) for batch in batches], torch.cat(batches)
    device = together.device
    if torch.is_autocast_enabled(device.type):
        with without_autocast(device):
            found = orthogonalised(together.to(torch.get_autocast_dtype(device.type)))
        return list(found.to(together.dtype).split(sizes))
    if uses_onednn(together[0], together.shape[1]):
        return list(torch.stack(side_by_side(orthogonalised, together.unbind())).split(sizes))
    return list(orthogonalised(together).split(sizes))


def to_blocks(x: Float[Tensor, "r c"]) -> Float[Tensor, "k n m"]:
    """Square blocks where there are so many times more rows, else the matrix itself (wide rather than tall)."""
    rows, columns = x.shape
    if rows % columns == 0:
        return x.view(-1, columns, columns)
    return x[None] if rows < columns else x.T[None]


def from_blocks(blocks: Float[Tensor, "k n m"], rows: int, columns: int) -> Float[Tensor, "r c"]:
    if rows % columns == 0:
        return blocks.reshape(rows, columns)
    return blocks[0] if rows < columns else blocks[0].T


def whole(x: Tensor) -> Tensor:
    """All rows of a matrix of which each process keeps some (`training/sharding.py`): its singular values are those of the whole."""
    return x.full_tensor() if hasattr(x, "full_tensor") else x


def rows_of(like: Tensor, x: Tensor) -> Tensor:
    """The rows of x that this process keeps of the parameter; all processes have computed the same x."""
    if not hasattr(like, "full_tensor"):
        return x
    from torch.distributed.tensor import DTensor, distribute_tensor  # heavy, and seldom needed

    kept = cast(DTensor, like)
    return distribute_tensor(x, kept.device_mesh, kept.placements, src_data_rank=None)


class Muon(torch.optim.Optimizer):
    """Muon: momentum with orthogonalised updates, for the matrices inside a network; embeddings, biases and norms belong to AdamW."""

    aliases = ("momentum orthogonalised by Newton-Schulz",)
    rate = 5e-3
    takes = ("matrix",)  # parameters of these roles (`layers/roles.py`); all others go to AdamW

    def __init__(
        self, parameters: Iterable[Tensor], lr: float, momentum: float = 0.95, weight_decay: float = 0.0
    ) -> None:
        super().__init__(parameters, {"lr": lr, "momentum": momentum, "weight_decay": weight_decay})

    @torch.no_grad()
    def step(self, closure: Callable[[], float] | None = None) -> None:  # type: ignore[override]
        for group in self.param_groups:
            parameters = [p for p in group["params"] if p.grad is not None]
            for p in parameters:
                if "momentum" not in self.state[p]:
                    self.state[p]["momentum"] = torch.zeros_like(p)
            gradients, momenta = [p.grad for p in parameters], [self.state[p]["momentum"] for p in parameters]
            torch._foreach_mul_(momenta, group["momentum"])
            torch._foreach_add_(momenta, gradients)
            ahead = torch._foreach_add(gradients, momenta, alpha=group["momentum"])  # Nesterov

            by_shape: dict[tuple[int, int], list[tuple[Tensor, Tensor]]] = defaultdict(list)
            for p, update in zip(parameters, ahead, strict=True):
                # the kernel of a convolution is a matrix, too: (out, in * taps)
                blocks = to_blocks(whole(update).flatten(1))
                by_shape[(blocks.shape[1], blocks.shape[2])].append((p, blocks))
            for members in by_shape.values():
                for (p, blocks), o in zip(members, all_orthogonalised([blocks for _, blocks in members]), strict=True):
                    p.mul_(1 - group["lr"] * group["weight_decay"])
                    p.add_(
                        rows_of(p, from_blocks(o, len(p), math.prod(p.shape[1:])).view(p.shape)),
                        alpha=-group["lr"] * 0.2 * max(blocks.shape[1:]) ** 0.5,
                    )
