"""Retrieval and its energy: the update is the step that the gradient of the energy asks for."""

import numpy as np

from headway.lab.tools.differences import differences
from headway.lab.tools.retrieval import energy, kernel, on_sphere, one_step, recalled, retrieve, update


def test_an_update_is_a_gradient_step_of_the_energy_and_attention() -> None:
    rng = np.random.default_rng(0)
    X, xi = rng.normal(size=(7, 5)), rng.normal(size=(3, 5))
    for state, after in zip(xi, retrieve(X, xi, 0.8), strict=True):
        slope = differences(lambda v: float(energy(X, v[None], 0.8)[0]), state)
        assert np.allclose(slope, state - after, atol=1e-8)
    assert np.allclose(retrieve(X, xi, 0.8), kernel(X, xi, 0.8)) and np.allclose(retrieve(X, xi, None), kernel(X, xi))
    assert np.allclose(retrieve(X, xi, 0.8, 2), retrieve(X, retrieve(X, xi, 0.8), 0.8))
    assert np.allclose(retrieve(X, xi, 0.8, V=2 * X), 2 * retrieve(X, xi, 0.8)) and (energy(X, xi, 0.8) >= 0).all()


def test_one_step_is_the_distance_of_the_update_and_is_bounded() -> None:
    rng = np.random.default_rng(1)
    X, xi = on_sphere(30, 16, 5, 0.1, rng)
    assert np.allclose(np.linalg.norm(X, axis=1), 4) and np.abs(xi - X[:5]).max() < 0.5
    miss, bound = one_step(X, xi, 0.3)
    assert np.allclose(update(X, xi, 0.3), retrieve(X, xi, 0.3)) and np.all(miss <= bound)
    assert np.allclose(miss, np.linalg.norm(update(X, xi, 0.3) - X[:5], axis=1))
    gaps = [min((X[i] - X[j]) @ xi[i] for j in range(30) if j != i) for i in range(5)]
    assert np.allclose(bound, 2 * 4 * 29 * np.exp(-0.3 * np.array(gaps)))
    tiny, _ = one_step(X, xi, 20.0)
    assert tiny.min() > 0 and tiny.max() < 1e-30  # nothing cancels
    assert recalled(2, 64, 0.1, rng) == (1.0, 1.0) and recalled(64, 64, 0.1, rng)[0] < 0.5
