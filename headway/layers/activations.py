"""Activation functions: what stands between two linear layers, element by element. Without one, any depth is one matrix.

`ACTIVATIONS` finds them by name. Lecture D, "Why activation functions matter"; lecture C for the step and the sigmoid.
"""

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

Values = Float[Tensor, "..."]


def step(z: Values) -> Values:
    """1 if z > 0, else 0: the threshold of McCulloch & Pitts 1943. Its gradient is zero, so nothing can be learned through it.

    Also called step function, Heaviside function, threshold activation.
    """
    return (z > 0).to(z.dtype)


def sigmoid(z: Values) -> Values:
    """1 / (1 + exp(-z)), in (0, 1). The gradient s (1 - s) is at most 1/4 and vanishes for large |z|.

    Also called logistic function, logistic sigmoid.
    """
    return torch.sigmoid(z)


def tanh(z: Values) -> Values:
    """(exp(z) - exp(-z)) / (exp(z) + exp(-z)) = 2 sigmoid(2 z) - 1, in (-1, 1). The gradient is 1 at 0 and vanishes for large |z|.

    Also called hyperbolic tangent.
    """
    return torch.tanh(z)


def relu(z: Values) -> Values:
    """max(0, z). The gradient is 1 for z > 0 and 0 below, where a unit may die. Nair & Hinton 2010.

    Also called rectified linear unit, rectifier, ramp.
    """
    return torch.relu(z)


def leaky_relu(z: Values) -> Values:
    """max(0, z) + 0.01 min(0, z): a little gradient below zero, so that no unit dies. Maas, Hannun, Ng 2013.

    Also called LeakyReLU.
    """
    return F.leaky_relu(z, 0.01)


def softplus(z: Values) -> Values:
    """log(1 + exp(z)): a smooth ReLU whose gradient is the sigmoid. Dugas et al. 2001.

    Also called soft-plus.
    """
    return torch.logaddexp(z, z.new_zeros(()))  # torch's own softplus stops at z = 20, an error of 2e-9


def gelu(z: Values) -> Values:
    """z Phi(z), Phi the Gaussian distribution function: a smooth ReLU. Hendrycks & Gimpel 2016, https://arxiv.org/abs/1606.08415.

    Also called Gaussian error linear unit.
    """
    return F.gelu(z)


class _SquaredReLU(torch.autograd.Function):
    """r^2 and r = max(0, z). One tensor is kept for the gradient 2 r, and no pass is spent on where z was positive.

    r is an output, though no caller uses it, because saved outputs have gradients of their own: so second derivatives are right.
    """

    @staticmethod
    def forward(ctx: Any, z: Tensor) -> tuple[Tensor, Tensor]:
        r = z.clamp_min(0.0)
        ctx.save_for_backward(r)
        ctx.set_materialize_grads(False)
        return r * r, r

    @staticmethod
    def backward(ctx: Any, dy: Tensor | None, dr: Tensor | None) -> Tensor | None:  # type: ignore[override]
        (r,) = ctx.saved_tensors
        dz = None if dy is None else dy * (2 * r) if torch.is_grad_enabled() else _twice(dy, r)
        through_r = None if dr is None else dr * (r > 0)
        return dz if through_r is None else through_r if dz is None else dz + through_r


def _twice(x: Values, y: Values) -> Values:
    """2 x y in one pass."""
    return torch.addcmul(x.new_zeros(()), x, y, value=2)


def squared_relu(z: Values) -> Values:
    """max(0, z)^2. So et al. 2021, "Primer", https://arxiv.org/abs/2109.08668.

    Also called ReLU squared.
    """
    return _SquaredReLU.apply(z)[0]


ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    f.__name__: f for f in (step, sigmoid, tanh, relu, leaky_relu, softplus, gelu, squared_relu)
}
