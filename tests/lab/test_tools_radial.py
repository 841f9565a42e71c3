"""Integrals by radius and transforms on the line, beside closed forms and direct sums."""

import math

import numpy as np
import pytest
from scipy.special import j0

from headway.lab.tools.radial import cap, fourier, mean_norm, nodes, radial_constant, sphere, there_and_back, wave
from headway.lab.tools.transforms import Even

Z = np.array([0.0, 0.4, 3.0, 20.0])


def test_areas_of_spheres() -> None:
    assert np.allclose([sphere(d) for d in (1, 2, 3, 5)], [2, 2 * math.pi, 4 * math.pi, 8 * math.pi**2 / 3], rtol=1e-13)


def test_the_mean_of_a_wave_over_a_sphere() -> None:
    assert np.allclose(wave(1, Z), np.cos(Z), atol=1e-12)
    assert np.allclose(wave(2, Z), j0(Z), atol=1e-12)
    assert np.allclose(wave(3, Z), np.sinc(Z / math.pi), atol=1e-12)
    z = Z[1:]
    assert np.allclose(wave(5, z), 3 * (np.sin(z) - z * np.cos(z)) / z**3, atol=1e-12)


def test_the_rule_is_exact_for_polynomials() -> None:
    x, weight = nodes(1.0, 3.0, 4)
    assert math.isclose(weight @ x**7, (3**8 - 1) / 8, rel_tol=1e-13)


@pytest.mark.parametrize("d", [1, 2, 4])
def test_the_transform_of_a_gaussian(d: int) -> None:
    rho = np.array([0.0, 0.5, 2.0])
    found = fourier(lambda r: np.exp(-(r**2) / 2), d, rho, 12.0)
    assert np.allclose(found, (2 * math.pi) ** (d / 2) * np.exp(-(rho**2) / 2), rtol=1e-11)
    assert math.isclose(there_and_back(lambda r: np.exp(-r * r), d, 0.3, 14.0), (2 * math.pi) ** d * math.exp(-0.09), rel_tol=1e-9)


def test_the_line_by_the_trapezoid_rule() -> None:
    pair = Even(lambda x: np.exp(-np.abs(x)), lambda w: 1 / (math.pi * (1 + w**2)), 0.01, 2**12, 1e-4)
    w, integral = pair.integral()
    x = (np.arange(2**12) - 2**11) * 0.01
    direct = [np.sum(np.exp(-np.abs(x)) * np.cos(v * x)) * 0.01 for v in w[:5]]
    assert np.allclose(integral[:5], direct, rtol=1e-12) and pair.gap() < pair.tolerance
    assert np.allclose(pair.there_and_back(np.array([0.5])), 2 * math.pi * math.exp(-0.5), rtol=1e-3)
    assert math.isclose(pair.barron_constant(50.0), math.log1p(2500) / math.pi, rel_tol=1e-6)


def test_constants_of_a_gaussian_and_the_transform_of_a_cap() -> None:
    assert math.isclose(mean_norm(1), math.sqrt(2 / math.pi), rel_tol=1e-10)
    assert math.isclose(mean_norm(300), math.sqrt(299.5), rel_tol=1e-4)
    assert math.isclose(radial_constant(lambda r: np.exp(-2 * r * r), 3, 6.0, 24.0), 2 * mean_norm(3), rel_tol=1e-9)
    rho = np.array([0.2, 5.0])
    assert np.allclose(cap(rho), fourier(lambda r: 1 - r * r, 5, rho, 1.0) / (2 * math.pi) ** 5, rtol=1e-10)
