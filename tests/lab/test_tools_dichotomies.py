"""Splits by hyperplanes and sizes of cones against closed forms and enumeration."""

import math

import numpy as np

from headway.lab.tools.dichotomies import cone_share, consistent, cover, dichotomies, recursion, sphere


def test_small_counts() -> None:
    assert [cover(s, 1) for s in (1, 2, 5)] == [2, 2, 2] and [cover(1, n) for n in (1, 2, 5)] == [2, 2, 2]
    assert recursion(5, 3).tolist() == [[2, 2, 2], [2, 4, 4], [2, 6, 8], [2, 8, 14], [2, 10, 22]]
    assert dichotomies(np.eye(3)) == 8 and dichotomies(np.array([[1.0, 0], [0, 1], [1, 1], [1, -1]])) == cover(4, 2) == 8
    assert dichotomies(np.array([[1.0, 0], [2.0, 0], [0, 1]])) == 4  # two of them are on one line through 0


def test_the_octant_the_quadrant_and_a_wedge() -> None:
    assert math.isclose(cone_share(np.eye(3), np.ones(3)), 1 / 8) and math.isclose(cone_share(np.eye(2), np.ones(2)), 1 / 4)
    for angle in (0.3, 1.5, 2.9):  # two half-spaces whose normals make this angle leave (π - angle) / 2π
        z = np.array([[1, 0, 0], [math.cos(angle), math.sin(angle), 0]])
        assert math.isclose(cone_share(z, z.sum(axis=0)), (math.pi - angle) / (2 * math.pi))
    doubled = np.vstack([np.eye(3), [[1, 1, 1]]])  # a point that changes nothing
    assert math.isclose(cone_share(doubled, np.ones(3)), 1 / 8)


def test_directions_are_uniform_and_sorted_into_cones() -> None:
    w = sphere(40_000, 3, np.random.default_rng(0))
    assert np.allclose(np.linalg.norm(w, axis=1), 1) and np.abs(w.mean(axis=0)).max() < 0.02
    assert abs(consistent(w, np.eye(3)).mean() - 1 / 8) < 0.01
