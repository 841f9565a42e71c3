"""Paths of the perceptron beside scikit-learn's, and against its definition."""

import numpy as np
from sklearn.linear_model import Perceptron

from headway.lab.tools.perceptron import XOR, inseparable, labelled, mistakes, path, reachable, walk
from headway.lab.tools.programs import separable


def test_the_path_ends_where_scikit_learns_perceptron_does() -> None:
    z = labelled(3, 0.2, 80, np.random.default_rng(0))
    y = np.where(np.arange(80) % 2, 1, -1)
    theirs = Perceptron(fit_intercept=False, shuffle=False, tol=None, max_iter=300).fit(y[:, None] * z, y)
    w = path(z)
    assert len(w) > 3 and np.allclose(theirs.coef_[0], w[-1]) and mistakes(tuple(w[-1]), z) == 0
    assert np.array_equal(walk(z, np.tile(np.arange(80), (300, 1))).states[-1], w[-1])  # two ways to write it
    assert len(path(z, 2)) == 2


def test_points_keep_their_distance_from_the_hyperplane_and_carry_a_bias() -> None:
    rng = np.random.default_rng(1)
    z = labelled(4, 0.5, 50, rng, bias=0.7)
    assert z.shape == (50, 5) and set(z[:, -1]) == {-1.0, 1.0}


def test_walks_repeat_and_reachable_states_hold_them() -> None:
    xor, z = XOR, inseparable(np.random.default_rng(2))
    assert z.shape == (6, 3) and set(np.abs(z[:, 2])) == {1} and not separable(z.astype(float)) and not separable(xor.astype(float))
    run = walk(xor, np.tile(np.arange(4), (20, 1)))
    start, period = run.cycle()
    assert run.ends[start] == run.ends[start + period] and period >= 1 and len(run.states) == 1 + run.updates.sum()
    states = reachable(xor, 1000)
    assert set(run.states) <= set(states) and all(states[w] == mistakes(w, xor) for w in states)
    for w in states:  # closed under every update
        assert all(tuple(np.add(w, z).tolist()) in states for z in xor if np.dot(w, z) <= 0)
    assert len(reachable(xor, 10)) <= 14
