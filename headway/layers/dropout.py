from typing import Any

import torch
from torch import Tensor, nn

from headway.core.errors import ConfigError


class Dropout(nn.Module):
    """Inverted dropout: h~ = h * m / (1 - p), m ~ Bernoulli(1 - p), so that E[h~] = h and nothing changes at test time.

    torch draws 64 random bits for every number, on one core; that is a fifth of a training step on a CPU. Eight bits
    are enough: p is rounded to a 256th (up to 1/256, if it is smaller and not 0), and the rounded p is what is divided
    by. Srivastava et al. 2014, https://jmlr.org/papers/v15/srivastava14a.html; lecture D.

    p   the probability that a number is set to zero
    """

    aliases = ("inverted dropout", "dropout regularisation", "dropout regularization")

    def __init__(self, p: float) -> None:
        super().__init__()
        if not 0 <= p < 1:
            message = f"dropout is {p}, expected a probability of at least 0 and below 1"
            raise ConfigError(message, "write 0.1, for example.")
        self.threshold = min(255, max(1, round(256 * p))) if p else 0

    def extra_repr(self) -> str:
        return f"p={self.threshold}/256"

    def forward(self, x: Tensor) -> Tensor:
        return _Drop.apply(x, self.threshold) if self.training and self.threshold else x


class _Drop(torch.autograd.Function):
    """The same mask forward and backward."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, threshold: int) -> Tensor:
        words = torch.empty(-(-x.numel() // 8), dtype=torch.int64, device=x.device).random_(-(2**63), None)
        byte = words.view(torch.int8)[: x.numel()].view(x.shape).to(x.dtype)  # whole numbers from -128 to 127
        # 1 where byte >= threshold - 128, else 0: comparisons of bytes are not vectorised, arithmetic is.
        mask = byte.sub_(threshold - 129).clamp_(0, 1).mul_(256 / (256 - threshold))
        ctx.save_for_backward(mask)
        return x * mask

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None]:  # type: ignore[override]
        (mask,) = ctx.saved_tensors
        return grad * mask, None
