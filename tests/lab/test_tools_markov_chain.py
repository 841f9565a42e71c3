"""Laws of a Markov chain against power iteration and against frequencies of samples."""

from itertools import pairwise

import numpy as np

from headway.lab.tools.markov_chain import conditional, cross_entropy, divergence, ngrams, sequences, windows


def test_laws_are_stationary_and_samples_follow_them() -> None:
    rng = np.random.default_rng(0)
    table = conditional(rng.random((3, 3, 3)))
    laws, pairs = windows(table), np.full((3, 3), 1 / 9)
    for _ in range(200):
        pairs = np.einsum("ab,abc->bc", pairs, table)
    assert np.allclose(laws[1], pairs) and [law.ndim for law in laws] == [1, 2, 3, 4, 5]
    for shorter, longer in pairwise(laws):
        assert np.allclose(longer.sum(axis=0), shorter) and np.allclose(longer.sum(axis=-1), shorter)
    x = sequences(table, laws[1], 4000, 20, rng)
    counts = np.zeros((3, 3, 3))
    np.add.at(counts, (x[:, :-2], x[:, 1:-1], x[:, 2:]), 1)
    assert np.array_equal(ngrams(x, 3, 3), counts) and np.array_equal(ngrams(x, 3, 1), np.bincount(x.ravel()))
    other = conditional(rng.random((3, 3, 3)))
    gap = cross_entropy(laws[2], other) - cross_entropy(laws[2], table)
    assert np.isclose(divergence(laws[2], other), gap) and np.isclose(divergence(laws[2], table), 0)
    assert np.abs(counts / counts.sum() - laws[2]).max() < 0.005 and x.shape == (4000, 20)
    assert np.isclose(cross_entropy(laws[2], table), -np.sum(laws[2] * np.log(conditional(laws[2]))))
