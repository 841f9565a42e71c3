from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from headway.layers.scores.product import Product


class Unit(torch.autograd.Function):
    """y = x / |x| along the last axis, with dx = (dy - y (y . dy)) / |x|: half the passes that autograd needs."""

    @staticmethod
    def forward(ctx: Any, x: Float[Tensor, "*b e"]) -> Float[Tensor, "*b e"]:
        r = torch.linalg.vector_norm(x, dim=-1, keepdim=True).clamp_min_(1e-12).reciprocal_()
        y = x * r
        ctx.save_for_backward(y, r)
        return y

    @staticmethod
    def backward(ctx: Any, dy: Tensor) -> Tensor:  # type: ignore[override]
        y, r = ctx.saved_tensors
        return torch.addcmul(dy, y, torch.linalg.vecdot(y, dy).unsqueeze(-1), value=-1) * r


class UnitNorm(Product):
    """Unit-norm score: e_ts = (q_t / |q_t|) . (k_s / |k_s|) e^-alpha, the normalisation that lecture B prints.

    Every score lies in [-e^-alpha, e^-alpha], so no weight of a query is more than exp(2 e^-alpha) times another: attention stays close
    to the uniform average, and closer the wider the head (erratum B9; the 2017 Transformer has no such norm). In practice the fixed
    e^-alpha gives way to a large learned scale, which is QK-norm: Henry et al. 2020, https://arxiv.org/abs/2010.04245.
    """

    aliases = ("unit-norm attention", "normalized queries and keys", "QK normalization")

    def __init__(self, width: int, alpha: float = 0.5) -> None:
        super().__init__()
        self.scale = width**-alpha

    def query(self, q: Float[Tensor, "b h t e"]) -> Float[Tensor, "b h t e"]:
        return Unit.apply(q)

    def key(self, k: Float[Tensor, "b h s e"]) -> Float[Tensor, "b h s e"]:
        return Unit.apply(k)
