"""Gate chains, partitions of unity and the net of Yarotsky beside what is built as matrices and beside scipy."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from headway.lab.pwl1d import pwl1d
from headway.lab.tools.gate_chains import certified_gap, chain_knots, polynomial_net, power_gap, power_net
from headway.lab.tools.multiindex import below
from headway.lab.tools.partition_of_unity import (
    active,
    local_taylor,
    partition,
    sine,
    sine_error,
    taylor_error,
    unit_ball,
)
from headway.lab.tools.taylor_net import TaylorNet

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("net", [TaylorNet(1, 3, 3, 4), TaylorNet(2, 2, 2, 4), TaylorNet(1, 1, 5, 2)], ids=str)
def test_evaluated_counted_and_built_are_the_same_net(net: TaylorNet) -> None:
    functions, x = unit_ball(net.d), RNG.random((40, net.d))
    built = [net.matrices(f) for f in functions]
    assert np.abs(np.array([b(x)[:, 0] for b in built]) - net(functions, x)).max() < 1e-12
    counted = built[2]  # no derivative of exp is 0 anywhere
    assert (net.size.units, net.size.weights, net.size.depth) == (counted.nodes, counted.weights, counted.depth)


def test_the_net_is_linear_between_its_knots() -> None:
    net = TaylorNet.reaching(1, 3, 0.1)
    t = net.knots()
    ends, middles = net(unit_ball(1), t[:, None]), net(unit_ball(1), (t[1:, None] + t[:-1, None]) / 2)
    assert np.abs(middles - (ends[:, 1:] + ends[:, :-1]) / 2).max() < 1e-13


def test_knots_of_a_chain_contain_those_of_its_layers() -> None:
    """`pwl1d` goes through the layers of the net; both must find the same bends."""
    t, largest = chain_knots(np.array([-1.0, 0.0, 1.0]), np.array([-1.0, 0.0, 1.0]), 2, 3)
    net = power_net(3, 3)
    bends = pwl1d(net).simplified().knots
    inside = bends[(bends > -1) & (bends < 1)]
    assert np.all(np.min(np.abs(inside[:, None] - t), axis=1) < 1e-9) and largest >= np.abs(net.at(t)).max()


def test_the_gap_of_a_power_is_that_of_a_search() -> None:
    t = np.linspace(-1, 1, 6)
    v = t**5 + RNG.normal(0, 0.02, 6)
    pieces = [
        minimize_scalar(lambda x: -abs(np.interp(x, t, v) - x**5), bounds=b, method="bounded") for b in pairwise(t)
    ]
    seen = max(np.abs(v - t**5).max(), *(-p.fun for p in pieces))
    assert abs(power_gap(t, v, 5) - seen) < 1e-6
    assert seen <= certified_gap(t, v, lambda x: x**5, lambda x: 20 * np.abs(x) ** 3) < 1.2 * seen


def test_a_polynomial_of_chains() -> None:
    x, a = np.linspace(-1, 1, 50), [0.5, -1.0, 0.25, 2.0]
    assert np.abs(polynomial_net(a, 10).at(x) - np.polynomial.polynomial.polyval(x, a)).max() < 4 * 2.0 * 4.0**-9


def test_active_parts_are_all_that_are_not_zero() -> None:
    for d, N in ((1, 8), (2, 5), (3, 3)):
        x = RNG.random((300, d))
        every = partition(x, N)
        assert np.abs(every.sum(axis=1) - 1).max() < 1e-14 and np.sum(every > 1e-13, axis=1).max() <= 2**d
        assert np.abs(sum(np.prod(psi, axis=1) for _, psi in active(x, N)) - 1).max() < 1e-14
        f = sine(d)
        grid = np.stack(np.meshgrid(*[np.arange(N + 1) / N] * d, indexing="ij"), axis=-1).reshape(-1, d)
        slopes = np.stack([f.partial(k, grid) for k in below(d, 2)[1:]], axis=-1)
        dense = np.sum(every * (f(grid) + np.sum(slopes * (x[:, None] - grid), axis=-1)), axis=1)
        assert np.abs(local_taylor(f, x, N, 2) - dense).max() < 1e-13


def test_one_cell_is_enough_for_a_sine() -> None:
    """The error of the whole cube, found without the symmetry, lies between the two ends."""
    for d, N, n in ((1, 6, 2), (2, 4, 2)):
        one, cube = sine_error(d, N, n), taylor_error(sine(d), N, n, 0.02, 200_000)
        assert one.low <= cube.high and cube.low <= one.high
