"""Interpolants beside scipy, nets beside interpolants, trees beside their formula."""

import numpy as np
from scipy.interpolate import LinearNDInterpolator, RegularGridInterpolator
from scipy.spatial import Delaunay

from headway.lab.tools.freudenthal import interpolant_net, interpolate, least, multilinear, tabulate
from headway.lab.tools.function_tree import KINDS, root, ternary, tree_errors

RNG = np.random.default_rng(0)


def test_the_net_of_minima() -> None:
    x = RNG.normal(size=(50, 7))
    for k in range(1, 8):
        assert np.allclose(least(k)(x[:, :k])[:, 0], x[:, :k].min(axis=1), atol=1e-14)


def test_interpolation_on_triangles_is_that_of_scipy() -> None:
    """On one cell, with the diagonal of Freudenthal: two triangles given to scipy."""
    table, x = RNG.random((2, 2)), RNG.random((200, 2))
    corners = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], dtype=float)
    inside = x[:, 0] >= x[:, 1]
    for chosen, keep in (([0, 2, 3], inside), ([0, 1, 3], ~inside)):
        theirs = LinearNDInterpolator(Delaunay(corners[chosen]), table.ravel()[chosen])
        assert np.allclose(interpolate(table, x[keep]), theirs(x[keep]), atol=1e-12)


def test_the_net_is_the_interpolant() -> None:
    table, x = tabulate(KINDS[0].h, 4), RNG.random((100, 2))
    assert np.abs(interpolant_net(table)(x)[:, 0] - interpolate(table, x)).max() < 1e-12


def test_multilinear_interpolation_is_that_of_scipy() -> None:
    axes, x = [np.arange(6) / 5] * 4, RNG.random((40, 4))
    values = root(np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 4)).reshape(6, 6, 6, 6)
    assert np.allclose(multilinear(root, 5, x), RegularGridInterpolator(axes, values)(x), atol=1e-12)


def test_a_tree() -> None:
    x = RNG.random((60, 4))
    a, b, c, d = x.T
    first, second = 0.5 + 0.5 * np.sin(a + 2 * b), c * d
    assert np.allclose(root(x), first * second)  # the kinds alternate: sine, product, and a product above


def test_parameters_of_a_tree() -> None:
    assert [tree_errors(n, 8, RNG.random((10, n)))[0] for n in (2, 4, 16)] == [81, 3 * 81, 15 * 81]


def test_a_ternary_tree_and_its_interpolants() -> None:
    x = np.random.default_rng(5).random((40, 9))
    inner = 0.5 + 0.5 * np.sin(x.reshape(40, 3, 3) @ [1, 2, -1])
    assert np.allclose(ternary(x), 0.5 + 0.5 * np.sin(inner @ [1, 2, -1]))
    assert 1e-6 < np.max(np.abs(ternary(x, 16) - ternary(x))) < 0.02
