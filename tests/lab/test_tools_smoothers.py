"""Matrices from labels to fits, compared with fits that are computed one by one."""

import numpy as np

from headway.lab.tools.smoothers import kernels, neighbours, random_features, ridge_on_features

x, y = np.linspace(0, 1, 9), np.random.default_rng(0).normal(size=9)


def test_neighbours_average_the_nearest_labels() -> None:
    one, three, every = neighbours(x, (1, 3, 9)) @ y
    np.testing.assert_allclose(one, y)
    np.testing.assert_allclose(three[1:-1], (y[:-2] + y[1:-1] + y[2:]) / 3)
    np.testing.assert_allclose(every, y.mean())


def test_kernels_weigh_by_distance() -> None:
    (S,) = kernels(x, (0.2,))
    weights = np.exp(-((x - x[4]) ** 2) / (2 * 0.2**2))
    np.testing.assert_allclose(S[4], weights / weights.sum())


def test_random_features_fit_a_constant_and_more_with_each_unit() -> None:
    S = random_features(x, (1, 4, 8), np.random.default_rng(1))
    np.testing.assert_allclose(S @ np.ones(9), 1, atol=5e-3)  # but for the ridge penalty of 1e-3
    errors = np.mean((S @ y - y) ** 2, axis=1)
    assert errors[0] > errors[1] > errors[2]


def test_members_of_one_data_set_share_their_labels_only() -> None:
    shape = (5, 1, 30, 1)
    places = np.random.default_rng(2).uniform(-2, 2, shape)
    found = ridge_on_features(places, np.full(shape, 3.0), 0.7, 4, np.random.default_rng(3))
    assert found.shape == (5, 4) and np.ptp(found, axis=1).min() > 0
    np.testing.assert_allclose(found, 3, atol=0.4)
