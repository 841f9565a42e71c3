"""Sawtooth nets, pieces, squares and products, beside interpolation, automatic differentiation and whole numbers."""

import numpy as np
import pytest
import torch

from headway.lab.pwl1d import Pwl, pwl1d
from headway.lab.relu_net import deepen, hinges, random_net, scale
from headway.lab.tools.gates import absolute, product_error, product_net, shallow_square, square_net, sup_to_square
from headway.lab.tools.pieces import pieces_by_slopes, pieces_met, pieces_of, product_bound
from headway.lab.tools.tents import TENT_ON_UNIT, low_tent, shallow_teeth, some_teeth, teeth

X = np.random.default_rng(0).random(500)


def saw(x: np.ndarray, p: int) -> np.ndarray:
    return 1 - np.abs(1 - (x * 2**p) % 2)


@pytest.mark.parametrize("p", [1, 3, 5])
def test_powers_of_the_tent(p: int) -> None:
    for net in (teeth(p), teeth(p, TENT_ON_UNIT), shallow_teeth(p)):
        assert np.allclose(net.at(X), saw(X, p), atol=1e-12)
    assert float(low_tent(0.7).at(0.5)) == 0.7


def test_some_teeth_and_teeth_that_end() -> None:
    few, ended = some_teeth(4, 3, 6), shallow_teeth(4, 15)
    inside = (X * 16 > 3.5) & (X * 16 < 7.5)
    assert np.allclose(few.at(X), np.where(inside, saw(X, 4), 0.5)) and pieces_of(few) == 7
    assert np.allclose(ended.at(X), np.where(X * 16 < 14, saw(X, 4), 0.0)) and ended.nodes == 15


def test_pieces_are_the_slopes_that_torch_finds() -> None:
    rng = np.random.default_rng(1)
    for widths in ([1, 5, 1], [1, 4, 3, 1], [1, 3, 3, 3, 1]):
        net, x = random_net(widths, rng), np.linspace(-30, 30, 60001)
        h = at = torch.tensor(x[:, None], requires_grad=True)
        for w, b in net.layers[:-1]:
            h = (h @ torch.tensor(w).T + torch.tensor(b)).relu()
        (slopes,) = torch.autograd.grad((h @ torch.tensor(net.layers[-1][0]).T).sum(), at)
        changes = 1 + int((slopes.diff(dim=0).abs() > 1e-9).sum())
        assert changes == pieces_met(net, x) <= pieces_of(net) <= product_bound(net.widths)


def test_a_piece_too_short_for_differences_is_not_counted_twice() -> None:
    """1 + (x)_+ - 1e-8 with an identity layer: it passes 0 before 1 is added, so units bend at 0 and 1e-8, the function at 0."""
    net = scale(deepen(hinges([0.0], [1.0], shift=-1e-8), 3), 1.0, 1.0)
    assert pwl1d(net).knots.size == 2 and pieces_by_slopes(net) == 2
    rng = np.random.default_rng(4)
    for widths in ([1, 4, 3, 1], [1, 3, 3, 3, 1]):
        net = random_net(widths, rng)
        assert pieces_by_slopes(net) == pieces_of(net)


def test_squares_interpolate() -> None:
    k = np.arange(2**4 + 1) / 2**4
    for net in (square_net(4), square_net(4, TENT_ON_UNIT)):
        assert np.allclose(net.at(X), np.interp(X, k, k * k), atol=1e-15)
    k = np.arange(8) / 7
    assert np.allclose(shallow_square(7).at(X), np.interp(X, k, k * k) - 1 / (8 * 49), atol=1e-14)
    assert np.isclose(sup_to_square(pwl1d(shallow_square(7))), 1 / (8 * 49), rtol=1e-9)


def test_the_distance_to_the_parabola_is_exact() -> None:
    rng, fine = np.random.default_rng(2), np.linspace(0, 1, 200001)
    for _ in range(5):
        f = Pwl(np.sort(rng.random(4)), rng.random(4), rng.normal(), rng.normal())
        seen = float(np.max(np.abs(f(fine) - fine**2)))
        assert seen <= sup_to_square(f) + 1e-12 and np.isclose(seen, sup_to_square(f), rtol=1e-4)


def test_a_product_is_made_of_three_squares() -> None:
    x, y = np.random.default_rng(3).uniform(-3, 3, (2, 300))
    k = np.arange(2**5 + 1) / 2**5
    square = lambda z: np.interp(np.abs(z) / 6, k, k * k)  # noqa: E731
    found = product_net(5, 3.0)(np.stack([x, y], axis=1))[:, 0]
    assert np.allclose(found, 18 * (square(x + y) - square(x) - square(y)), atol=1e-12)
    assert np.max(np.abs(found - x * y)) <= product_error(5, 3.0)
    assert np.allclose(absolute([[1.0, -2.0]])(np.stack([x, y], axis=1))[:, 0], np.abs(x - 2 * y))
