"""Nets, boxes, kernels, Fejér means and features against numpy, scipy, scikit-learn, closed forms and enumeration."""

from itertools import product

import numpy as np
import pytest
from scipy.integrate import quad
from sklearn.linear_model import OrthogonalMatchingPursuit
from sklearn.metrics.pairwise import polynomial_kernel, rbf_kernel

from headway.lab.certified import certified_sup
from headway.lab.pwl1d import Pwl, pwl1d, sup_distance
from headway.lab.tools import box_net, boxes, features, fejer, kernels, lipschitz, nets, ridge_powers
from headway.lab.tools.curves import Function
from headway.lab.tools.multiindex import exponents, monomials
from headway.lab.tools.programs import minimax

RNG = np.random.default_rng


def test_an_interpolant_is_numpys() -> None:
    knots = np.append(0.0, np.cumsum(RNG(0).dirichlet(np.ones(9))))
    net, x = nets.interpolant(np.sin, knots), RNG(1).random(200)
    assert net.nodes == 9 and np.allclose(net.at(x), np.interp(x, knots, np.sin(knots)), atol=1e-12)


def test_hinges_are_the_function_on_the_whole_line() -> None:
    f = Pwl(np.array([-1.0, 0.5, 2.0]), np.array([1.0, -2.0, 0.0]), 0.7, -1.3)
    assert sup_distance(pwl1d(nets.as_hinges(f)), f, -9, 9) < 1e-12


@pytest.mark.parametrize("sigma", [np.cos, np.exp], ids=["cos", "exp"])
def test_a_product_of_nets_is_the_product_of_their_values(sigma: Function) -> None:
    f, g = (nets.random_units(sigma, 4, 3, RNG(s)) for s in (0, 1))
    x = RNG(2).normal(size=(50, 3))
    assert np.allclose(nets.multiply(f, g)(x), f(x) * g(x)) and f.parameters == 4 * (3 + 2)


def test_minimax_is_chebyshevs_best_line_and_free_in_its_coefficients() -> None:
    x = np.linspace(0, 0.25, 401)
    assert minimax(x[:, None] ** np.arange(2), x * x)[0] == pytest.approx(0.25**2 / 8, abs=1e-9)
    error, v = minimax(1e-5 * np.eye(2), np.array([1.0, -1.0]))
    assert error < 1e-9 and np.allclose(v, [1e5, -1e5])


@pytest.mark.parametrize("d", [1, 2])
def test_extremes_on_a_box_are_those_that_branch_and_bound_finds(d: int) -> None:
    terms, tree = boxes.TERMS[:d], boxes.random_tree(d, 0.4, RNG(0))
    assert np.all(tree.hi - tree.lo <= 0.4) and np.prod(tree.hi - tree.lo, axis=1).sum() == pytest.approx(1)
    for i in range(3):
        one = boxes.Boxes(tree.lo[i : i + 1], tree.hi[i : i + 1], np.array([0.2]))
        found = certified_sup(lambda x: boxes.value(terms, x) - 0.2, sum(t.rho for t in terms), one.lo[0], one.hi[0], rtol=1e-3)
        assert found.low * (1 - 1e-9) <= boxes.sup_error(terms, one) <= found.high * (1 + 1e-9)


@pytest.mark.parametrize(("d", "n"), [(1, 5), (2, 4), (3, 3)])
def test_three_ways_to_write_a_net_of_boxes_agree(d: int, n: int) -> None:
    gamma, alpha, x = 0.1 / n, boxes.middles(n, d), RNG(0).random((300, d))
    separate, shared = box_net.separate(alpha, n, d, gamma), box_net.shared(alpha, n, d, gamma)
    assert (separate.nodes, shared.nodes) == (n**d * (4 * d + 1), n**d + 4 * d * n)
    for net in (separate, shared):
        assert np.allclose(net(x)[:, 0], box_net.evaluate(alpha, n, gamma, x), atol=1e-10)


def test_the_integral_is_scipys() -> None:
    net = box_net.shared(boxes.middles(4, 1), 4, 1, 0.02)
    exact = sum(quad(lambda x: abs(net.at(x) - np.sin(3 * x)), a, a + 0.05, limit=200)[0] for a in np.arange(20) / 20)
    assert box_net.Integral(1, 6, RNG(0))(4, 0.02)[0] == pytest.approx(exact, rel=1e-4)


@pytest.mark.parametrize("d", [1, 2, 3])
def test_the_error_of_cells_is_that_of_many_points(d: int) -> None:
    c, omega, start = lipschitz.ring(d, RNG(d))
    x, n = RNG(9).random((400_000, d)), 4

    def g(x: np.ndarray) -> np.ndarray:
        return np.sin(omega * (np.max(np.abs(x - c), axis=1) - start)) / omega

    centre = (np.minimum(np.floor(x * n), n - 1) + 0.5) / n
    seen, exact = float(np.max(np.abs(g(x) - g(centre)))), lipschitz.cell_error(c, omega, start, n)
    assert seen <= exact * (1 + 1e-12) and exact == pytest.approx(seen, rel=0.05) and exact <= 1 / (2 * n)


