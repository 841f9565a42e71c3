"""Matching, overlap and average precision against brute force, closed forms and cases counted by hand."""

from itertools import permutations

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from headway.core.errors import ConfigError
from headway.data.annotated_batches import Objects
from headway.data.boxes import generalised_iou, iou, to_centres, to_corners
from headway.evaluate.detection import RECALLS, THRESHOLDS, Boxes, Found, average_precision
from headway.models.detr import DETR, Config, spread
from headway.tasks.matching import DISTANCE, NOTHING, OVERLAP, costs, match, probabilities, set_loss


def objects(counts: tuple[int, ...], seed: int = 1) -> Objects:
    generator = torch.Generator().manual_seed(seed)
    m = sum(counts)
    boxes = torch.rand(m, 4, generator=generator) * 0.5 + 0.2
    labels = torch.randint(0, 3, (m,), generator=generator)
    return Objects(boxes, labels, torch.repeat_interleave(torch.arange(len(counts)), torch.tensor(counts)))


def answers(rows: int, queries: int, seed: int = 2) -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(rows, queries, 4, generator=generator), torch.rand(rows, queries, 4, generator=generator)


# -- overlap -----------------------------------------------------------------------------------------------------------


def test_overlap_is_counted_in_pixels() -> None:
    """Boxes with whole corners: the share of the pixels of a grid that both cover."""
    random = np.random.default_rng(1)
    for _ in range(50):
        low = random.integers(0, 8, (2, 2))
        pair = np.concatenate((low, low + random.integers(1, 6, (2, 2))), 1)
        grid = np.zeros((2, 14, 14), dtype=bool)
        for k, (left, top, right, bottom) in enumerate(pair):
            grid[k, top:bottom, left:right] = True
        both, either = (grid[0] & grid[1]).sum(), (grid[0] | grid[1]).sum()
        around = np.prod(pair[:, 2:].max(0) - pair[:, :2].min(0))
        a, b = torch.from_numpy(pair).double()
        assert float(iou(a, b)) == pytest.approx(both / either)
        assert float(generalised_iou(a, b)) == pytest.approx(both / either - (around - either) / around)
    far = torch.tensor([[0.0, 0, 1, 1], [9, 9, 10, 10]])
    assert float(generalised_iou(far[0], far[1])) == pytest.approx(2 / 100 - 1)
    empty = torch.tensor([0.5, 0.5, 0.5, 0.5])
    assert float(iou(empty, empty)) == 0 and float(iou(far[0], far[0])) == 1
    assert torch.allclose(to_corners(to_centres(far)), far)


# -- matching ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5])
def test_the_match_is_the_cheapest_of_all(count: int) -> None:
    for seed in range(10):
        cost = torch.rand(count, 6, generator=torch.Generator().manual_seed(seed))
        found = match(cost, torch.zeros(count, dtype=torch.long)).tolist()
        cheapest = min(sum(float(cost[i, q]) for i, q in enumerate(way)) for way in permutations(range(6), count))
        assert len(set(found)) == count
        assert sum(float(cost[i, q]) for i, q in enumerate(found)) == pytest.approx(cheapest, abs=1e-6)


def test_the_loss_is_that_of_the_paper() -> None:
    """Written out, picture by picture, with the cheapest of all assignments."""
    counts, queries = (2, 0, 3), 4
    (logits, boxes), true = answers(3, queries), objects(counts)
    expected = 0.0
    for row, count in enumerate(counts):
        mine = true.owners == row
        labels, placed = true.labels[mine], true.boxes[mine]
        p = logits[row].softmax(-1)

        def pair(i: int, q: int, row: int = row, placed: torch.Tensor = placed) -> float:
            apart = (placed[i] - boxes[row, q]).abs().sum()
            shared = generalised_iou(to_corners(placed[i]), to_corners(boxes[row, q]))
            return float(5 * apart + 2 * (1 - shared))

        ways = list(permutations(range(queries), count))
        totals = [sum(pair(i, q) - float(p[q, labels[i]]) for i, q in enumerate(way)) for way in ways]
        best = ways[int(np.argmin(totals))]
        expected += sum(pair(i, q) - float(p[q, labels[i]].log()) for i, q in enumerate(best))
        expected += 0.1 * sum(-float(p[q, 3].log()) for q in range(queries) if q not in best)
    assert float(set_loss(logits, boxes, true)) == pytest.approx(expected, rel=1e-5)
    assert (DISTANCE, OVERLAP, NOTHING) == (5, 2, 0.1)
    assert costs(logits, boxes, true).shape == (5, 4)


