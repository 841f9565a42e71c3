"""What batches of labelled examples owe: each once per epoch, within the budget, a function of (seed, n) alone."""

import collections

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tiny import PAD

from headway.data.labelled_batches import LabelledBatch, PictureBatches, TextBatches
from headway.data.picture_frame import Frame

LENGTHS = st.lists(st.integers(1, 30), min_size=1, max_size=60)


def texts(lengths: list[int], budget: int = 100, seed: int = 1) -> TextBatches:
    """Text i repeats the token i + 3, and its class is i."""
    ids = [[3 + i] * n for i, n in enumerate(lengths)]
    return TextBatches(ids, np.arange(len(ids)), budget=budget, seed=seed, padding=PAD)


def pictures(count: int, rows: int, seed: int = 1) -> PictureBatches:
    """Picture i is of the grey i, and its class is i."""
    images = np.broadcast_to(np.arange(count, dtype=np.uint8)[:, None, None, None], (count, 3, 5, 1))
    return PictureBatches(
        np.ascontiguousarray(images), np.arange(count), rows=rows, seed=seed, frame=Frame(3, 5, (0.0,), (1.0,))
    )


def examples(batch: LabelledBatch) -> list[int]:
    """The classes, after a look whether every row holds the example of its class."""
    labels = batch.labels.tolist()
    if len(batch.inputs) == 1:
        assert np.rint(batch.inputs[0][:, 0, 2, 4].numpy() * 255).astype(int).tolist() == labels
        return labels
    ids, keep = batch.inputs
    assert torch.equal(keep, ids != PAD) and bool((keep.int().diff(dim=1) <= 0).all()), "padding stands on the right"
    assert [set(row[k].tolist()) for row, k in zip(ids, keep, strict=True)] == [{3 + i} for i in labels]
    return labels


@settings(max_examples=40)
@given(LENGTHS, st.integers(1, 200), st.integers(0, 3))
def test_every_text_once_and_within_the_budget(lengths: list[int], budget: int, epoch: int) -> None:
    b = texts(lengths, budget)
    found = [b[epoch * len(b) + i] for i in range(len(b))]
    assert sorted(i for batch in found for i in examples(batch)) == list(range(len(lengths)))
    assert all(batch.inputs[0].numel() <= budget or len(batch.labels) == 1 for batch in found)
    assert b.largest().inputs[0].shape[1] == max(lengths)
    rows = [(rows.tolist(), examples(batch)) for rows, batch in b.in_order()]
    assert all(which == labels for which, labels in rows)
    assert sorted(i for which, _ in rows for i in which) == list(range(len(lengths)))


@settings(max_examples=40)
@given(st.integers(1, 90), st.integers(1, 40), st.integers(0, 3))
def test_every_picture_once_in_batches_of_like_size(count: int, rows: int, epoch: int) -> None:
    b = pictures(count, rows)
    found = [examples(b[epoch * len(b) + i]) for i in range(len(b))]
    assert sorted(i for batch in found for i in batch) == list(range(count))
    sizes = collections.Counter(map(len, found))
    assert max(sizes) <= rows and max(sizes) - min(sizes) <= 1 and len(b.largest().labels) == max(sizes)
    assert [i for _, batch in b.in_order() for i in examples(batch)] == list(range(count))


@pytest.mark.parametrize("kind", ["texts", "pictures"])
def test_the_order_follows_from_seed_and_number_alone(kind: str) -> None:
    lengths = np.random.default_rng(1).integers(1, 20, 200).tolist()

    def make(seed: int) -> TextBatches | PictureBatches:
        return texts(lengths, 100, seed) if kind == "texts" else pictures(200, 16, seed)

    b, again, other = make(1), make(1), make(2)
    order = [examples(b[i]) for i in range(3 * len(b))]
    assert [examples(again[i]) for i in reversed(range(3 * len(b)))] == order[::-1], "batches can be read in any order"
    assert order[: len(b)] != order[len(b) : 2 * len(b)], "epochs differ"
    assert order != [examples(other[i]) for i in range(3 * len(b))], "seeds differ"
