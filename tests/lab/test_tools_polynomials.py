"""Polynomials, ramps, soft staircases, maxima of planes and random features, beside scipy, fine grids and closed forms."""

import numpy as np
import pytest
from scipy.interpolate import BPoly

from headway.lab.tools import box_net, boxes, features, maximum_net, nets, polynomials, ramps, staircase
from headway.lab.tools.curves import bend, sine

RNG = np.random.default_rng
X = np.linspace(0, 1, 20_001)


def test_bernsteins_polynomial_is_scipys() -> None:
    for n in (3, 10):
        theirs = BPoly(np.exp(np.arange(n + 1) / n)[:, None], [0.0, 1.0])
        assert np.allclose(polynomials.bernstein(np.exp, n)(X), theirs(X))


def test_certified_errors_of_polynomials_are_above_those_of_a_grid() -> None:
    wave, kink = sine(6), bend(1, 0.5)
    for f, slope in ((wave, 6.0), (kink, 1.0)):
        seen = np.max(np.abs(polynomials.bernstein(f, 12)(X) - f(X)))
        assert seen * (1 - 1e-12) <= polynomials.bernstein_error(f, 12, slope, 1e-3) <= seen * 1.002
    seen = np.max(np.abs(polynomials.bernstein(np.sqrt, 12)(X) - np.sqrt(X)))
    assert seen * (1 - 1e-12) <= polynomials.bernstein_root_error(12, 1e-3) <= seen * 1.002
    nodes, t = np.cos((np.arange(13) + 0.5) * np.pi / 13), 2 * X - 1
    seen = np.max(np.abs(np.polynomial.Polynomial.fit(nodes, 1 / (1 + 25 * nodes**2), 12)(t) - 1 / (1 + 25 * t**2)))
    assert seen * (1 - 1e-9) <= polynomials.runge_error(12) <= 5 * seen


def test_bumps_are_steps_with_ramps_between() -> None:
    starts = ramps.around_knots(4, 0.1)
    ends, values = np.sort(np.concatenate([starts, starts + 0.1])), np.exp(np.arange(4) / 4)
    heights = np.concatenate([[0.0], np.repeat(values, 2), [0.0]])
    for make in (ramps.bumps, ramps.shared):
        assert np.allclose(make(np.exp, starts, 0.1).at(X), np.interp(X, ends, heights))
    net, curve = ramps.shared(sine(3), starts, 0.1), sine(3)
    seen = np.max(np.abs(net.at(X) - curve(X)))
    assert seen <= ramps.sup_error(net, curve, starts, 0.1) <= 1.1 * seen


def test_a_soft_staircase_and_its_certified_error() -> None:
    g = sine(7)
    soft = staircase.SoftStaircase(staircase.staircase(g, 14), 70.0)
    steps = 1 / (1 + np.exp(-70.0 * (X[:, None] - np.arange(14) / 14)))
    steps[:, 0] = 1.0  # the first is a constant
    assert np.allclose(soft(X), steps @ np.diff(g(np.arange(14) / 14), prepend=0.0))
    seen = np.max(np.abs(soft(X) - g(X)))
    assert seen <= soft.sup_error(g, 7.0) <= 1.02 * seen and seen < soft.bound(g)


def test_the_maximum_of_planes_and_of_tangents() -> None:
    a, b, x = RNG(0).normal(size=(6, 3)), RNG(1).normal(size=6), RNG(2).random((50, 3))
    net = maximum_net.maximum(a, b)
    assert set(net.widths) == {4} and np.allclose(net(x)[:, 0], np.max(x @ a.T + b, axis=1))
    c = np.array([(i, j) for i in (0.25, 0.75) for j in (0.25, 0.75)])
    assert np.array_equal(maximum_net.lattice(2, np.array([0.25, 0.75])), c)
    below = np.max(2 * x[:, :2] @ c.T - np.sum(c**2, axis=1), axis=1)
    assert maximum_net.tangent_error(maximum_net.tangents(2, 2), x[:, :2]) == pytest.approx(np.max(np.sum(x[:, :2] ** 2, axis=1) - below))


def test_boxes_of_a_linear_function_and_spikes() -> None:
    worst, best = boxes.worst_and_best(boxes.LINEAR[:2], boxes.uniform(2, 0.25))
    assert (worst, best) == (pytest.approx(7 / 4), pytest.approx(7 / 8))
    t = (np.arange(4) + 0.5) / 4
    g = np.interp(X, (t[:, None] + np.array([-1, 0, 1]) / 80).ravel(), np.tile([9.0, 10.0, 9.0], 4))
    net = box_net.shared(np.full(4, 10.0), 4, 1, 1 / 80)
    assert box_net.spikes(4) == pytest.approx(np.mean(np.abs(net.at(X) - g)), rel=1e-3)


def test_random_pieces_are_as_many_as_wanted() -> None:
    f = nets.random_pwl(9, RNG(3))
    assert f.pieces() == 9 and nets.relative_distance(f, f) == 0
    g = nets.through(np.square, 8, 0.25)
    assert np.allclose(g(np.arange(9) / 8), (np.arange(9) / 8) ** 2 - 0.25)


def test_features_of_random_cosines() -> None:
    """The worst target of the family, by least squares for each; the mean of cosines; powers from tanh units."""
    k, t = np.arange(12), (np.arange(24) + 0.5) / 24
    x = np.stack(np.meshgrid(t, t, indexing="ij"), axis=-1).reshape(-1, 2)
    A, worst = features.cosines(x, 8, 5.0, RNG(4)).astype(float), 0.0
    for i, j in ((i, j) for i in k for j in k if i + j):
        y = np.cos(np.pi * i * x[:, 0]) * np.cos(np.pi * j * x[:, 1])
        y /= np.linalg.norm(y) * np.pi * np.hypot(i, j)
        worst = max(worst, float(np.linalg.norm(y - A @ np.linalg.lstsq(A, y, rcond=None)[0])))
    assert features.worst_cosine(8, 5.0, RNG(4)) == pytest.approx(worst)
    errors, exact = features.gaussian_draws(RNG(5).normal(size=(30, 3)), np.array([4, 16]), 400, RNG(6))
    assert errors.shape == (2, 400) and np.allclose(errors.mean(axis=1) * [4, 16], exact, rtol=0.15)
    z = np.linspace(-1, 1, 101)
    for power in (1, 2, 3):
        assert np.max(np.abs(features.tanh_power(power, 0.01, z) - z**power)) < 1e-3
    fourth, second = np.diff(np.tanh(np.arange(-3, 3, 0.01)), 4) / 0.01**4, 2 * np.tanh(0.6) / np.cosh(0.6) ** 2
    assert features.tanh_power_bound(np.array([1.0]))[0] == pytest.approx(np.max(np.abs(fourth)) / (12 * second), rel=1e-3)