def test_tents_are_the_signs_at_the_centres() -> None:
    middle, signs = lipschitz.centres(3, 2), RNG(0).choice([-1.0, 1.0], (5, 9))
    assert np.allclose(lipschitz.tents(signs, middle, 1 / 3, middle), signs.T / 6)


def test_kernels_are_those_of_scikit_learn_and_of_their_features() -> None:
    x, z = RNG(0).normal(size=(6, 3)), RNG(1).normal(size=(5, 3))
    assert np.allclose(kernels.polynomial(x, z, 4), polynomial_kernel(x, z, degree=4, gamma=1, coef0=1))
    assert np.allclose(kernels.polynomial_features(x, 4) @ kernels.polynomial_features(z, 4).T, kernels.polynomial(x, z, 4))
    a, b = RNG(2).uniform(-1, 1, 6), RNG(3).uniform(-1, 1, 7)
    assert np.allclose(kernels.gaussian(a, b, 1.5), rbf_kernel(a[:, None], b[:, None], gamma=1.5))
    assert np.allclose(kernels.gaussian_features(a, 60, 1.5) @ kernels.gaussian_features(b, 60, 1.5).T, kernels.gaussian(a, b, 1.5))


@pytest.mark.parametrize(("f", "a"), [(lambda x: abs(x - 0.3), fejer.bend_coefficients(0.3, 8)), (np.sqrt, fejer.root_coefficients(8))])
def test_cosine_coefficients_are_scipys_integrals(f: Function, a: np.ndarray) -> None:
    parts = [quad(f, 0, 1, weight="cos", wvar=k * np.pi, epsabs=1e-11, limit=500)[0] for k in range(9)]
    assert np.allclose(a, np.array(parts) * np.append(1, np.full(8, 2)), atol=1e-9)


def test_fejers_mean_is_the_mean_of_partial_sums() -> None:
    a, x = fejer.root_coefficients(6), RNG(0).random((20, 1))
    partial = [fejer.cosine_net(a[: k + 1])(x) for k in range(7)]
    assert np.allclose(fejer.cosine_net(fejer.fejer(a))(x), np.mean(partial, axis=0))
    circle = fejer.circle_net(0.3, 40)(np.linspace(-3, 3, 200)[:, None])
    assert np.max(np.abs(circle - np.abs((np.linspace(-3, 3, 200) - 0.3 + np.pi) % (2 * np.pi) - np.pi))) <= fejer.sharp(40) + 1e-12


def test_ridge_powers_are_the_polynomial() -> None:
    w, x, p = ridge_powers.directions(3, 4, RNG(0)), RNG(1).uniform(-1, 1, (40, 3)), RNG(2).normal(size=15)
    c = np.linalg.solve(ridge_powers.coefficients(w, 4), p)
    exact = monomials(x, exponents(3, 4)) @ p
    assert np.allclose((x @ w.T) ** 4 @ c, exact)
    net = ridge_powers.ridge_net(w, c, 4, 17)
    assert net.nodes == 15 * 16 and np.allclose(net(x)[:, 0] + ridge_powers.gap(w, c, 4, 17, x), exact)


def test_residuals_are_those_of_least_squares_and_the_pursuit_is_scikit_learns() -> None:
    A, y = RNG(0).normal(size=(80, 12)), RNG(1).normal(size=80)
    assert np.allclose(features.residuals(A, y), [features.residual(A[:, :m], y) for m in range(1, 13)])
    theirs = OrthogonalMatchingPursuit(n_nonzero_coefs=5, fit_intercept=False).fit(A / np.linalg.norm(A, axis=0), y)
    left = np.mean((y - A / np.linalg.norm(A, axis=0) @ theirs.coef_) ** 2)
    assert features.matching_pursuit(A, y, 5)[-1] == pytest.approx(left)


def test_one_cosine_is_learnt_in_five_dimensions() -> None:
    rng = RNG(0)
    w = rng.normal(size=5)
    assert features.learnt_cosine(10 * w / np.linalg.norm(w), rng.uniform(-1, 1, (500, 5)), rng) < 1e-12


def test_no_space_of_cosines_beats_the_lower_bound() -> None:
    """Among the first N cosines in d = 2 the best space of dimension m takes the m largest, and leaves the next one."""
    lengths = sorted(np.hypot(i, j) for i, j in product(range(12), repeat=2) if i + j)
    for m in (5, 20):
        assert features.no_space_is_better(2, m) <= 1 / (np.pi * lengths[m])
