"""Convex functions beside their papers and scipy; growing momentum beside its two sequences; flat networks beside a loop."""

import numpy as np
import torch
from scipy.special import huber as scipy_huber

from headway.lab.tools.convex_losses import bent, chain, huber, minimised, overlapping_classes
from headway.lab.tools.flat_network import exchanged, square_loss
from headway.lab.tools.growing_momentum import GrowingMomentum
from headway.lab.tools.quadratics import descend, logistic_loss


def test_huber_is_that_of_scipy() -> None:
    x = np.random.default_rng(0).normal(size=(20, 3))
    assert np.allclose(huber(0.4)(x), scipy_huber(0.4, x).sum(1))


def test_the_chain_has_its_minimum_where_it_says() -> None:
    h, least = chain(7)
    A = (2 * np.eye(7) - np.eye(7, k=1) - np.eye(7, k=-1)) / 4  # its Hessian
    assert np.allclose(h.gradient(least), 0) and np.isclose(h(least), h.least)
    assert np.allclose(h.curvature(least), np.linalg.eigvalsh(A)) and np.linalg.eigvalsh(A)[-1] <= h.L


def test_the_slope_of_the_bent_function() -> None:
    x = np.array([[-1.0], [0.5], [1.5], [3.0]])
    assert np.allclose(bent().gradient(x)[:, 0], [-25, 12.5, 25.5, 51]) and np.allclose(bent()(np.zeros((1, 1))), 0)


def test_a_minimum_by_newton_is_the_same() -> None:
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(60, 2)), np.where(rng.random(60) < 0.5, 1.0, -1.0)
    h, found = minimised(logistic_loss(X, y), 2)
    w = np.zeros(2)
    for _ in range(20):
        p = 1 / (1 + np.exp(-X @ w))
        w = w - np.linalg.solve(X.T * (p * (1 - p)) @ X, X.T @ (p - (y + 1) / 2))
    assert np.allclose(found, w, atol=1e-7) and np.isclose(h.least, h(w), rtol=1e-14)


def test_growing_momentum_is_the_two_sequences() -> None:
    """θ_t = y - η∇h(y) and y = θ_t + (t-1)/(t+2) (θ_t - θ_{t-1}), written out."""
    h, _ = chain(9)
    found = descend(h, np.zeros(9), 25, rule=lambda p: GrowingMomentum(p, 0.7, 0.0)).points
    y, before = np.zeros(9), np.zeros(9)
    for t in range(1, 26):
        now = y - 0.7 * h.gradient(y)
        y, before = now + (t - 1) / (t + 2) * (now - before), now
        assert np.allclose(found[t], y, rtol=1e-12)


def test_a_flat_network_is_the_network() -> None:
    rng = np.random.default_rng(2)
    x, y, rows = rng.normal(size=(5, 2)), rng.normal(size=5), rng.normal(size=(4, 13))
    loss = square_loss(torch.from_numpy(x), torch.from_numpy(y), width=3)
    for row, found in zip(rows, loss(rows), strict=True):
        W, b, v, c = row[:6].reshape(3, 2), row[6:9], row[9:12], row[12]
        assert np.isclose(found, np.mean((np.tanh(x @ W.T + b) @ v + c - y) ** 2))
    other = exchanged(rows, 2)
    assert np.allclose(other[0, :6].reshape(3, 2), rows[0, :6].reshape(3, 2)[::-1]) and np.allclose(loss(other), loss(rows))


def test_classes_that_overlap_have_a_minimum_which_is_known() -> None:
    for seed in range(5):
        h, least = overlapping_classes(50, np.random.default_rng(seed))
        assert np.allclose(h.gradient(least), 0, atol=1e-8) and h.least > 0.1 and np.linalg.norm(least) < 20
