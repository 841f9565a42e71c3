"""The pointer network: stepping is forward, decoding is the best of all valid sequences, drawn answers are exact."""

from itertools import permutations

import numpy as np
import pytest
import torch

from headway.core.errors import UsageError
from headway.data.point_batches import DrawnBatches, Scale, SetBatches, collect
from headway.data.point_problems import (
    PROBLEMS,
    convex_hull,
    crosses_itself,
    draw,
    length,
    side,
    signed_area,
    sort,
    tsp,
)
from headway.data.point_sets import PointSets
from headway.decode.pointing import Permutation, Rule, Subset, point
from headway.models.pointer_network import Config, PointerNetwork

ENCODERS = pytest.mark.parametrize("encoder", ["lstm", "bidirectional", "multihead"])
UNIT = Scale((0.0, 0.0), 1.0)


def network(encoder: str = "lstm", seed: int = 3) -> PointerNetwork:
    torch.manual_seed(seed)
    made = PointerNetwork(Config(encoder, width=8, depth=1, heads=2, inner=9), 2)
    with torch.no_grad():
        for parameter in made.parameters():
            parameter.add_(0.5 * torch.randn(parameter.shape))
    return made.eval()


def batch(sizes: tuple[int, ...]) -> tuple[torch.Tensor, torch.Tensor]:
    points = torch.rand(len(sizes), max(sizes), 2, generator=torch.Generator().manual_seed(5))
    return points.to(torch.get_default_dtype()), torch.arange(max(sizes)) < torch.tensor(sizes)[:, None]


@ENCODERS
def test_stepping_equals_forward(doubles: None, encoder: str) -> None:
    model, (points, keep) = network(encoder), batch((5, 3, 2))
    chosen = torch.tensor([[0, 3, 1, 5], [0, 2, 1, 3], [0, 2, 1, 0]])
    whole = model(points, keep, chosen)
    assert whole.shape == (3, 4, 6)
    torch.testing.assert_close(whole.exp().sum(-1), torch.ones(3, 4))
    assert (whole[1, :, 4:] == -torch.inf).all() and (whole[2, :, 3:] == -torch.inf).all()
    memory, state = model.read(points, keep)
    for t in range(4):
        log_p, state = model.step(chosen[:, t], state, memory)
        torch.testing.assert_close(log_p, whole[:, t], rtol=0, atol=1e-12)


def test_the_paper_is_followed(doubles: None) -> None:
    """With `lstm`, u_ts = v^T tanh(W1 e_s + W2 d_t) by torch's own LSTM, the decoder begins where the encoder ended."""
    model, (points, keep) = network().requires_grad_(False), batch((4, 4))
    chosen = torch.tensor([[0, 3, 1], [0, 2, 4]])

    def copy(mine: torch.nn.Module) -> torch.nn.LSTM:
        other = torch.nn.LSTM(8, 8, batch_first=True)
        other.load_state_dict(
            {
                "weight_ih_l0": mine.input.weight, "weight_hh_l0": mine.hidden.weight,
                "bias_ih_l0": mine.input.bias, "bias_hh_l0": mine.hidden.bias,
            }
        )  # fmt: skip
        return other

    x = model.embedding(points)
    e, last = copy(model.encoder.recurrence)(x)
    read = torch.stack(
        [torch.stack([model.end[0] if c == 0 else x[row, c - 1] for c in chosen[row].tolist()]) for row in range(2)]
    )
    d, _ = copy(model.decoder)(read, last)
    e = torch.cat((model.end[1].expand(2, 1, -1), e), 1)
    score = model.pointer.score
    u = score.key(e)[:, None] + score.query(d)[:, :, None]
    expected = (u.tanh() @ score.vector).log_softmax(-1)
    torch.testing.assert_close(model(points, keep, chosen), expected, rtol=0, atol=1e-12)


def test_attention_does_not_see_the_order_of_points(doubles: None) -> None:
    points, keep = batch((6,))
    order = torch.randperm(6)
    model = network("multihead")
    here, there = (model(p, keep, torch.tensor([[0]]))[0, 0] for p in (points, points[:, order]))
    torch.testing.assert_close(here[1:][order], there[1:], rtol=0, atol=1e-12)
    model = network("lstm")
    here, there = (model(p, keep, torch.tensor([[0]]))[0, 0] for p in (points, points[:, order]))
    assert not torch.allclose(here[1:][order], there[1:])


def sequences(size: int, every: bool) -> list[tuple[int, ...]]:
    """All that the rule allows."""
    lengths = [size] if every else range(1, size + 1)
    return [way for n in lengths for way in permutations(range(1, size + 1), n)]


