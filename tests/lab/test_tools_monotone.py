"""Suprema of errors of constants on cells, beside brute force."""

import numpy as np

from headway.lab.tools.monotone import KINDS, constants, random_monotone, tree_of_constants


def test_a_line_errs_by_half_a_step() -> None:
    assert np.isclose(constants(lambda x: x[..., 0], 1, 8), 1 / 16) and np.isclose(
        constants(lambda x: x.sum(axis=-1), 3, 4), 3 / 8
    )


def test_no_other_constants_are_better() -> None:
    g = random_monotone(2, np.random.default_rng(0))
    fine = (np.arange(64) + 0.5) / 64
    values = g(np.stack(np.meshgrid(fine, fine, indexing="ij"), axis=-1)).reshape(4, 16, 4, 16)
    best = (values.max(axis=(1, 3)) - values.min(axis=(1, 3))).max() / 2  # of a finite sample: a little below
    assert 0.85 * constants(g, 2, 4) < best < constants(g, 2, 4)


def test_the_supremum_of_a_tree_is_approached_and_never_passed() -> None:
    rng, K = np.random.default_rng(0), 8
    x = rng.random((200_000, 4))

    def evaluate(cells: bool) -> np.ndarray:
        v, depth = x, 0
        while v.shape[1] > 1:
            v = (np.clip(np.floor(K * v), 0, K - 1) + 0.5) / K if cells else v
            pairs = range(v.shape[1] // 2)
            v = np.stack([KINDS[(depth + i) % 4](v[:, 2 * i : 2 * i + 2]) for i in pairs], axis=1)
            depth += 1
        return v[:, 0]

    found, exact = np.abs(evaluate(True) - evaluate(False)).max(), tree_of_constants(4, K)
    assert 0.8 * exact < found <= exact
