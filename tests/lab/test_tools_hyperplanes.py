"""Signed distances beside a minimisation, and cosine units beside their definition."""

import math

import numpy as np
from scipy.optimize import minimize

from headway.lab.tools.cosine_units import cosine_unit, sigmoid_error, sigmoids, step_error
from headway.lab.tools.hyperplanes import margin, projected, score
from headway.lab.tools.staircase import staircase


def test_the_projection_is_the_nearest_point_that_a_minimiser_finds() -> None:
    w, b, x = np.array([[1.0, 2.0, -2.0]]), np.array([1.5]), np.array([[0.3, -0.4, 2.0]])
    found = minimize(lambda p: np.sum((p - x[0]) ** 2), np.zeros(3), constraints={"type": "eq", "fun": lambda p: w[0] @ p + b[0]}).x
    assert np.allclose(projected(w, b, x)[0], found, atol=1e-6) and np.allclose(score(w, b, projected(w, b, x)), 0)
    assert math.isclose(margin(w, b, x, np.array([-1]))[0], -(0.3 - 0.8 - 4 + 1.5) / 3)


def test_a_cosine_unit_turns_where_it_is_extreme_and_sigmoids_follow_its_staircase() -> None:
    h, u = cosine_unit(2.0, 10.0, 0.3), np.linspace(0, 1, 20_001)
    assert np.allclose(h(np.array([0.5])), 0) and np.allclose(h(u), 0.2 * (np.cos(0.3 + 10 * (2 * u - 1)) - math.cos(0.3)))
    assert np.isclose(np.max(h(h.turns)), h(u).max(), atol=1e-6) and np.isclose(np.min(h(h.turns)), h(u).min(), atol=1e-6)
    stairs = staircase(h, 20, 0.5)
    assert step_error(h, 20) >= np.max(np.abs(stairs(u) - h(u))) >= 0.98 * step_error(h, 20)
    kappa = 40 * math.log(60)
    seen = np.max(np.abs(h(u) - sigmoids(stairs, kappa, u))) / 0.2
    assert seen <= sigmoid_error(2.0, 0.1, 20, h) <= 1.1 * seen
