"""AdaGrad: every coordinate has a rate of its own, smaller the larger its gradients have been.

    s <- s + g^2        w <- w - r g / (sqrt(s) + eps)

s only grows, so the rate of a coordinate falls as 1 / sqrt(t): good for rare features, slow in long trainings.
Duchi, Hazan, Singer 2011, https://jmlr.org/papers/v12/duchi11a.html; lecture C.
"""

import torch

from headway.training.optimizers.rule import Group, Groups, Rule, Tensors


class AdaGrad(Rule):
    """AdaGrad: gradients divided by the root of the sum of all their squares."""

    aliases = ("adaptive gradient",)
    rate = 1e-2

    def __init__(self, parameters: Groups, lr: float, eps: float = 1e-10, weight_decay: float = 0.0) -> None:
        super().__init__(parameters, {"lr": lr, "eps": eps, "weight_decay": weight_decay})

    def update(self, group: Group, w: Tensors, g: Tensors) -> None:
        s = self.moments("squares", w)
        torch._foreach_addcmul_(s, g, g)
        size = torch._foreach_sqrt(s)
        torch._foreach_add_(size, group["eps"])
        torch._foreach_addcdiv_(w, g, size, -group["lr"])
