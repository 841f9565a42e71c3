"""Small graphs, and linear maps that do not know the order of the nodes: against the Laplacian, binomial counts and Burnside's lemma."""

from itertools import permutations

import numpy as np
import pytest

from headway.lab.tools.graphs import HEXAGON, TRIANGLES, both_ways, fixed_dimension, patterns, random_graph


def parts(pairs: np.ndarray) -> int:
    """Connected parts of six nodes: the eigenvalue 0 of the Laplacian, as often as there are parts."""
    A = np.zeros((6, 6))
    A[tuple(both_ways(pairs))] = 1
    return int(np.sum(np.abs(np.linalg.eigvalsh(np.diag(A.sum(0)) - A)) < 1e-9))


def test_the_hexagon_and_the_triangles_have_the_same_degrees_and_differ() -> None:
    for pairs in (HEXAGON, TRIANGLES):
        assert np.array_equal(np.bincount(both_ways(pairs)[1]), [2] * 6)
    assert parts(HEXAGON) == 1 and parts(TRIANGLES) == 2


def test_a_random_graph_has_each_edge_once_and_as_many_as_expected() -> None:
    pairs = random_graph(60, 0.3, np.random.default_rng(0))
    assert np.all(pairs[:, 0] > pairs[:, 1]) and len(np.unique(pairs, axis=0)) == len(pairs)
    n = 60 * 59 // 2
    assert abs(len(pairs) - 0.3 * n) < 4 * np.sqrt(0.3 * 0.7 * n)


@pytest.mark.parametrize(("n", "k"), [(2, 2), (3, 2), (4, 2), (2, 4), (3, 3), (3, 4)])
def test_the_fixed_dimension_is_the_mean_trace_and_the_number_of_patterns(n: int, k: int) -> None:
    """Burnside: the dimension of the fixed space is the mean of the characters, which are (fixed points)^k."""
    traces = [sum(i == j for i, j in enumerate(order)) ** k for order in permutations(range(n))]
    assert fixed_dimension(n, k) == np.mean(traces) == len(np.unique(patterns(n, k)))


def test_patterns_are_constant_on_orbits() -> None:
    table = patterns(3, 3).reshape(3, 3, 3)
    for order in permutations(range(3)):
        assert np.array_equal(table[np.ix_(order, order, order)], table)
