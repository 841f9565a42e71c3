"""Retrieval and its energy: the update is the step that the gradient of the energy asks for."""

import numpy as np

from headway.lab.tools.differences import differences
from headway.lab.tools.retrieval import energy, kernel, retrieve


def test_an_update_is_a_gradient_step_of_the_energy_and_attention() -> None:
    rng = np.random.default_rng(0)
    X, xi = rng.normal(size=(7, 5)), rng.normal(size=(3, 5))
    for state, after in zip(xi, retrieve(X, xi, 0.8), strict=True):
        slope = differences(lambda v: float(energy(X, v[None], 0.8)[0]), state)
        assert np.allclose(slope, state - after, atol=1e-8)
    assert np.allclose(retrieve(X, xi, 0.8), kernel(X, xi, 0.8)) and np.allclose(retrieve(X, xi, None), kernel(X, xi))
    assert np.allclose(retrieve(X, xi, 0.8, 2), retrieve(X, retrieve(X, xi, 0.8), 0.8))
    assert np.allclose(retrieve(X, xi, 0.8, V=2 * X), 2 * retrieve(X, xi, 0.8)) and (energy(X, xi, 0.8) >= 0).all()
