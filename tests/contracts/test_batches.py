"""What batches owe: every sentence once per epoch, within the budget, in an order that follows from (seed, epoch) alone."""

import collections
import random

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tiny import BOS, EOS, PAD

from headway.data.batches import PairBatch, PairBatches

Pair = tuple[tuple[int, ...], tuple[int, ...]]


def corpus(count: int, seed: int = 1) -> tuple[list[list[int]], list[list[int]]]:
    """Lengths as those of Multi30k: log-normal around 13, targets about as long as sources."""
    draw = np.random.default_rng(seed)
    lengths = np.clip(np.exp(draw.normal(2.5, 0.35, count)), 1, 60).astype(int)
    ratio = np.exp(draw.normal(0.0, 0.12, count))
    rows = lambda ns: [draw.integers(3, 1000, n).tolist() for n in ns]  # noqa: E731
    return rows(lengths), rows(np.maximum(1, (lengths * ratio).astype(int)))


def batches(sources: list[list[int]], targets: list[list[int]], budget: int = 400, seed: int = 1) -> PairBatches:
    return PairBatches(sources, targets, budget=budget, seed=seed, special=(PAD, BOS, EOS))


def pairs_of(batch: PairBatch) -> list[Pair]:
    """The sentences back from the matrices; checks on the way that source and shifted target are as they should be."""
    assert torch.equal(batch.keep, batch.source != PAD)
    found = []
    for source, keep, target, wanted in zip(batch.source, batch.keep, batch.target, batch.wanted, strict=True):
        s, t = source[keep].tolist(), wanted[wanted != PAD].tolist()
        assert keep.tolist() == [True] * len(s) + [False] * (len(keep) - len(s)), "padding stands on the right"
        assert s[-1] == EOS and t[-1] == EOS
        assert target[: len(t)].tolist() == [BOS, *t[:-1]], "the model sees what came before"
        assert set(target[len(t) :].tolist()) <= {PAD}
        found.append((tuple(s[:-1]), tuple(t[:-1])))
    return found


def epoch(b: PairBatches, number: int) -> list[list[Pair]]:
    return [pairs_of(b[number * len(b) + i]) for i in range(len(b))]


@settings(max_examples=40)
@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), min_size=1, max_size=60), st.integers(1, 200), st.integers(0, 3))
def test_every_sentence_exactly_once_and_within_the_budget(lengths: list[tuple[int, int]], budget: int, number: int) -> None:
    sources = [[3 + i] * n for i, (n, _) in enumerate(lengths)]
    targets = [[3 + i] * n for i, (_, n) in enumerate(lengths)]
    b = batches(sources, targets, budget)
    expected = collections.Counter((tuple(s), tuple(t)) for s, t in zip(sources, targets, strict=True))
    assert collections.Counter(p for some in epoch(b, number) for p in some) == expected
    assert collections.Counter(p for some in b.in_order() for p in pairs_of(some)) == expected
    for i in range(len(b)):
        batch = b[number * len(b) + i]
        assert max(batch.source.numel(), batch.target.numel()) <= budget or len(batch.source) == 1


def test_the_order_follows_from_seed_and_epoch_alone() -> None:
    data = corpus(300)
    first, second = batches(*data), batches(*data)
    torch.manual_seed(1), np.random.seed(1), random.seed(1)
    expected = [epoch(first, e) for e in (0, 1, 2)]
    torch.manual_seed(2), np.random.seed(2), random.seed(2)
    assert [epoch(second, e) for e in (2, 0, 1)] == [expected[2], expected[0], expected[1]], "epochs can be read in any order"
    middle = len(first) + 5
    assert pairs_of(batches(*data)[middle]) == expected[1][5], "step n is found without the steps before it"


def test_epochs_and_seeds_differ_but_not_in_number_of_batches() -> None:
    data = corpus(300)
    b = batches(*data)
    orders = [epoch(b, 0), epoch(b, 1), epoch(batches(*data, seed=2), 0)]
    assert all(len(order) == len(b) for order in orders)
    for i, j in ((0, 1), (0, 2), (1, 2)):
        same = sum(x == y for x, y in zip(orders[i], orders[j], strict=True))
        assert same < len(b) / 4, "batches stand where they stood"
        assert {frozenset(x) for x in orders[i]} != {frozenset(x) for x in orders[j]}, "batches are made of the same sentences"


def test_lengths_are_mixed_through_the_epoch() -> None:
    b = batches(*corpus(600))
    widths = [b[i].target.shape[1] for i in range(len(b))]
    assert widths != sorted(widths) and abs(float(np.corrcoef(widths, range(len(widths)))[0, 1])) < 0.5


@pytest.mark.parametrize("budget", [1024, 2048])
def test_little_is_padding(budget: int) -> None:
    b = batches(*corpus(4000), budget=budget)
    all_batches = [b[i] for i in range(len(b))]
    padding = sum(int((x.source == PAD).sum() + (x.wanted == PAD).sum()) for x in all_batches)
    total = sum(x.source.numel() + x.wanted.numel() for x in all_batches)
    assert padding / total < 0.15
    assert np.mean([max(x.source.numel(), x.target.numel()) for x in all_batches]) > 0.8 * budget, "the budget is used"


def test_every_second_batch_of_the_beginning_is_reversed() -> None:
    sources, targets = corpus(300)
    plain = batches(sources, targets)
    both = PairBatches(sources, targets, budget=400, seed=1, special=(PAD, BOS, EOS), both_ways=0.5)
    total = 3 * len(plain)
    assert len(both) == len(plain) and pairs_of(both[1]) == pairs_of(plain[1]), "nothing is known of the training yet"
    both.plan(total)
    for number in range(total):
        wanted, found = pairs_of(plain[number]), pairs_of(both[number])
        reverse = number < round(total / 2) and number % 2 == 1
        assert found == ([(t, s) for s, t in wanted] if reverse else wanted)
