"""Regression on cells, against closed forms and numpy's least squares."""

import numpy as np
import pytest

from headway.lab.tools.cell_regression import approximation_error, regression_error, size


@pytest.mark.parametrize("d", [1, 2, 3])
def test_the_error_of_a_linear_function_is_its_variance_in_a_cell(d: int) -> None:
    assert approximation_error(lambda x: x[..., 0], 5, d, 1) == pytest.approx(1 / (12 * 5**2))
    assert approximation_error(lambda x: x[..., 0] - 2 * x[..., -1], 3, d, 2) == pytest.approx(0, abs=1e-28)


def test_the_error_of_a_parabola_by_lines() -> None:
    """x² on a cell of length h is a line and h²/4 (t² - 1/3): h⁴/180 on average."""
    assert approximation_error(lambda x: x[..., 0] ** 2, 4, 1, 2) == pytest.approx(4.0**-4 / 180)


def test_one_cell_is_the_plane_of_least_squares() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.random((50, 2)), rng.normal(size=50)
    plane = np.linalg.lstsq(np.column_stack([np.ones(50), x]), y, rcond=None)[0]
    assert regression_error(lambda z: plane[0] + z @ plane[1:], 1, 2, x, y) < 1e-8


def test_cells_are_fitted_each_for_itself() -> None:
    rng = np.random.default_rng(1)
    x, y = rng.random((400, 1)), rng.normal(size=400)
    means = np.array([y[(x[:, 0] * 4).astype(int) == i].mean() for i in range(4)])
    assert regression_error(lambda z: means[(z[..., 0] * 4).astype(int)], 4, 1, x, y) < 1e-8
    assert (size(4, 2, 1), size(4, 2, 2)) == (16, 48)
