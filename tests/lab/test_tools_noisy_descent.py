"""Noisy descent beside closed forms and beside many plain runs."""

import numpy as np

from headway.lab.tools.noisy_descent import descend, second_moments


def test_without_noise_it_is_a_power() -> None:
    *_, last = descend(np.array([[1.0, -2.0]]), np.array([0.5, 2.0]), 0.0, [0.3] * 10, np.random.default_rng(0))
    assert np.allclose(last, [[0.85**10, -2 * 0.4**10]], rtol=1e-12)


def test_moments_without_noise_are_those_of_a_geometric_series() -> None:
    xx, mean = second_moments(2.0, 0.5, 0.0, [0.2] * 30)[-1]
    iterates = 2 * 0.9 ** np.arange(1, 31)
    assert np.isclose(xx, iterates[-1] ** 2) and np.isclose(mean, iterates.mean() ** 2)


def test_moments_are_those_of_plain_runs() -> None:
    """x and the mean of its iterates over 20 000 runs that are written out here."""
    rng, rates = np.random.default_rng(1), 0.4 / np.sqrt(np.arange(1, 41))
    x, total = np.full(20_000, 1.5), np.zeros(20_000)
    for rate in rates:
        x = x - rate * (0.7 * x + 0.9 * rng.normal(size=x.size))
        total += x
    found = second_moments(1.5, 0.7, 0.9, rates)[-1]
    for squares, wanted in zip((x**2, (total / 40) ** 2), found, strict=True):
        assert abs(squares.mean() - wanted) < 4 * squares.std() / squares.size**0.5
