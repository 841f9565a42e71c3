"""AdamW: Adam with weight decay beside the update, not inside the gradient.

    w <- (1 - r decay) w        then  w <- w - r m' / (sqrt(v') + eps)  of `adam.py`

Adam divides the gradient decay w of an L2 penalty by the size of the gradients, so that weights with large gradients would hardly
be decayed; here all shrink at the same speed. Loshchilov & Hutter 2019, https://arxiv.org/abs/1711.05101; lectures C, D, E.
"""

import torch

from headway.training.optimizers.adam import Adam
from headway.training.optimizers.rule import Group, Groups, Tensors

BETAS = (0.9, 0.98)  # of training: beta2 of Vaswani et al. 2017


class AdamW(Adam):
    """AdamW: Adam with decoupled weight decay."""

    aliases = ("Adam with decoupled weight decay", "decoupled weight decay")  # type: ignore[assignment]
    rate = 1e-3

    def decayed(self, group: Group, w: Tensors, g: Tensors) -> Tensors:
        torch._foreach_mul_(w, 1 - group["lr"] * group["weight_decay"])
        return g


def fused_adamw(parameters: Groups, lr: float) -> torch.optim.AdamW:
    """AdamW as training uses it: torch's kernel does the whole update in one pass through memory."""
    return torch.optim.AdamW(parameters, lr=lr, betas=BETAS, fused=True)