@ENCODERS
@pytest.mark.parametrize("rule", [Subset(), Permutation()], ids=["subset", "permutation"])
def test_beam_search_finds_the_best_of_all(doubles: None, encoder: str, rule: Rule) -> None:
    """As wide as the space it is exhaustive; with one hypothesis it is greedy; both under the rule, in a padded batch."""
    model, sizes = network(encoder, seed=8).requires_grad_(False), (4, 3)
    points, keep = batch(sizes)
    wide, narrow = (point(model, points, keep, rule, beam) for beam in (200, 1))
    for row, size in enumerate(sizes):
        some, there = points[row : row + 1, :size], keep[row : row + 1, :size]
        every = sequences(size, isinstance(rule, Permutation))
        values = []
        for way in every:
            log_p = model(some, there, torch.tensor([[0, *way]]))[0]
            values.append(float(log_p[torch.arange(len(way) + 1), torch.tensor([*way, 0])].sum()))
        best = int(np.argmax(values))
        assert wide[row].ids == every[best] and wide[row].log_probability == pytest.approx(values[best], abs=1e-10)
        greedy: list[int] = []
        while len(greedy) <= size:
            log_p = model(some, there, torch.tensor([[0, *greedy]]))[0, -1].clone()
            log_p[greedy] = -torch.inf
            may_end = len(greedy) == size if isinstance(rule, Permutation) else bool(greedy)
            log_p[0] = log_p[0] if may_end else -torch.inf
            if int(log_p.argmax()) == 0:
                break
            greedy.append(int(log_p.argmax()))
        assert narrow[row].ids == tuple(greedy) and narrow[row].log_probability <= values[best] + 1e-12
    with pytest.raises(UsageError, match="`beam` 0 should be at least 1"):
        point(model, points, keep, rule, 0)


# -- the answers that are learned from ---------------------------------------------------------------------------------


def test_hulls_have_every_point_on_their_left() -> None:
    points, orders = draw("convex_hull", 30, 9, np.random.default_rng(1))
    for some, order in zip(points, orders, strict=True):
        assert some[order[0], 0] == some[:, 0].min(), "the hull begins at the lowest x"
        for a, b in zip(order, np.roll(order, -1), strict=True):
            assert all(side(some[a], some[b], some[c]) > 0 for c in range(9) if c not in (a, b)), "counter-clockwise"


def test_tours_are_the_shortest() -> None:
    points, orders = draw("tsp", 12, 7, np.random.default_rng(2))
    for some, order in zip(points, orders, strict=True):
        shortest = min(length(some[[0, *way]]) for way in permutations(range(1, 7)))
        assert sorted(order) == list(range(7)) and length(some[order]) == pytest.approx(shortest, abs=1e-12)
        assert (
            some[order[0], 0] == some[:, 0].min() and signed_area(some[order]) > 0 and not crosses_itself(some[order])
        )
    numbers, ascending = draw("sort", 5, 6, np.random.default_rng(3))
    for some, order in zip(numbers, ascending, strict=True):
        assert (np.diff(some[order, 0]) > 0).all()
    assert (PROBLEMS["sort"].solve, PROBLEMS["convex_hull"].solve, PROBLEMS["tsp"].solve) == (sort, convex_hull, tsp)


def test_areas_and_crossings() -> None:
    square = np.array([(0.0, 0.0), (2.0, 0.0), (2.0, 2.0), (0.0, 2.0)])
    assert signed_area(square) == 4 and signed_area(square[::-1]) == -4 and length(square) == 8
    assert not crosses_itself(square) and crosses_itself(square[[0, 2, 1, 3]])
    assert not crosses_itself(square[:2]) and not crosses_itself(square[:3])


# -- batches -----------------------------------------------------------------------------------------------------------


def test_drawn_batches_follow_from_seed_and_number() -> None:
    first, again, other = (DrawnBatches("convex_hull", range(5, 8), rows=4, seed=s, scale=UNIT) for s in (1, 1, 2))
    for n in (0, 3, 2500):
        assert torch.equal(first[n].points, again[n].points) and torch.equal(first[n].wanted, again[n].wanted)
    assert not torch.equal(first[0].points, first[1].points[:, : first[0].points.shape[1]])
    assert not torch.equal(first[0].points.flatten()[:10], other[0].points.flatten()[:10])
    later = first[3 + len(first)].points
    assert later.shape != first[3].points.shape or not torch.equal(later, first[3].points), "no set comes again"
    assert {first[n].points.shape[1] for n in range(30)} == {5, 6, 7} and first.largest().points.shape[1] == 7


def test_a_batch_is_padded_and_scaled() -> None:
    points = (np.array([[1.0, 2], [3, 4], [5, 6]]), np.array([[1.0, 1]]))
    made = collect(points, (np.array([2, 0]), np.array([0])), Scale((1.0, 2.0), 2.0))
    assert made.points.tolist() == [[[0, 0], [1, 1], [2, 2]], [[0, -0.5], [0, 0], [0, 0]]]
    assert made.keep.tolist() == [[True] * 3, [True, False, False]]
    assert made.chosen.tolist() == [[0, 3, 1], [0, 1, 0]] and made.wanted.tolist() == [[3, 1, 0], [1, 0, -100]]
    scale = Scale.of(points)
    every = (np.concatenate(points) - scale.shift) / scale.width
    assert every.mean() == pytest.approx(0) and every.std() == pytest.approx(1)


def test_every_set_of_a_table_comes_once_per_epoch() -> None:
    random = np.random.default_rng(4)
    points = tuple(random.random((n, 2)) for n in random.integers(2, 9, 23))
    sets = PointSets(points, tuple(np.arange(len(p)) for p in points), tuple(map(str, range(23))), "sets")
    batches = SetBatches(sets, rows=5, seed=1, scale=UNIT)
    for epoch in range(2):
        drawn = [batches[epoch * len(batches) + n] for n in range(len(batches))]
        first = sorted(float(row[0, 0]) for b in drawn for row in b.points)
        assert first == pytest.approx(sorted(float(np.float32(p[0, 0])) for p in points))
    rows = np.concatenate([which for which, _ in batches.in_order()])
    assert sorted(rows.tolist()) == list(range(23)) and batches.largest().points.shape[1] == max(map(len, points))
