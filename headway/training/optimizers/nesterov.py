"""Nesterov's method: momentum whose gradient is taken at the point where the momentum leads.

    y_t = w_t + mu (w_t - w_{t-1})        w_{t+1} = y_t - r grad L(y_t)

The parameters that are kept here are those of y, because the gradient is taken there. In y the method reads

    v <- mu v + g        y <- y - r (g + mu v)

Nesterov 1983, "A method of solving a convex programming problem with convergence rate O(1/k^2)"; in this form Sutskever et al. 2013,
https://proceedings.mlr.press/v28/sutskever13.html; lecture C.
"""

import torch

from headway.training.optimizers.rule import Group, Groups, Rule, Tensors


class Nesterov(Rule):
    """Nesterov's accelerated gradient: v <- mu v + g, w <- w - r (g + mu v)."""

    aliases = ("Nesterov momentum", "Nesterov's accelerated gradient", "accelerated gradient descent")
    rate = 0.03

    def __init__(self, parameters: Groups, lr: float, momentum: float = 0.9, weight_decay: float = 0.0) -> None:
        super().__init__(parameters, {"lr": lr, "momentum": momentum, "weight_decay": weight_decay})

    def update(self, group: Group, w: Tensors, g: Tensors) -> None:
        v = self.moments("velocity", w)
        torch._foreach_mul_(v, group["momentum"])
        torch._foreach_add_(v, g)
        torch._foreach_add_(w, torch._foreach_add(g, v, alpha=group["momentum"]), alpha=-group["lr"])
