"""Polynomials of several variables as sums of powers of linear forms, p(x) = Σ_i c_i <w_i, x>^k, and as ReLU nets."""

import math

import numpy as np

from headway.lab.relu_net import ReluNet
from headway.lab.tools.curves import power
from headway.lab.tools.multiindex import exponents, monomials, multinomial
from headway.lab.tools.nets import interpolant


def directions(n: int, k: int, rng: np.random.Generator) -> np.ndarray:
    """binomial(n+k-1, k) random unit vectors: as many as there are monomials of degree k."""
    w = rng.normal(size=(math.comb(n + k - 1, k), n))
    return w / np.linalg.norm(w, axis=1, keepdims=True)


def coefficients(w: np.ndarray, k: int) -> np.ndarray:
    """Column i: the coefficients k!/α! w_i^α of <w_i, x>^k."""
    alpha = exponents(w.shape[1], k)
    return np.array([multinomial(a) for a in alpha])[:, None] * monomials(w, alpha).T


def knots(n: int, M: int) -> np.ndarray:
    """M of them on [-√n, √n], where <w, x> lies for unit vectors w and x in [-1, 1]^n."""
    return np.linspace(-1, 1, M) * math.sqrt(n)


def ridge_net(w: np.ndarray, c: np.ndarray, k: int, M: int) -> ReluNet:
    """Every power replaced by its interpolant at M knots: one hidden layer of N (M - 1) units."""
    (first, bias), (jumps, shift) = interpolant(power(k), knots(w.shape[1], M)).layers
    return ReluNet(((np.kron(w, first), np.tile(bias, len(w))), (np.kron(c, jumps[0])[None], shift * c.sum())))


def gap(w: np.ndarray, c: np.ndarray, k: int, M: int, x: np.ndarray) -> np.ndarray:
    """p - net at points x, from the errors of the single interpolants."""
    t, z = knots(w.shape[1], M), x @ w.T
    return (z**k - np.interp(z, t, t**k)) @ c
