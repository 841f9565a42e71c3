"""Spectra on a periodic box, beside closed forms."""

import math

import numpy as np

from headway.lab.tools.gaussians import barron_constant
from headway.lab.tools.spectrum import Mixture, bump, combined, constant, mixture, plateau, ridge, spectrum

ONE = Mixture(np.ones(1), np.array([[0.4]]), np.array([0.7]))


def test_the_spectrum_of_a_gaussian_is_a_normal_density() -> None:
    norm, mass = spectrum(ONE, 1, 2048)
    width = 2 * math.pi / 192
    assert np.allclose(mass / width, 0.7 / math.sqrt(2 * math.pi) * np.exp(-((0.7 * norm) ** 2) / 2), atol=1e-12)
    assert math.isclose(constant(ONE, 1, 2048), barron_constant(1, 0.7), rel_tol=1e-3)


def test_slopes_of_a_mixture() -> None:
    f = mixture(3, 2, np.random.default_rng(0))
    x, h = np.array([0.3, -0.2]), 1e-6
    numeric = [(f(x + h * e) - f(x - h * e)) / (2 * h) for e in np.eye(2)]
    assert math.isclose(float(f.steepness(x)), float(np.linalg.norm(numeric)), rel_tol=1e-6)
    assert math.isclose(ONE.steepest(), math.exp(-0.5) / 0.7, rel_tol=0.03) and ONE.steepest() >= math.exp(-0.5) / 0.7


def test_functions_made_of_others() -> None:
    f, x = mixture(3, 2, np.random.default_rng(1)), np.random.default_rng(2).uniform(-2, 2, (50, 2))
    assert np.allclose(f.stretched(1.3)(x), f(x / 1.3)) and np.allclose(f.moved(np.ones(2))(x), f(x - 1))
    assert np.allclose(combined(f, bump, np.multiply)(x), f(x) * bump(x))
    assert np.allclose(ridge(ONE, np.array([2, 1]))(x), ONE(2 * x[:, :1] + x[:, 1:]))
    assert np.allclose(ridge(ONE, np.array([2, 1]))(x + 24), ONE(2 * x[:, :1] + x[:, 1:]))


def test_a_plateau_is_1_inside_and_0_outside() -> None:
    assert np.allclose(plateau(np.array([[0.0], [1.0], [3.0], [9.0]])), [1, 1, 0, 0]) and 0.4 < plateau(np.array([2.0])) < 0.6