def test_the_order_of_objects_does_not_matter() -> None:
    (logits, boxes), true = answers(2, 6), objects((4, 3))
    order = torch.cat((torch.randperm(4), 4 + torch.randperm(3)))
    again = Objects(true.boxes[order], true.labels[order], true.owners[order])
    assert not torch.equal(again.boxes, true.boxes)
    torch.testing.assert_close(set_loss(logits, boxes, again), set_loss(logits, boxes, true))
    turned = torch.randperm(6)
    torch.testing.assert_close(set_loss(logits[:, turned], boxes[:, turned], true), set_loss(logits, boxes, true))


def test_the_loss_of_a_batch_is_the_sum_over_its_pictures() -> None:
    (logits, boxes), true = answers(3, 5), objects((2, 0, 3))
    parts = []
    for row in range(3):
        mine = true.owners == row
        alone = Objects(true.boxes[mine], true.labels[mine], torch.zeros(int(mine.sum()), dtype=torch.long))
        parts.append(set_loss(logits[row : row + 1], boxes[row : row + 1], alone))
    torch.testing.assert_close(torch.stack(parts).sum(), set_loss(logits, boxes, true))
    only = F.cross_entropy(logits[1], torch.full((5,), 3), reduction="sum")
    torch.testing.assert_close(parts[1], 0.1 * only)


def test_probabilities_are_frequencies() -> None:
    """Of k queries that are equally near to an object one is matched: the loss is least where each says 1 / k."""
    for k in (2, 3, 7):
        logits = torch.zeros(k, 2, dtype=torch.double, requires_grad=True)
        near = Objects(torch.full((k, 4), 0.5), torch.zeros(k, dtype=torch.long), torch.arange(k))
        boxes = torch.full((k, k, 4), 0.5)
        for _ in range(300):  # in picture i the query i is matched, because its p is a little higher
            every = logits + 1e-4 * torch.eye(k, dtype=torch.double)[..., None] * torch.tensor([1.0, 0.0])
            (gradient,) = torch.autograd.grad(set_loss(every, boxes, near), logits)
            logits = (logits - 2.0 / k * gradient).detach().requires_grad_()
        assert float(logits.detach().softmax(-1)[0, 0]) == pytest.approx(1 / (1 + (k - 1) / 10), abs=1e-3)
        torch.testing.assert_close(probabilities(logits.detach())[:, 0], torch.full((k,), 1 / k).double(), rtol=0.0, atol=2e-3)


def test_more_objects_than_queries_are_reported() -> None:
    with pytest.raises(ConfigError, match="a picture has 5 objects, and the model has 4 queries") as raised:
        set_loss(*answers(1, 4), objects((5,)))
    assert "--model.queries 10" in raised.value.hint


# -- average precision -------------------------------------------------------------------------------------------------


def boxes_of(rows: list[tuple[int, int, tuple[float, ...]]]) -> Boxes:
    """(picture, class, corners) of each."""
    corners = np.array([row[2] for row in rows], dtype=float).reshape(-1, 4)
    return Boxes(corners, np.array([row[1] for row in rows], int), np.array([row[0] for row in rows], int))


A, B, FAR = (0.0, 0.0, 0.4, 0.4), (0.5, 0.5, 0.9, 0.9), (0.9, 0.0, 1.0, 0.1)


