"""Expected maxima against enumeration and closed forms, and optimizers' paths against torch's."""

import math
from itertools import product

import numpy as np
import pytest
import torch
from scipy.special import comb, ndtr

from headway.lab.tools.iterates import iterates
from headway.lab.tools.maxima import expected_maximum, expected_most
from headway.training.optimizers.heavy_ball import HeavyBall


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


def test_iterates_are_those_of_torch() -> None:
    w = torch.tensor([1.0, -2.0], dtype=torch.float64, requires_grad=True)
    theirs, path = torch.optim.SGD([w], lr=0.1, momentum=0.5), [w.detach().numpy().copy()]
    for _ in range(5):
        w.grad = w.detach() * torch.tensor([1.0, 3.0])
        theirs.step()
        path.append(w.detach().numpy().copy())
    ours = iterates(lambda p: HeavyBall(p, lr=0.1, momentum=0.5), np.array([1.0, -2.0]), lambda x: x * [1.0, 3.0], 5)
    np.testing.assert_allclose(list(ours), path, rtol=1e-14)
