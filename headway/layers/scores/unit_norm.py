from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from headway.layers.scores.product import Product


def reciprocal_length(x: Float[Tensor, "*b e"]) -> Float[Tensor, "*b 1"]:
    """1 / |x| along the last axis, where |x| is at least 1e-12 (in float16 its smallest number)."""
    least = max(1e-12, torch.finfo(x.dtype).tiny)
    return torch.linalg.vector_norm(x, dim=-1, keepdim=True).clamp_min_(least).reciprocal_()


def unit(x: Float[Tensor, "*b e"]) -> Float[Tensor, "*b e"]:
    """x / |x|. Without gradients it needs no call of autograd, which takes longer than the few numbers of a step."""
    return x * reciprocal_length(x) if torch.is_inference_mode_enabled() else Unit.apply(x)[0]


class Unit(torch.autograd.Function):
    """y = x r with r = 1 / |x| along the last axis, dx = (dy - y (y . dy)) r: half the passes that autograd needs.

    r is an output, though no caller uses it, because saved outputs have gradients of their own (dr / dx =
    -r^2 y): so second derivatives are right.
    """

    @staticmethod
    def forward(ctx: Any, x: Float[Tensor, "*b e"]) -> tuple[Float[Tensor, "*b e"], Float[Tensor, "*b 1"]]:
        r = reciprocal_length(x)
        y = x * r
        ctx.save_for_backward(y, r)
        ctx.set_materialize_grads(False)
        return y, r

    @staticmethod
    def backward(ctx: Any, dy: Tensor | None, dr: Tensor | None) -> Tensor | None:  # type: ignore[override]
        y, r = ctx.saved_tensors
        dx = None if dy is None else torch.addcmul(dy, y, torch.linalg.vecdot(y, dy).unsqueeze(-1), value=-1) * r
        through_r = None if dr is None else -dr * r * r * y
        return dx if through_r is None else through_r if dx is None else dx + through_r


class UnitNorm(Product):
    """Unit-norm score: e_ts = (q_t / |q_t|) . (k_s / |k_s|) e^-alpha, the normalisation that lecture B prints.

    Every score lies in [-e^-alpha, e^-alpha], so no weight of a query is more than exp(2 e^-alpha) times another: attention stays close
    to the uniform average, and closer the wider the head (erratum B9; the 2017 Transformer has no such norm). In practice the fixed
    e^-alpha gives way to a large learned scale, which is QK-norm: Henry et al. 2020, https://arxiv.org/abs/2010.04245.

    width   e, numbers in a query and in a key
    alpha   the exponent of the scale
    """

    aliases = ("unit-norm attention", "normalized queries and keys", "QK normalization")

    def __init__(self, width: int, alpha: float = 0.5) -> None:
        super().__init__()
        self.scale = width**-alpha

    def query(self, q: Float[Tensor, "b h t e"]) -> Float[Tensor, "b h t e"]:
        return unit(q)

    def key(self, k: Float[Tensor, "b h s e"]) -> Float[Tensor, "b h s e"]:
        return unit(k)
