"""Stochastic gradient descent: the gradient of a batch in the place of that of all examples.

    w <- w - r g        g = (1 / |B|) sum over the examples of a batch B of their gradients,  E[g] = the whole gradient

Robbins & Monro 1951, "A stochastic approximation method"; lectures C, D, E.
"""

import torch

from headway.training.optimizers.rule import Group, Groups, Rule, Tensors


class SGD(Rule):
    """Stochastic gradient descent: w <- w - r g, with the gradient of one batch."""

    aliases = ("stochastic gradient descent", "mini-batch gradient descent")
    rate = 0.1

    def __init__(self, parameters: Groups, lr: float, weight_decay: float = 0.0) -> None:
        super().__init__(parameters, {"lr": lr, "weight_decay": weight_decay})

    def update(self, group: Group, w: Tensors, g: Tensors) -> None:
        torch._foreach_add_(w, g, alpha=-group["lr"])
