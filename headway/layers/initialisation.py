"""First weights. Each function fills a weight of shape (out, in, taps ...) in place and returns it; `INITIALISATIONS` finds it by name.

A layer z' = W phi(z) with independent weights of mean 0 multiplies second moments by n_in Var(w) E[phi(z)^2] / E[z^2] on the way up, and
those of gradients by n_out Var(w) (times the same sort of factor) on the way down; the rules below differ in which of the two they
keep at 1. n_in = in * taps, n_out = out * taps. Numbers are drawn from torch's generator, so `torch.manual_seed` repeats them.
"""

import math
from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor

Weight = Float[Tensor, "out in *taps"]


def fans(weight: Weight) -> tuple[int, int]:
    """n_in and n_out: how many numbers a unit adds up, and how many units read a number."""
    taps = math.prod(weight.shape[2:])
    return weight.shape[1] * taps, weight.shape[0] * taps


@torch.no_grad()
def gaussian(weight: Weight, sigma: float = 0.01) -> Weight:
    """w ~ N(0, sigma^2): "small random values". Lecture B, "Random initialisations"; lecture D.

    Also called Gaussian initialisation, normal initialisation, small random values.
    """
    return weight.normal_(0.0, sigma)


@torch.no_grad()
def uniform(weight: Weight, bound: float = 0.01) -> Weight:
    """w ~ U(-C, C), of variance C^2 / 3. Lecture B, "Random initialisations".

    Also called uniform initialisation.

    bound   C
    """
    return weight.uniform_(-bound, bound)


def glorot_normal(weight: Weight, gain: float = 1.0) -> Weight:
    """w ~ N(0, gain^2 * 2 / (n_in + n_out)): a compromise between the way up and the way down, for tanh and linear layers.

    Glorot & Bengio 2010, https://proceedings.mlr.press/v9/glorot10a.html; lecture D. Also called Xavier, Glorot, Xavier initialisation.
    """
    return gaussian(weight, gain * math.sqrt(2 / sum(fans(weight))))


def glorot_uniform(weight: Weight, gain: float = 1.0) -> Weight:
    """w ~ U(-C, C), C = gain sqrt(6 / (n_in + n_out)): the variance of `glorot_normal`. Equation 16 of Glorot & Bengio 2010.

    Also called Xavier uniform.
    """
    return uniform(weight, gain * math.sqrt(6 / sum(fans(weight))))


def he_normal(weight: Weight) -> Weight:
    """w ~ N(0, 2 / n_in): a ReLU loses half of the second moment, so the variance is doubled.

    He et al. 2015, "Delving deep into rectifiers", https://arxiv.org/abs/1502.01852; lecture D. Also called He,
    He initialisation, Kaiming, Kaiming initialisation.
    """
    return gaussian(weight, math.sqrt(2 / fans(weight)[0]))


def he_uniform(weight: Weight) -> Weight:
    """w ~ U(-C, C), C = sqrt(6 / n_in): the variance of `he_normal`.

    Also called Kaiming uniform.
    """
    return uniform(weight, math.sqrt(6 / fans(weight)[0]))


@torch.no_grad()
def orthogonal(weight: Weight, gain: float = 1.0) -> Weight:
    """W W^T = gain^2 I, or W^T W = gain^2 I where W (out x in * taps) is tall: every singular value is `gain`.

    The Q of a Gaussian matrix, with the signs that make it uniform over all such matrices (Mezzadri 2007).
    Saxe, McClelland, Ganguli 2014, https://arxiv.org/abs/1312.6120. Also called orthogonal initialisation.

    gain   every singular value
    """
    flat = torch.empty_like(weight.flatten(1)).normal_()
    tall = flat.shape[0] >= flat.shape[1]
    q, r = torch.linalg.qr(flat if tall else flat.T)
    q = q * r.diagonal().sign()
    return weight.copy_(gain * (q if tall else q.T).reshape(weight.shape))


@torch.no_grad()
def sparse(weight: Weight, incoming: int = 15, sigma: float = 1.0) -> Weight:
    """Each unit reads `incoming` randomly chosen inputs with w ~ N(0, sigma^2), and no others.

    The size of a sum then does not depend on how many inputs there are. Martens 2010, "Deep learning via Hessian-free optimization",
    section 5. torch's `sparse_` counts the zeros of columns, which for a weight (out, in) limits how many units an input
    reaches, not how many inputs a unit reads.
    Also called sparse initialisation.

    incoming   inputs that each unit hears
    """
    gaussian(weight, sigma)
    flat = weight.view(len(weight), -1)
    silent = torch.rand_like(flat).argsort(1)[:, incoming:]
    flat.scatter_(1, silent, 0.0)
    return weight


INITIALISATIONS: dict[str, Callable[..., Tensor]] = {
    f.__name__: f for f in (gaussian, uniform, glorot_normal, glorot_uniform, he_normal, he_uniform, orthogonal, sparse)
}
