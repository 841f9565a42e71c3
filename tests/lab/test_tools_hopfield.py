"""Hopfield networks beside the registered model, and bit errors by enumeration."""

from itertools import product

import numpy as np
import pytest

from headway.lab.tools.crosstalk import crosstalk, exact_bit_error, unstable
from headway.lab.tools.dense_memory import capacity, energy, formula, stays
from headway.lab.tools.hopfield import descend, hebb, patterns, settle, sgn, symmetric
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
    for trial, fixed in zip(y, found, strict=True):
        x = np.vstack([2.0 * trial - 1, np.ones(21)])
        assert fixed == (x[-1] @ hebb(x) >= 0).all()
    assert 0 < found.sum() < 40


@pytest.mark.parametrize("k", [2, 3, 4])
def test_a_pattern_stays_where_no_flip_lowers_the_energy(k: int) -> None:
    x, F = np.random.default_rng(5).choice([-1, 1], (12 * (k - 1), 12)), energy(k, 12)
    own = np.array([np.delete(x, j, axis=0) * z > 0 for j, z in enumerate(x)])  # seen from z, z is (1, …, 1)
    fixed = [all(F(x @ z).sum() >= F(x @ (flip * z)).sum() for flip in 1 - 2 * np.eye(12)) for z in x]
    assert np.array_equal(stays(own, F)[:, -1], fixed) and 0 < sum(fixed) < len(x)


def test_a_capacity_that_is_out_of_reach_is_no_number(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(5)
    assert 2 < capacity(20, 2, 400, rng) < 3 * formula(20, 2)
    monkeypatch.setattr("headway.lab.tools.dense_memory.LIMIT", 300)
    assert np.isnan(capacity(16, 0, 20, rng))
