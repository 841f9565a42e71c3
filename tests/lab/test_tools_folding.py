"""Folding nets: the fold against scipy's triangle wave, the crossings against the cube."""

import numpy as np
import pytest
from scipy.signal import sawtooth

from headway.lab.tools.folding import fold, folding_net, star
from headway.lab.tools.regions import Polygon, cells, zaslavsky


@pytest.mark.parametrize("p", [1, 2, 3, 5])
def test_the_fold_is_a_triangle_wave_of_each_coordinate(p: int) -> None:
    x = np.random.default_rng(0).uniform(0, 1, (200, 2))
    assert np.allclose(fold(2, p)(x), (1 + sawtooth(np.pi * p * x, 0.5)) / 2)


@pytest.mark.parametrize("m", [3, 6, 8])
def test_all_regions_of_the_star_meet_the_square(m: int) -> None:
    net = star(2, m, np.random.default_rng(m))
    assert len(cells(net, Polygon.square(0, 1))) == len(cells(net)) == zaslavsky(2, m)


def test_what_the_last_layer_draws_appears_in_each_small_square() -> None:
    assert len(cells(folding_net(2, 6, 2, np.random.default_rng(0)), Polygon.square(0, 1))) == 9 * zaslavsky(2, 6)
