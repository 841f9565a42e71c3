"""The heavy ball: a step keeps a part of the one before, as a ball that rolls keeps its velocity.

    v <- mu v + g        w <- w - r v        that is  w_{t+1} = w_t - r g_t + mu (w_t - w_{t-1})

On a quadratic of condition number k the best r and mu need of the order of sqrt(k) steps, where gradient descent needs k.
Polyak 1964, "Some methods of speeding up the convergence of iteration methods"; lecture C.
"""

import torch

from headway.training.optimizers.rule import Group, Groups, Rule, Tensors


class HeavyBall(Rule):
    """Gradient descent with momentum: v <- mu v + g, w <- w - r v."""

    aliases = ("heavy ball momentum", "momentum", "Polyak momentum", "SGD with momentum")
    rate = 0.03

    def __init__(self, parameters: Groups, lr: float, momentum: float = 0.9, weight_decay: float = 0.0) -> None:
        super().__init__(parameters, {"lr": lr, "momentum": momentum, "weight_decay": weight_decay})

    def update(self, group: Group, w: Tensors, g: Tensors) -> None:
        v = self.moments("velocity", w)
        torch._foreach_mul_(v, group["momentum"])
        torch._foreach_add_(v, g)
        torch._foreach_add_(w, v, alpha=-group["lr"])
