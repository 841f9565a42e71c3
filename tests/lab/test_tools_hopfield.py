"""Hopfield networks beside the registered model, and bit errors by enumeration."""

from itertools import product

import numpy as np
import pytest
from scipy.special import erfinv

from headway.lab.tools.crosstalk import crosstalk, exact_bit_error, fixed, unstable, unstable_share
from headway.lab.tools.dense_memory import capacity, energy, formula, stays
from headway.lab.tools.hopfield import (
    biased,
    descend,
    hebb,
    limit,
    patterns,
    recall,
    settle,
    sgn,
    stable_shares,
    symmetric,
)
from headway.models.classical.hopfield_network import HopfieldNetwork


def test_settle_and_descend_end_in_fixed_points_of_the_registered_model() -> None:
    rng = np.random.default_rng(1)
    x = patterns(5, 32, rng)  # a power of 2: the weights of the model are exact, and so are ties
    model = HopfieldNetwork().fit(x)
    assert np.allclose(hebb(x) / 32, model.weights_)
    starts = patterns(30, 32, rng)
    ends = settle(hebb(x)[None], np.zeros(30, dtype=int), starts, rng)
    slow = descend(starts.astype(float), model.weights_, np.zeros(32), 100, rng)
    for end in (ends, slow.x):
        assert np.array_equal(model.transform(end), end) and not np.array_equal(end, starts)
    assert np.array_equal(slow.x, sgn(slow.x @ model.weights_)) and slow.settled.all()
    assert np.allclose(slow.energies[-1], model.energy(slow.x)) and np.allclose(np.diff(slow.energies, axis=0), slow.predicted)


def test_settle_keeps_nets_apart() -> None:
    rng = np.random.default_rng(2)
    sets = [patterns(2, 60, rng) for _ in range(3)]
    found = settle(np.stack([hebb(x) for x in sets]), np.repeat(np.arange(3), 2), np.concatenate(sets), rng)
    assert np.array_equal(found, np.concatenate(sets))
    w = symmetric(9, rng)
    assert np.array_equal(w, w.T) and not np.diagonal(w).any()


@pytest.mark.parametrize(("s", "n"), [(2, 4), (3, 3), (2, 5)])
def test_the_probability_of_a_bit_error_by_enumeration(s: int, n: int) -> None:
    turned = [np.mean(unstable(x, crosstalk(x))) for x in (np.reshape(v, (s, n)).astype(float) for v in product((-1, 1), repeat=s * n))]
    assert np.isclose(np.mean(turned), exact_bit_error(s, n))


def test_crosstalk_is_the_field_less_the_signal() -> None:
    x = patterns(7, 30, np.random.default_rng(3))
    field = x @ hebb(x)
    assert np.array_equal(crosstalk(x), x * field - 29) and np.array_equal(unstable(x, crosstalk(x)), np.where(field < 0, -1, 1) != x)


def test_a_dense_memory_with_squares_is_the_hopfield_net() -> None:
    """Σ F(o) - F(o - 2ξ_i) = 4 Σ (o ξ_i - 1) is the field without the diagonal; of a pattern (1, …, 1) a tie stays."""
    y = np.random.default_rng(4).integers(0, 2, (40, 6, 21), dtype=np.int8)
    found = stays(y, energy(2, 21))[:, -1]
    for trial, stable in zip(y, found, strict=True):
        x = np.vstack([2.0 * trial - 1, np.ones(21)])
        assert stable == (x[-1] @ hebb(x) >= 0).all()
    assert 0 < found.sum() < 40


def test_a_pattern_stays_where_no_flip_lowers_the_energy() -> None:
    rng, shares = np.random.default_rng(5), []
    for k, s in ((2, 3), (2, 6), (3, 12), (4, 40)):
        x, F = rng.choice([-1, 1], (s, 12)), energy(k, 12)
        own = np.array([np.delete(x, j, axis=0) * z > 0 for j, z in enumerate(x)])  # seen from z, z is (1, …, 1)
        lowest = [all(F(x @ z).sum() >= F(x @ (flip * z)).sum() for flip in 1 - 2 * np.eye(12)) for z in x]
        assert np.array_equal(stays(own, F)[:, -1], lowest)
        shares.append(np.mean(lowest))
    assert max(shares) > 0.3 and min(shares) < 0.7


def test_a_capacity_that_is_out_of_reach_is_no_number(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(5)
    assert 2 < capacity(20, 2, 400, rng) < 3 * formula(20, 2)
    monkeypatch.setattr("headway.lab.tools.dense_memory.LIMIT", 300)
    assert np.isnan(capacity(16, 0, 20, rng))


def test_the_limit_of_large_nets_solves_its_equation_up_to_0_138() -> None:
    alpha, m = limit()
    y = np.array([erfinv(v) for v in m[:2000:100]])
    assert np.allclose(y * (np.sqrt(2 * alpha[:2000:100]) + 2 / np.sqrt(np.pi) * np.exp(-y * y)), m[:2000:100])
    assert abs(alpha[0] - 0.1379) < 1e-4 and np.all(np.diff(alpha) <= 0) and np.all(np.diff(m) >= 0)


def test_shares_of_stable_bits_and_recall_of_a_few_patterns() -> None:
    rng = np.random.default_rng(6)
    x = patterns(3, 100, rng)
    assert np.array_equal(fixed(x), ~unstable(x, crosstalk(x)).any(axis=1)) and fixed(x).all()
    assert abs(biased(200, 200, rng).mean() - 0.4) < 0.02
    share, square = unstable_share(100, 200, 5, rng)
    assert abs(share - exact_bit_error(100, 200)) < 0.01 and abs(square - 0.5) < 0.05
    stored, random, without, chance = stable_shares(5, 100, 4, rng)
    assert stored > 0.99 and without > 0.99 and 0.5 < random < 0.75 and 0.4 < chance < 0.6
    assert recall(100, 1, (0.0, 0.02), rng).shape == (2, 2, 10) and recall(100, 1, (0.0,), rng).mean() > 0.95
