"""Penalties on the weights: their gradient is added to that of the loss. The loss that is reported stays without them.

    L1   lambda sum |w|          gradient  lambda sign(w)        many weights become zero
    L2   lambda sum w^2 / 2      gradient  lambda w              all weights become smaller

Weight decay (`training.decay`) with AdamW or Muon is something else: it shrinks all weights at one speed, where these optimizers divide
the gradient of a penalty by the size of all gradients. For plain SGD an L2 penalty and decay are the same. Penalties concern
matrices, maps and tables (`layers/roles.py`), as decay does, and are added after the gradient of the loss was clipped.
"""

import torch
from torch import Tensor, nn

Weights = list[nn.Parameter]  # each with a gradient


def gradients(weights: Weights) -> list[Tensor]:
    return [w.grad for w in weights if w.grad is not None]


@torch.no_grad()
def l1(weights: Weights, strength: float) -> None:
    """L1 penalty: g <- g + lambda sign(w). Tibshirani 1996, "Regression shrinkage and selection via the lasso"; lecture D.

    Also called lasso, L1 regularisation, L1 penalty.
    """
    torch._foreach_add_(gradients(weights), torch._foreach_sign(list[Tensor](weights)), alpha=strength)


@torch.no_grad()
def l2(weights: Weights, strength: float) -> None:
    """L2 penalty: g <- g + lambda w. Hoerl & Kennard 1970, "Ridge regression"; lecture D.

    Also called ridge, L2 regularisation, L2 penalty, Tikhonov regularisation.
    """
    torch._foreach_add_(gradients(weights), list[Tensor](weights), alpha=strength)


@torch.no_grad()
def beta_lasso(weights: Weights, strength: float, beta: float) -> None:
    """The second half of a step of beta-lasso: w <- w [|w| >= beta lambda], after a step with the gradient of `l1`.

    An L1 penalty alone lets weights jump back and forth around zero; here those that came close stay there until a gradient
    larger than the threshold moves them. Neyshabur 2020, "Towards learning convolutions from scratch", algorithm 1,
    https://arxiv.org/abs/2007.13657; lecture E. Also called thresholded lasso.
    """
    small = [w.abs() < beta * strength for w in weights]
    for w, which in zip(weights, small, strict=True):
        w.masked_fill_(which, 0.0)
