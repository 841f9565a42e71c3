"""Muon: momentum whose matrix updates are orthogonalised, so that every direction of a weight matrix learns at the same speed.

    M <- mu M + G        O = U V^T  where  mu M + G = U S V^T        W <- W - rate (c O + decay W)

U V^T comes from five Newton-Schulz iterations X <- a X + (b A + c A^2) X, A = X X^T, which push all singular values towards 1. In float32:
the bfloat16 of torch's own Muon is only emulated by a CPU. A matrix whose one side is a multiple of the other (the joint Q, K, V
projection, the feed-forward layers, the gates of an LSTM) is cut into square blocks: they are different maps, and equal squares make
one batched product. c = 0.2 sqrt(d) gives the update the size of one of AdamW (Liu et al. 2025, https://arxiv.org/abs/2502.16982), so
both share one learning rate. Jordan et al. 2024, "Muon: an optimizer for hidden layers in neural networks".
"""

import math
from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import cast

import torch
from jaxtyping import Float
from torch import Tensor

A, B, C = 3.4445, -4.7750, 2.0315
ITERATIONS = 5


def orthogonalised(x: Float[Tensor, "k r c"]) -> Float[Tensor, "k r c"]:
    """About U V^T for each matrix of a batch (singular values between 0.7 and 1.2, which is all that is needed)."""
    x = x / (x.norm(dim=(-2, -1), keepdim=True) + 1e-7)
    for _ in range(ITERATIONS):
        a = x @ x.mT
        x = torch.baddbmm(x, torch.baddbmm(a, a, a, beta=B, alpha=C), x, beta=A)
    return x


def to_blocks(x: Float[Tensor, "r c"]) -> Float[Tensor, "k n m"]:
    """Square blocks where the sides allow it, the matrix itself (wide rather than tall) where they do not."""
    rows, columns = x.shape
    if rows % columns == 0:
        return x.view(-1, columns, columns)
    if columns % rows == 0:
        return x.view(rows, -1, rows).transpose(0, 1)
    return x[None] if rows < columns else x.T[None]


def from_blocks(blocks: Float[Tensor, "k n m"], rows: int, columns: int) -> Float[Tensor, "r c"]:
    if rows % columns == 0:
        return blocks.reshape(rows, columns)
    if columns % rows == 0:
        return blocks.transpose(0, 1).reshape(rows, columns)
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
                done = orthogonalised(torch.cat([blocks for _, blocks in members])).split([len(b) for _, b in members])
                for (p, blocks), o in zip(members, done, strict=True):
                    p.mul_(1 - group["lr"] * group["weight_decay"])
                    p.add_(
                        rows_of(p, from_blocks(o, len(p), math.prod(p.shape[1:])).view(p.shape)),
                        alpha=-group["lr"] * 0.2 * max(blocks.shape[1:]) ** 0.5,
                    )
