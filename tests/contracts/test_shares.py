"""A batch divided into shares: every row in exactly one of them, with all that belongs to it."""

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from headway.data.annotated_batches import AnnotatedBatch, Objects
from headway.data.graphs import GraphBatch
from headway.data.labelled_batches import LabelledBatch
from headway.data.masked_batches import MaskedBatch
from headway.data.preference_batches import PreferenceBatch
from headway.data.windows import WindowBatch, Windows
from headway.layers.norms.batch_norm import BatchNorm
from headway.training.shares import Share, share, share_of


def numbers(count: int, *more: int) -> Tensor:
    """Row i holds i in every place."""
    return torch.arange(count).view(-1, *(1 for _ in more)).expand(count, *more).contiguous()


def shares(batch: object, world: int) -> list[Share[object]]:
    return [share(batch, rank, world) for rank in range(world)]


@pytest.mark.parametrize("rows, world", [(7, 1), (7, 2), (7, 3), (3, 3), (2, 5)])
def test_every_row_is_in_one_share(rows: int, world: int) -> None:
    batch = LabelledBatch((numbers(rows, 2), numbers(rows) > 0), numbers(rows), (numbers(rows), numbers(rows)))
    found = shares(batch, world)
    counted = [int(n) for s in found if s.weight for n in s.batch.labels]  # type: ignore[attr-defined]
    assert sorted(counted) == list(range(rows))
    for one in found:
        b: LabelledBatch = one.batch  # type: ignore[assignment]
        assert len(b.labels) >= 1, "a process without rows computes one that does not count"
        assert (b.inputs[0] == b.labels[:, None]).all() and b.mixed and (b.mixed[0] == b.labels).all()
    assert [s.weight for s in found] == [1.0] * min(rows, world) + [0.0] * max(0, world - rows)


@pytest.mark.parametrize("rows, world", [(7, 1), (7, 2), (7, 3), (2, 5)])
def test_of_a_text_only_the_rows_of_a_share_are_read(rows: int, world: int) -> None:
    read: list[object] = []

    class Text(np.ndarray):
        """Counts what is read of it."""

        def __getitem__(self, key: object) -> object:
            read.extend([key] if isinstance(key, slice) else [])
            return super().__getitem__(key)  # type: ignore[index]

    tokens = np.arange(500, dtype=np.uint16).view(Text)
    windows, net = Windows(tokens, 10, rows, seed=1), nn.Linear(1, 1)
    for number in (0, 5):
        expected = shares(windows[number], world)
        for rank in range(world):
            read.clear()
            found = share_of(windows, number, rank, world, net)
            assert len(read) == len(found.batch.ids) < rows or world == 1
            assert torch.equal(found.batch.ids, expected[rank].batch.ids)  # type: ignore[attr-defined]
            assert (found.weight, found.whole) == (expected[rank].weight, expected[rank].whole)
        coupled = share_of(windows, number, 0, world, BatchNorm(3))
        assert coupled.whole and len(coupled.batch.ids) == rows


def test_windows_keep_what_lies_before_them() -> None:
    stream = np.arange(100)
    starts = np.array([60, 10, 30, 80, 50])
    batch = WindowBatch(torch.from_numpy(stream[starts[:, None] + np.arange(5)]), stream, starts)
    for one in shares(batch, 2):
        assert (one.batch.before(3)[:, -1] == one.batch.ids[:, 0] - 1).all()  # type: ignore[attr-defined]
    assert sorted(int(n) for s in shares(batch, 2) for n in s.batch.ids[:, 0]) == sorted(starts)  # type: ignore[attr-defined]


@pytest.mark.parametrize("pairs", [3, 4, 5])
def test_pairs_of_responses_stay_together(pairs: int) -> None:
    both = torch.cat([numbers(pairs), 100 + numbers(pairs)])
    batch = PreferenceBatch(LabelledBatch((both[:, None],), both), both.float())
    for one in shares(batch, 2):
        chosen, rejected = one.batch.reference.chunk(2)  # type: ignore[attr-defined]
        assert (rejected == 100 + chosen).all() and len(chosen) == len(one.batch)  # type: ignore[arg-type]


def test_objects_follow_their_pictures() -> None:
    owners = torch.tensor([0, 0, 1, 3, 3, 3])
    batch = AnnotatedBatch(numbers(4, 1, 2, 2).float(), Objects(owners[:, None].expand(6, 4).float(), owners, owners))
    for one in shares(batch, 3):
        b: AnnotatedBatch = one.batch  # type: ignore[assignment]
        assert (b.pictures[b.objects.owners, 0, 0, 0].long() == b.objects.labels).all()
    assert sum(len(s.batch.objects.labels) for s in shares(batch, 3)) == 6  # type: ignore[attr-defined]


def test_a_word_counts_the_same_in_every_share() -> None:
    batch = MaskedBatch(*(numbers(4, 3) for _ in range(4)), numbers(4), 0.25)
    assert [s.batch.weight for s in shares(batch, 2)] == [0.25, 0.25]  # type: ignore[attr-defined]


def test_what_depends_on_its_company_is_not_divided() -> None:
    graph = GraphBatch((numbers(2, 3).float(), torch.tensor([[0], [1]]), numbers(2)), numbers(2), numbers(2))
    assert all(s.batch is graph and s.weight == 0.5 and s.whole for s in shares(graph, 2)), "every tensor has two rows"
    rows = (numbers(6, 2).float(), numbers(6))
    assert share(rows, 1, 2, nn.Sequential(BatchNorm(2))).batch is rows
    assert len(share(rows, 1, 2, nn.Sequential(nn.Linear(2, 2))).batch[0]) == 3
    uneven = (numbers(6), numbers(5))
    assert share(uneven, 1, 2).batch is uneven