def test_cases_counted_by_hand() -> None:
    true = boxes_of([(0, 0, A), (0, 0, B), (1, 0, A)])

    def ap(rows: list[tuple[int, int, tuple[float, ...]]], sure: list[float]) -> float:
        return Found.of(boxes_of(rows), np.array(sure), true, 2, 1).average_precision(0)

    every = [(0, 0, A), (0, 0, B), (1, 0, A)]
    assert ap(every, [0.9, 0.8, 0.7]) == 1 and ap([], []) == 0
    assert ap([*every, (1, 0, FAR)], [0.9, 0.8, 0.7, 0.1]) == 1, "what is wrong and least sure costs nothing"
    half = ap([*every, (1, 0, FAR)], [0.9, 0.8, 0.7, 0.99])  # precisions 0, 1/2, 2/3, 3/4: the envelope is 3/4
    assert half == pytest.approx(0.75)
    assert ap([(0, 0, A)], [0.9]) == pytest.approx(34 / 101), "recalls 0, 0.01 .. 0.33 are reached"
    twice = ap([(0, 0, A), (0, 0, A), (0, 0, B), (1, 0, A)], [0.9, 0.8, 0.7, 0.6])
    assert twice == pytest.approx((34 * 1 + 67 * 0.75) / 101), "an object is taken once"
    assert ap([(1, 0, B)], [0.9]) == 0, "the object is on the other picture"


def test_a_box_takes_the_object_it_overlaps_most() -> None:
    near, nearer = (0.0, 0.0, 1.0, 0.8), (0.0, 0.0, 1.0, 0.9)
    true = boxes_of([(0, 0, near), (0, 0, nearer)])
    found = Found.of(boxes_of([(0, 0, (0.0, 0.0, 1.0, 1.0)), (0, 0, near)]), np.array([0.9, 0.8]), true, 1, 1)
    assert found.right[:, 0].tolist() == [True, True] and found.average_precision(0) == 1
    assert found.right[0].tolist() == [bool(t - 1e-12 <= 0.9) for t in THRESHOLDS]


def test_average_precision_is_its_definition() -> None:
    """For random answers: the mean over recalls of the largest precision at that recall or more, by enumeration."""
    random = np.random.default_rng(3)
    for _ in range(30):
        right, objects = random.random(12) < 0.5, 9
        precision = [right[: k + 1].mean() for k in range(12)]
        recall = [right[: k + 1].sum() / objects for k in range(12)]
        expected = [
            max((p for p, r in zip(precision, recall, strict=True) if r >= level), default=0) for level in RECALLS
        ]
        assert average_precision(right, np.ones(12, int), objects) == pytest.approx(np.mean(expected))


def test_classes_and_repeated_pictures() -> None:
    true = boxes_of([(0, 0, A), (0, 1, B), (1, 1, A)])
    rows = [(0, 0, A), (0, 1, A), (0, 1, B), (1, 1, A)]
    found = Found.of(boxes_of(rows), np.array([0.9, 0.8, 0.7, 0.6]), true, 2, 3)
    assert found.average_precision(0) == pytest.approx((1 + 2 / 3) / 2), "classes that do not occur do not count"
    assert found.average_precision(0, np.array([1, 0])) == pytest.approx((1 + 1 / 2) / 2)
    assert found.average_precision(0, np.array([0, 2])) == 1
    assert np.isnan(found.average_precision(0, np.array([0, 0])))
    low, high = found.interval(0)
    assert 0 <= low <= found.average_precision(0) <= high <= 1


# -- the model ---------------------------------------------------------------------------------------------------------


def test_queries_see_each_other_and_boxes_begin_spread_out() -> None:
    torch.manual_seed(1)
    model = DETR(Config(filters=4, stages=1, kernel=3, width=8, depth=1, heads=2, inner=8, queries=6), 3, 2).eval()
    picture = torch.rand(1, 3, 12, 16)
    before = model(picture)
    with torch.no_grad():
        model.queries[5] += torch.randn(8)
    moved = (model(picture) - before).abs().amax(-1)[0]
    assert (moved > 1e-6).all(), "a query knows of the others, so that two need not find the same object"
    assert model.logits(before).shape == (1, 6, 3) and model.boxes(before).shape == (1, 6, 4)
    assert model.states(picture).shape == (1, 1, 6, 8)
    middles = spread(16).sigmoid()[:, :2]
    nearest = (torch.cdist(middles, middles) + 9 * torch.eye(16)).min()
    assert nearest > 0.1 and ((middles > 0) & (middles < 1)).all()
