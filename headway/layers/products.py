"""Products of float32 matrices by the faster of the two libraries that torch contains.

    y = x W^T + b        dx = g W        dW = g^T x        db = sum_n g_n

torch multiplies with MKL, which takes its AVX2 kernels on processors of other makers than Intel, also where they have
AVX-512. oneDNN takes what the processor has. So on such a processor large products are oneDNN's, at twice the rate
(docs/findings.md, 2026-11-18), and everywhere else they are torch's own.
"""

from typing import Any

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

from headway.core.machine import mkl_ignores_avx512

LEAST = 1 << 22  # multiplications below which the call takes longer than the product
MULTIPLY: Any = getattr(
    getattr(torch.ops.mkldnn, "_linear_pointwise", None), "default", None
)  # (x, W, b, ...) -> x W^T + b


def uses_onednn(a: Tensor, columns: int) -> bool:
    """Whether the product of `a` ("*b k") with a matrix of so many columns is one for oneDNN."""
    large = a.numel() * columns >= LEAST
    return large and a.is_cpu and a.dtype == torch.float32 and MULTIPLY is not None and mkl_ignores_avx512()


def product(a: Float[Tensor, "n k"], b: Float[Tensor, "k m"]) -> Float[Tensor, "n m"]:
    """a b. For use where no gradient is computed."""
    if not uses_onednn(a, b.shape[1]):
        return a @ b
    return MULTIPLY(a, b.t(), None, "none", [], "")  # type: ignore[no-any-return]


def transposed_product(a: Float[Tensor, "n k"], b: Float[Tensor, "n m"]) -> Float[Tensor, "k m"]:
    """a^T b. oneDNN is faster if its second factor is the larger one; else it multiplies b^T a, and this is its transpose."""
    if not uses_onednn(a, b.shape[1]):
        return a.t() @ b
    if a.shape[1] > b.shape[1]:
        return MULTIPLY(b.t(), a.t(), None, "none", [], "").t()  # type: ignore[no-any-return]
    return MULTIPLY(a.t(), b.t(), None, "none", [], "")  # type: ignore[no-any-return]


class _Linear(torch.autograd.Function):
    """x W^T + b by oneDNN, forward and backward. Second derivatives are those of torch's own products."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        ctx.save_for_backward(x, weight)
        return MULTIPLY(x, weight, bias, "none", [], "")  # type: ignore[no-any-return]

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, Tensor | None, Tensor | None]:  # type: ignore[override]
        x, weight = ctx.saved_tensors
        of_x, of_weight, of_bias = ctx.needs_input_grad
        g, rows = grad.flatten(0, -2), x.flatten(0, -2)
        if torch.is_grad_enabled():
            return grad @ weight, g.t() @ rows, g.sum(0) if of_bias else None
        dx = product(g, weight).view_as(x) if of_x else None
        return dx, transposed_product(g, rows) if of_weight else None, g.sum(0) if of_bias else None


def linear(
    x: Float[Tensor, "*b i"], weight: Float[Tensor, "o i"], bias: Float[Tensor, "o"] | None
) -> Float[Tensor, "*b o"]:
    """x W^T + b, with gradients."""
    if uses_onednn(x, len(weight)) and weight.dtype == torch.float32 and not torch.is_autocast_enabled("cpu"):
        return _Linear.apply(x, weight, bias)
    return F.linear(x, weight, bias)
