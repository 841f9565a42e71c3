"""The Gaussian targets of Barron's theorem and their random units, beside scipy and brute force."""

import math

import numpy as np
import pytest
from scipy import stats

from headway.lab.tools.gaussians import (
    Gaussian,
    affordable,
    ball,
    barron_constant,
    cosine_errors,
    greedy,
    net_errors,
    steps,
)


@pytest.mark.parametrize("d", [1, 2, 7, 60])
def test_the_constant_is_the_mean_of_a_chi_variable(d: int) -> None:
    assert math.isclose(barron_constant(d, 0.5), stats.chi.mean(d) / 0.5, rel_tol=1e-12)


@pytest.mark.parametrize(("d", "degrees"), [(1, 1), (5, 1), (5, 0)])
def test_lengths_of_frequencies_have_the_distribution_of_scipy(d: int, degrees: int) -> None:
    w = Gaussian(d, sigma=2.0).frequencies(4000, np.random.default_rng(0), degrees)
    assert stats.kstest(2 * np.linalg.norm(w, axis=1), stats.chi(d + degrees).cdf).pvalue > 1e-3
    assert abs(w[:, 0].mean()) < 4 * w[:, 0].std() / math.sqrt(4000)


def test_points_of_the_ball_are_uniform() -> None:
    x = ball(4000, 3, np.random.default_rng(1))
    assert stats.kstest(np.linalg.norm(x, axis=1) ** 3, "uniform").pvalue > 1e-3
    assert stats.kstest(x[:, 2] / np.linalg.norm(x, axis=1), stats.uniform(-1, 2).cdf).pvalue > 1e-3  # Archimedes


def test_a_cosine_unit_is_its_formula_and_vanishes_at_0() -> None:
    f, w, x = Gaussian(2, shift=1.0), np.array([[0.6, -0.8], [3.0, 4.0]]), np.array([[0.0, 0.0], [0.3, 0.1]])
    found = f.cosines(x, w)
    b = -(w[1] @ f.centre)
    assert np.all(found[0] == 0)
    assert math.isclose(found[1, 1], f.C / 5 * (math.cos(b + 1.3) - math.cos(b)), rel_tol=1e-12)
    assert f.cosines(x.astype(np.float32), w).dtype == np.float32


def test_the_mean_of_step_units_over_t_is_the_cosine_unit() -> None:
    """h(y) = ∫_0^y h'(t) dt: for one direction and a fine grid of thresholds."""
    f, rng = Gaussian(1, shift=0.7), np.random.default_rng(2)
    made = steps(f, 1, rng)
    w, t = made.a * 2.5, (np.arange(20000) + 0.5) / 10000 - 1
    v = -2 * f.C * np.sin(2.5 * t - float(w[0, 0]) * f.centre[0])
    many = type(made)(np.repeat(made.a, t.size, axis=0), t, v)
    for x in (-0.9, -0.2, 0.0, 0.6):
        point = np.array([[x]])
        assert abs(many(point).mean() - f.cosines(point, w)[0, 0]) < 1e-3
        assert abs(many(point, kappa=4000.0).mean() - f.cosines(point, w)[0, 0]) < 1e-3


def test_errors_of_nets_are_those_of_the_first_units() -> None:
    f, x, rng = Gaussian(1), np.array([[0.5], [1.0]]), np.random.default_rng(3)
    units = rng.normal(size=(2, 6)).astype(np.float32)
    found = net_errors(lambda x, n, rng: units[:, :n], f, x, (2, 6), 1, rng)[0]
    expected = [(units[:, :n].mean(axis=1) - f.rise(x)) ** 2 for n in (2, 6)]
    assert found.shape == (2, 2) and np.allclose(found, np.transpose(expected), rtol=1e-5)
    cosines = cosine_errors(f, x, (2, 200), 20, rng)
    assert cosines.shape == (20, 2, 2) and np.all(cosines[:, :, 1].mean(axis=0) < 0.1 * cosines[:, :, 0].mean(axis=0))


def test_greedy_takes_the_best_column_each_time() -> None:
    rng = np.random.default_rng(4)
    units, target = rng.normal(size=(30, 8)), rng.normal(size=30)
    chosen: list[int] = []
    for n in range(1, 6):
        errors = [np.sum((target - units[:, [*chosen, j]].sum(axis=1) / n) ** 2) for j in range(8)]
        chosen.append(int(np.argmin(errors)))
    assert greedy(units, target, 5).tolist() == chosen


def test_too_much_work_is_refused() -> None:
    assert [holds for holds, _ in affordable((2,), (10, 1000), 100, 100)] == [True, True]
    assert [holds for holds, _ in affordable((2,), (10, 100), 10**5, 10**4)] == [False, False]
