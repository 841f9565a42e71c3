"""Activation regions: polygons against linear programs, one input against `pwl1d`, arrangements against closed forms."""

import numpy as np
import pytest

from headway.lab.pwl1d import pwl1d
from headway.lab.relu_net import ReluNet, random_net
from headway.lab.tools.regions import (
    Polygon,
    arrangement,
    bends,
    cells,
    crossings,
    distinct_maps,
    most_regions,
    signs_at,
    zaslavsky,
)


@pytest.mark.parametrize("inputs", [1, 2])
@pytest.mark.parametrize("seed", range(3))
def test_clipping_and_linear_programs_find_the_same_regions(seed: int, inputs: int) -> None:
    net = random_net([inputs, 4, 3, 1], np.random.default_rng(seed))
    clipped, solved = cells(net), cells(net, programs=True)
    assert {c.signs.tobytes() for c in clipped} == {c.signs.tobytes() for c in solved}
    assert len(clipped) == len({c.signs.tobytes() for c in clipped}) == len(solved)


@pytest.mark.parametrize("seed", range(5))
def test_one_input_agrees_with_the_breakpoints(seed: int) -> None:
    net = random_net([1, 6, 5, 4, 1], np.random.default_rng(seed))
    found = cells(net)
    assert all(np.array_equal(signs_at(net, c.part.centre), c.signs) for c in found)
    assert len(found) == len(pwl1d(net).knots)  # one of the knots is 0, where nothing bends


@pytest.mark.parametrize("widths", [(2, 8, 8, 1), (3, 5, 4, 1)])
def test_each_region_has_the_signs_and_the_map_of_the_net_at_its_centre(widths: tuple[int, ...]) -> None:
    net = random_net(widths, np.random.default_rng(0))
    for cell in cells(net):
        assert np.array_equal(signs_at(net, cell.part.centre), cell.signs)
        assert np.allclose(cell.M @ cell.part.centre + cell.v, net(cell.part.centre))


def test_random_points_meet_known_regions_only() -> None:
    rng = np.random.default_rng(1)
    net = random_net([2, 16, 16, 16, 1], rng)
    known = {c.signs.tobytes() for c in cells(net)}
    assert {s.tobytes() for s in signs_at(net, rng.normal(0, 3, (20000, 2)))} <= known
    assert len(known) <= most_regions(2, net.widths)


def test_arrangements() -> None:
    rng = np.random.default_rng(2)
    for n, m in [(1, 5), (2, 6), (3, 6)]:
        assert len(arrangement(rng.normal(size=(m, n)), rng.normal(size=m))) == zaslavsky(n, m)
    parallel = np.tile([0.6, -0.8], (4, 1))
    assert len(arrangement(parallel, np.arange(4.0))) == 5
    crossed = np.vstack([parallel, [1.0, 0.0]])
    assert len(arrangement(crossed, np.arange(5.0))) == 10
    assert len(arrangement(rng.normal(size=(6, 2)), np.zeros(6))) == 12


def test_the_polygons_of_a_square_fill_it() -> None:
    found = cells(random_net([2, 6, 6, 1], np.random.default_rng(3)), Polygon.square(-2, 3))
    assert sum(cell.polygon.area for cell in found) == pytest.approx(25, rel=1e-9)


def test_the_lines_of_a_second_layer_bend_where_they_meet_the_first() -> None:
    """|x| - 1 = 0 as a line of the plane has no bend, |x| - y = 0 one, at 0."""
    first = [[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]], np.zeros(4)
    for row, count in (([1.0, 1, 0, 0], 0), ([1.0, 1, -1, 1], 1)):
        net = ReluNet((first, ([row], [-1.0 if count == 0 else 0.0]), ([[1.0]], [0.0])))
        found = bends(net, cells(net, Polygon.square(-2, 3)))
        assert found.shape == (count, 2) and np.allclose(found, 0)


def test_crossings_are_counted_once() -> None:
    w, b = np.array([[1.0, 0], [0, 1], [1, 1], [1, 0], [1, -1]]), np.array([0.0, 0, 0, 1, 0])
    assert len(crossings(w, b)) == 2  # three of the lines meet in 0, the fourth is beside it
    assert len(crossings(w[:4], b[:4])) == 2  # the first is parallel


def test_regions_may_share_an_affine_map() -> None:
    twins = cells(ReluNet((([[1.0], [1.0]], [0.0, 0.0]), ([[1.0, -1.0]], [0.0]))))
    assert (len(twins), distinct_maps(twins)) == (2, 1)
