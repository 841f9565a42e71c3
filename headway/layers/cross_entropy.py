"""Smoothed cross-entropy of a linear output layer, without ever holding all logits.

    l_n = sum_v q_nv (-log p_nv)        p_n = softmax(E h_n)        q_nv = (1 - eps) [v = y_n] + eps / V
    dl_n / dlogits = p_n - q_n

Logits of a batch are its largest tensor by far (2,000 positions x 8,000 words = 64 MB, several times over in a chain of operations).
Here the rows are done in chunks that stay in the cache, and the gradient is formed in the same buffer during the forward pass.
Label smoothing: Szegedy et al. 2016, https://arxiv.org/abs/1512.00567.
"""

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from headway.layers.products import product, transposed_product

CHUNK = 1 << 22  # numbers in the buffer: 16 MB


class LinearCrossEntropy(torch.autograd.Function):
    """Under `torch.autocast` the three large products are in its type; softmax, losses and sums over chunks are in float32."""

    @staticmethod
    def forward(
        ctx: Any, hidden: Float[Tensor, "n d"], weight: Float[Tensor, "v d"], target: Int[Tensor, "n"], smoothing: float
    ) -> tuple[Tensor, Tensor]:
        device, vocabulary = hidden.device.type, len(weight)
        low = torch.get_autocast_dtype(device) if torch.is_autocast_enabled(device) else None
        rows = max(1, CHUNK // vocabulary)
        grads = any(ctx.needs_input_grad[:2])
        d_hidden, d_weight = (torch.empty_like(hidden), torch.zeros_like(weight)) if grads else (hidden, weight)
        loss = nll = weight.new_zeros(())
        mean = weight.mean(0)  # the mean logit of a row is one dot product: no need to read the row again
        with torch.autocast(device, enabled=False):
            small = weight if low is None else weight.to(low)
            for start in range(0, len(hidden), rows):
                h, y = hidden[start : start + rows].to(weight.dtype), target[start : start + rows, None]
                logits = product(h, weight.T) if low is None else (h.to(low) @ small.T).to(weight.dtype)
                p = logits.softmax(-1)
                chosen = -p.gather(-1, y).log()
                if not chosen.isfinite().all():  # p underflowed somewhere: the slow way, which cannot
                    chosen = logits.logsumexp(-1, keepdim=True) - logits.gather(-1, y)
                lse = chosen + logits.gather(-1, y)
                nll = nll + chosen.sum()
                loss = loss + (1 - smoothing) * chosen.sum() + smoothing * (lse.sum() - (h @ mean).sum())
                if grads:
                    p.sub_(smoothing / vocabulary).scatter_add_(-1, y, p.new_full(y.shape, smoothing - 1))
                    if low is None:
                        d_hidden[start : start + rows] = product(p, weight)
                        d_weight += transposed_product(p, h)
                    else:
                        d_logits = p.to(low)
                        d_hidden[start : start + rows] = d_logits @ small
                        d_weight += d_logits.T @ h.to(low)
        if grads:
            ctx.save_for_backward(d_hidden, d_weight, hidden, weight, target)
            ctx.smoothing = smoothing
        ctx.mark_non_differentiable(nll)
        return loss, nll

    @staticmethod
    def backward(ctx: Any, grad: Tensor, _: Tensor) -> tuple[Tensor, Tensor, None, None]:  # type: ignore[override]
        d_hidden, d_weight, hidden, weight, target = ctx.saved_tensors
        if torch.is_grad_enabled():  # for second derivatives the gradient must be a function of its inputs: all logits
            p, vocabulary = (hidden @ weight.T).softmax(-1), len(weight)
            q = F.one_hot(target, vocabulary).to(p.dtype) * (1 - ctx.smoothing) + ctx.smoothing / vocabulary
            d_hidden, d_weight = (p - q) @ weight, (p - q).T @ hidden
        return d_hidden * grad, d_weight * grad, None, None


def linear_cross_entropy(
    hidden: Tensor, weight: Tensor, target: Tensor, smoothing: float = 0.0
) -> tuple[Tensor, Tensor]:
    """Cross-entropy with label smoothing: the summed loss, and the summed plain negative log-likelihood (for reporting, no gradient).

    Also called cross-entropy, cross-entropy loss, softmax loss, negative log-likelihood, label smoothing.

    hidden      what the output matrix is applied to
    weight      the output matrix
    target      the right class of each row
    smoothing   the share of the target that is spread over all classes
    """
    return LinearCrossEntropy.apply(hidden, weight, target, smoothing)


def output_cross_entropy(
    output: nn.Module, hidden: Tensor, target: Tensor, smoothing: float = 0.0
) -> tuple[Tensor, Tensor]:
    """The same for an output layer: one that is no single matrix, such as that of an ensemble, has a `cross_entropy` of its own."""
    own: Callable[[Tensor, Tensor, float], tuple[Tensor, Tensor]] | None = getattr(output, "cross_entropy", None)
    if own is not None:
        return own(hidden, target, smoothing)
    return linear_cross_entropy(hidden, output.weight, target, smoothing)  # type: ignore[arg-type]
