"""Expected maxima against enumeration and closed forms, and optimizers' paths against torch's."""

import math
from itertools import product

import pytest
from scipy.special import comb, ndtr

from headway.lab.tools.maxima import expected_maximum, expected_most


def test_the_maximum_of_two_or_three_gaussians_has_a_closed_form() -> None:
    two, three = (expected_maximum(K, lambda x: ndtr(-x), 1.0) for K in (2, 3))
    assert two == pytest.approx(1 / math.sqrt(math.pi), abs=1e-8)
    assert three == pytest.approx(1.5 / math.sqrt(math.pi), abs=1e-8)


def test_the_maximum_of_two_laplace_numbers_has_a_closed_form() -> None:
    assert expected_maximum(2, lambda x: math.exp(-x) / 2, 1.0) == pytest.approx(0.75, abs=1e-8)


@pytest.mark.parametrize("K", [1, 3])
def test_the_largest_count_by_enumeration(K: int) -> None:
    n, p = 4, 0.3
    law = [comb(n, j) * p**j * (1 - p) ** (n - j) for j in range(n + 1)]
    expected = sum(math.prod(law[j] for j in counts) * max(counts) for counts in product(range(n + 1), repeat=K))
    assert expected_most(K, n, p) == pytest.approx(expected)
