"""Curves, staircases and random thresholds: exact suprema against fine grids, moduli against enumeration, draws against scipy."""

import numpy as np
import pytest
from scipy.stats import kstest

from headway.lab.pwl1d import Pwl
from headway.lab.tools.curves import Curve, bend, cantor, line, power, root, sine, step, zigzag
from headway.lab.tools.staircase import staircase
from headway.lab.tools.thresholds import SINE, SQUARE, Smooth, X, at_points

GRID = np.linspace(0, 1, 20_001)
CURVES = [line(3.0), bend(2.0, 0.3), sine(7.0), sine(1.5), zigzag(4.0, 9, np.random.default_rng(0)), root(), power(2), power(5)]
named = pytest.mark.parametrize("curve", CURVES, ids=lambda c: c.name)


@named
def test_the_exact_supremum_is_that_of_a_fine_grid(curve: Curve) -> None:
    rng = np.random.default_rng(1)
    knots = np.concatenate([[0.0], np.sort(rng.random(6)), [1.0]])
    f = Pwl(knots, curve(knots) + rng.normal(0, 0.1, 8), 0.0, 0.0)
    seen = np.max(np.abs(curve(GRID) - f(GRID)))
    assert seen <= curve.sup_error(f) * (1 + 1e-12) and curve.sup_error(f) == pytest.approx(seen, abs=2e-3)


@named
def test_the_supremum_over_a_staircase_is_that_of_a_fine_grid(curve: Curve) -> None:
    f = staircase(curve, 7, 0.5)
    seen = np.max(np.abs(curve(GRID) - f(GRID)))
    assert seen <= f.sup_error(curve) * (1 + 1e-12) and f.sup_error(curve) == pytest.approx(seen, abs=2e-3)


@pytest.mark.parametrize("curve", [*CURVES, cantor()], ids=lambda c: c.name)
@pytest.mark.parametrize("h", [0.01, 0.2, 0.7])
def test_the_modulus_bounds_every_difference(curve: Curve, h: float) -> None:
    x = np.linspace(0, 1, 2001)
    lag = round(h * 2000)
    values = curve(x)
    found = max(np.max(np.abs(values[k:] - values[:-k])) for k in range(1, lag + 1))
    assert found <= curve.modulus(np.array(h)) + 1e-9
    if curve.name in ("ρx", "sin 7x", "√x", "x²", "x^5"):  # of the others it is a bound, attained for some h
        assert found == pytest.approx(float(curve.modulus(np.array(h))), rel=0.02)


def test_cantors_function_is_its_own_copy() -> None:
    """c(x/3) = c(x)/2 and c(1 - x) = 1 - c(x), flat in the middle third."""
    x, c = np.random.default_rng(0).random(500), cantor()
    assert np.allclose(c(x / 3), c(x) / 2, atol=1e-9) and np.allclose(c(1 - x), 1 - c(x), atol=1e-9)
    assert np.all(c(np.linspace(0.34, 0.66, 50)) == 0.5)


def test_a_step_is_seen_from_both_sides() -> None:
    jump = step(0.3)
    assert list(jump(jump.turns)) == [0.0, 1.0]


@pytest.mark.parametrize("f", [SINE, SQUARE], ids=["sin 6x", "x²"])
def test_thresholds_are_drawn_from_the_slope(f: Smooth) -> None:
    """The distribution of b is F/V with F(x) = ∫ |g'|, here by scipy's test against a sum on a fine grid."""
    F = np.append(0.0, np.cumsum(np.abs(np.diff(f.curve(GRID))))) / f.V
    assert F[-1] == pytest.approx(1.0, abs=1e-6)
    b, jumps = f.draw(5000, 1, np.random.default_rng(0))
    assert kstest(b[0], lambda x: np.interp(x, GRID, F)).pvalue > 1e-3
    assert np.all(np.sign(jumps) == np.sign(f.slope(b))) and np.allclose(np.abs(jumps), f.V / 5000)


@pytest.mark.parametrize("f", [SINE, SQUARE], ids=["sin 6x", "x²"])
def test_random_staircases_are_the_sums_that_they_stand_for(f: Smooth) -> None:
    b, jumps = f.draw(30, 5, np.random.default_rng(0))
    assert np.allclose(at_points(b, jumps), [(X[:, None] >= places) @ heights for places, heights in zip(b, jumps, strict=True)])
    found = f.sup_errors(b, jumps)
    seen = [np.max(np.abs(f.curve(GRID) - (GRID[:, None] >= p) @ h)) for p, h in zip(b, jumps, strict=True)]
    assert np.all(found >= np.array(seen) - 1e-12) and np.allclose(found, seen, atol=3e-3)


def test_the_variance_of_a_random_staircase_is_that_of_the_binomial_for_monotone_functions() -> None:
    u = SQUARE.curve(X)
    assert SQUARE.variance() == pytest.approx(float(np.mean(u * (1 - u))), rel=1e-9)
