"""Curves through random networks. Tangent vectors follow the chain rule, so that nothing is cut into pieces:

    h = σ_w W z + σ_b b,      z <- φ(h),      u <- φ'(h) ⊙ (σ_w W u),

where the entries of √n W and of b have variance 1. |u| is by how much the network stretches the curve at that point.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from jaxtyping import Float
from numpy.random import Generator
from scipy.special import erf, gammaln
from scipy.stats import binom

Draw = Callable[[Generator, tuple[int, ...]], np.ndarray]
Layers = Iterator[tuple[np.ndarray, np.ndarray]]


# -- entries of the weights --------------------------------------------------------------------------------------------


def gaussian(rng: Generator, shape: tuple[int, ...]) -> np.ndarray:
    return rng.standard_normal(shape, dtype=np.float32)


def rademacher(rng: Generator, shape: tuple[int, ...]) -> np.ndarray:
    return (2 * rng.integers(0, 2, shape, dtype=np.int8) - 1).astype(np.float32)


def uniform(rng: Generator, shape: tuple[int, ...]) -> np.ndarray:
    return math.sqrt(3) * (2 * rng.random(shape, dtype=np.float32) - 1)


def sparse(share: float) -> Draw:
    """Gaussian, but 0 with probability 1 - share."""
    return lambda rng, shape: gaussian(rng, shape) * (rng.random(shape, dtype=np.float32) < share)


def pruned(share: float) -> Draw:
    """Gaussian, of which this share is kept: the largest entries of each matrix."""

    def draw(rng: Generator, shape: tuple[int, ...]) -> np.ndarray:
        w = gaussian(rng, shape)
        return w * (np.abs(w) >= np.quantile(np.abs(w), 1 - share, axis=(-2, -1), keepdims=True))

    return draw


# -- networks ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Activation:
    f: Callable[[np.ndarray], np.ndarray]
    derivative: Callable[[np.ndarray], np.ndarray]


RELU = Activation(lambda h: np.maximum(h, 0), lambda h: h > 0)
HARD_TANH = Activation(lambda h: np.clip(h, -1, 1), lambda h: np.abs(h) < 1)


def layers(rng: Generator, n: int, depth: int, draws: int, weights: Draw = gaussian) -> Layers:
    """W (draws, n, n) and b (draws, n, 1) of so many networks of equal widths, layer by layer."""
    for _ in range(depth):
        yield weights(rng, (draws, n, n)) / np.float32(math.sqrt(n)), gaussian(rng, (draws, n, 1))


def stretch(
    through: Layers,
    start: Float[np.ndarray, "draws 2 n"],
    sigma_w: Sequence[float],
    sigma_b: float,
    activation: Activation = RELU,
) -> Float[np.ndarray, "layers sigmas draws"]:
    """|u| after each layer, |u| = 1 at first; every σ_w goes through the same W.

    start   z and u of each network
    """
    scale = np.asarray(sigma_w, dtype=np.float32)
    z, u = (np.repeat(start.astype(np.float32)[:, i, :, None], len(scale), axis=2) for i in range(2))
    u = u / np.linalg.norm(u, axis=1, keepdims=True)
    found = [np.ones((len(scale), len(start)))]
    for w, b in through:
        h = scale * (w @ z) + np.float32(sigma_b) * b
        z, u = activation.f(h), activation.derivative(h) * (scale * (w @ u))
        found.append(np.linalg.norm(u.astype(np.float64), axis=1).T)
    return np.stack(found)


def random_stretch(
    rng: Generator,
    n: int,
    depth: int,
    draws: int,
    sigma_w: Sequence[float],
    sigma_b: float,
    weights: Draw = gaussian,
    activation: Activation = RELU,
) -> Float[np.ndarray, "layers sigmas draws"]:
    """`stretch` of so many random networks, each at a random point along a random direction."""
    start = rng.standard_normal((draws, 2, n))
    return stretch(layers(rng, n, depth, draws, weights), start, sigma_w, sigma_b, activation)


def growth(lengths: Float[np.ndarray, "layers sigmas draws"]) -> Float[np.ndarray, "sigmas samples"]:
    """|u| after a layer over |u| before it, for all layers and draws; NaN after all units of a layer were off."""
    with np.errstate(invalid="ignore"):
        ratios = np.divide(lengths[1:], lengths[:-1], where=lengths[:-1] > 0, out=np.full(lengths[1:].shape, np.nan))
    return np.moveaxis(ratios, 1, 0).reshape(lengths.shape[1], -1)


def z_score(samples: np.ndarray, expected: float) -> float:
    """By how many standard errors the mean of independent samples (without NaN) is away."""
    samples = samples[np.isfinite(samples)]
    return float(abs(samples.mean() - expected) / (samples.std(ddof=1) / math.sqrt(samples.size)))


# -- curves ------------------------------------------------------------------------------------------------------------


def circle(n: int, points: int) -> Float[np.ndarray, "n points"]:
    """A closed circle of radius √(n/2) in the first two of n directions; its last point is its first."""
    t = np.linspace(0, 2 * math.pi, points + 1)
    return math.sqrt(n / 2) * np.concatenate([[np.cos(t), np.sin(t)], np.zeros((n - 2, points + 1))]).astype(np.float32)


def images(
    through: Layers, curve: Float[np.ndarray, "n points"], sigma_w: float, sigma_b: float, activation: Activation = RELU
) -> Iterator[np.ndarray]:
    """What the networks make of the curve: h (draws, n, points) of each layer, before the activation."""
    z = curve[None]
    for w, b in through:
        h = np.float32(sigma_w) * (w @ z) + np.float32(sigma_b) * b
        yield h
        z = activation.f(h)


def polyline_length(curve: Float[np.ndarray, "*draws n points"]) -> Float[np.ndarray, "*draws"]:
    return np.sum(np.linalg.norm(np.diff(curve, axis=-1), axis=-2), axis=-1)


# -- the laws of one layer ---------------------------------------------------------------------------------------------


def patterns(values: Sequence[float], chances: Sequence[float], n: int) -> tuple[np.ndarray, np.ndarray]:
    """All rows of n independent numbers with these values, "pattern n", and the probability of each."""
    rows, weight = np.array(list(product(values, repeat=n))), np.array(list(product(chances, repeat=n)))
    return rows, weight.prod(axis=1)


def mean_size(u: np.ndarray, values: Sequence[float], chances: Sequence[float]) -> np.ndarray:
    """E|u·w| for independent w_j with these values; `u` is (..., n)."""
    rows, weight = patterns(values, chances, u.shape[-1])
    return np.abs(u @ rows.T) @ weight


def mean_size_uniform(u: np.ndarray) -> float:
    """E|u·w| for independent w_j ~ U(-1, 1), by integrating n times: Σ_ε Π ε_j sgn(s)^n |s|^{n+1}/((n+1)! 2^n Π u_j), s = ε·u."""
    n, signs = u.size, np.array(list(product((-1, 1), repeat=u.size)))
    s = signs @ u
    terms = signs.prod(axis=1) * np.sign(s) ** n * np.abs(s) ** (n + 1)
    return float(terms.sum() / (math.factorial(n + 1) * 2**n * np.prod(u)))


def mean_field(sigma_w: np.ndarray, sigma_b: float, steps: int) -> np.ndarray:
    """√χ of hard tanh after so many layers: χ = σ_w² P(|h| < 1), h ~ N(0, σ_w² q + σ_b²), q = E clip(h, -1, 1)², at first 1."""
    q = np.ones_like(sigma_w)
    for _ in range(steps):
        s = np.sqrt(sigma_w**2 * q + sigma_b**2)
        inside = erf(1 / (s * math.sqrt(2)))
        root = sigma_w * np.sqrt(inside)
        q = s**2 * inside - s * math.sqrt(2 / math.pi) * np.exp(-1 / (2 * s**2)) + 1 - inside
    return root


def relu_factor(n: int) -> float:
    """c_n = E|D g| for g ~ N(0, I/n) and n gates D, each open with probability ½: the norm of K ~ Bin(n, ½) Gaussians.

    c_n = n^{-1/2} Σ_k C(n, k) 2^{-n} √2 Γ((k + 1)/2) / Γ(k/2)
    """
    k = np.arange(1, n + 1)
    return float(binom.pmf(k, n, 0.5) @ np.exp(gammaln((k + 1) / 2) - gammaln(k / 2))) * math.sqrt(2 / n)
