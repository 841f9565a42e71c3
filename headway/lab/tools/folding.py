"""Nets that fold the unit cube onto itself, so that what the last layer draws appears many times (Montúfar 2014)."""

import math
from itertools import combinations

import numpy as np

from headway.lab.relu_net import ReluNet, affine, compose


def fold(n: int, p: int) -> ReluNet:
    """Each of n coordinates of [0, 1]^n is folded p times onto [0, 1]: Σ_k ±h_k, h_1 = σ(px), h_k = σ(2px - 2(k-1))."""
    slope = np.where(np.arange(p) > 0, 2.0 * p, 1.0 * p)[:, None]
    signs = (-1.0) ** np.arange(p)[None]
    return ReluNet(
        ((np.kron(np.eye(n), slope), np.tile(-2.0 * np.arange(p), n)), (np.kron(np.eye(n), signs), np.zeros(n)))
    )


def star(n: int, m: int, rng: np.random.Generator) -> ReluNet:
    """m hyperplanes in general position whose crossings are all inside [0.1, 0.9]^n; n is 1 or 2."""
    angle = math.pi * (np.arange(m) + rng.uniform(0, 0.5, m)) / m
    w, offset = (np.ones((m, 1)) if n == 1 else np.column_stack([np.cos(angle), np.sin(angle)])), rng.uniform(-1, 1, m)
    corners = [np.linalg.solve(w[list(i)], offset[list(i)]) for i in combinations(range(m), n)]
    shift = 0.4 * offset / np.max(np.abs(corners))
    return ReluNet(((w, -shift - w @ np.full(n, 0.5)), (np.ones((1, m)), [0.0])))


def folding_net(n: int, m: int, layers: int, rng: np.random.Generator) -> ReluNet:
    """L - 1 layers that fold [0, 1]^n with ⌊m/n⌋ units for each coordinate, then m hyperplanes in the cube."""
    net = affine(np.eye(n), np.zeros(n))
    for _ in range(layers - 1):
        net = compose(fold(n, m // n), net)
    return compose(star(n, m, rng), net)
