"""RMSprop: AdaGrad that forgets. The mean square of the last gradients in the place of the sum of all.

    s <- alpha s + (1 - alpha) g^2        w <- w - r g / (sqrt(s) + eps)

Tieleman & Hinton 2012, "Lecture 6.5: divide the gradient by a running average of its recent magnitude"; lecture C.
"""

import torch

from headway.training.optimizers.rule import Group, Groups, Rule, Tensors


class RMSprop(Rule):
    """RMSprop: gradients divided by the root of the running mean of their squares."""

    aliases = ("root mean square propagation",)
    rate = 1e-3

    def __init__(
        self, parameters: Groups, lr: float, alpha: float = 0.99, eps: float = 1e-8, weight_decay: float = 0.0
    ) -> None:
        super().__init__(parameters, {"lr": lr, "alpha": alpha, "eps": eps, "weight_decay": weight_decay})

    def update(self, group: Group, w: Tensors, g: Tensors) -> None:
        s = self.moments("squares", w)
        torch._foreach_mul_(s, group["alpha"])
        torch._foreach_addcmul_(s, g, g, 1 - group["alpha"])
        size = torch._foreach_sqrt(s)
        torch._foreach_add_(size, group["eps"])
        torch._foreach_addcdiv_(w, g, size, -group["lr"])
