"""T5 against its paper: buckets of distances, biases shared by layers, no other positions, no biases; mixing with a limit."""

import math
from collections import Counter
from itertools import pairwise

import pytest
import torch
from torch import Tensor, nn

from headway.data.mixed_batches import MixedBatches
from headway.layers.attention.attend import recorded
from headway.layers.positions.relative_bias import RelativeBias
from headway.models.t5 import T5, Config

SMALL = Config(width=22, depth=2, heads=2, inner=17, dropout=0.0)


def published_bucket(relative: Tensor, both: bool, buckets: int, farthest: int) -> Tensor:
    """`_relative_position_bucket` of the authors' code (mesh_tensorflow); relative = key - query."""
    n, offset = -relative, torch.zeros_like(relative)
    if both:
        buckets //= 2
        offset = offset + (n < 0).long() * buckets
        n = n.abs()
    else:
        n = n.clamp(min=0)
    exact = buckets // 2
    large = (
        exact
        + (torch.log(n.double() / exact) / math.log(farthest / exact) * (buckets - exact)).nan_to_num(0, 0, 0).long()
    )
    return offset + torch.where(n < exact, n, large.clamp(max=buckets - 1))


@pytest.mark.parametrize(("buckets", "farthest"), [(32, 128), (8, 20), (64, 1000)])
@pytest.mark.parametrize("sides", [1, 2])
def test_buckets_are_those_of_the_authors(buckets: int, farthest: int, sides: int) -> None:
    relative = torch.arange(-1500, 1501)[None]
    bias = RelativeBias(8, 2, sides, buckets, farthest)
    expected = published_bucket(relative, sides == 2, buckets, farthest)
    assert torch.equal(bias.bucket(-relative), expected)
    reached = relative <= 0 if sides == 1 else relative.abs() >= 0
    never = {buckets // 2} if sides == 2 else set()  # no key is 0 positions after the query
    assert set(expected[reached].tolist()) == set(range(buckets)) - never


def test_scores_are_products_and_biases(doubles: None) -> None:
    """The first map of the encoder, from the paper's formula: softmax(q . k / sqrt(e) + b)."""
    torch.manual_seed(3)
    net = T5(SMALL, 13, 13).eval()
    ids = torch.randint(3, 13, (1, 9))
    with torch.no_grad(), recorded(net) as maps:
        net(ids, torch.ones_like(ids, dtype=torch.bool), ids)
    mixer = net.encoder[0].mixer
    x = net.source.weight[ids[0]] * 22**0.5
    x = x / (x.square().mean(-1, keepdim=True) + 1e-6).sqrt()
    q, k = ((x @ mixer.project.weight[i * 22 : (i + 1) * 22].T).view(9, 2, 11).transpose(0, 1) for i in (0, 1))
    places = torch.arange(9)
    b = mixer.position.weight[published_bucket(places[None] - places[:, None], True, 32, 128)].permute(2, 0, 1)
    torch.testing.assert_close(maps["encoder.0.mixer"][0][0], (q @ k.transpose(1, 2) / 11**0.5 + b).softmax(-1))


def test_one_table_for_all_layers_of_a_side_and_no_biases() -> None:
    net = T5(SMALL, 13, 13)
    first, second = net.encoder[0].mixer.position, net.decoder[0].mixer.position
    assert all(block.mixer.position is first for block in net.encoder) and first is not second
    assert all(block.mixer.position is second for block in net.decoder) and (first.sides, second.sides) == (2, 1)
    assert all(m.bias is None for m in net.modules() if isinstance(m, nn.Linear))
    d, f, v, n = 22, 17, 13, 32 * 2
    encoder, decoder = 4 * d * d + 2 * d * f + 2 * d, 8 * d * d + 2 * d * f + 3 * d
    assert sum(p.numel() for p in net.parameters()) == v * d + 2 * (encoder + decoder) + 2 * n + 2 * d


def test_a_moved_source_is_read_alike(doubles: None) -> None:
    """No absolute positions: what the encoder sees of a sequence does not depend on where it stands, padding apart."""
    net = T5(SMALL, 13, 13).eval()
    ids = torch.tensor([[4, 5, 6, 7]])
    repeated = torch.cat((ids, ids), 1)
    with torch.no_grad():
        x = net.encoder[0](net.source(repeated), torch.ones_like(repeated, dtype=torch.bool))
    assert not torch.allclose(x[:, :4], x[:, 4:]), "but its neighbours are seen"
    keep = torch.ones_like(ids, dtype=torch.bool)
    with torch.no_grad():
        alone = net.encode(ids, keep)
        reversed_ = net.encode(ids.flip(1), keep).flip(1)
    assert not torch.allclose(alone, reversed_), "the order is seen"


def mixed(sizes: list[int], limit: int, seed: int = 1) -> MixedBatches:
    tasks = [task for task, size in enumerate(sizes) for _ in range(size)]
    sources = [[task + 3] * (1 + i % 5) for i, task in enumerate(tasks)]
    return MixedBatches(sources, [[i + 100] for i in range(len(tasks))], tasks, limit=limit, budget=60, seed=seed,
                        special=(0, 1, 2))  # fmt: skip


def drawn(batches: MixedBatches, epoch: int) -> Counter[int]:
    """How often each pair comes in an epoch; a pair is named by its target."""
    found = [batches[epoch * len(batches) + n] for n in range(len(batches))]
    return Counter(int(row[0]) - 100 for batch in found for row in batch.wanted)


def test_tasks_are_mixed_in_proportion_with_a_limit() -> None:
    """Paper, section 3.5.2: r_m = min(e_m, K) / sum min(e_n, K)."""
    sizes, limit = [10, 40, 100], 40
    batches = mixed(sizes, limit)
    bounds = [0, 10, 50, 150]
    seen = Counter[int]()
    for epoch in range(5):
        rows = drawn(batches, epoch)
        counts = [sum(n for row, n in rows.items() if a <= row < b) for a, b in pairwise(bounds)]
        assert counts == [min(size, limit) for size in sizes]
        seen += rows
    assert all(seen[row] == 5 for row in range(50)), "small tasks come whole in every epoch"
    assert all(seen[row] == 2 for row in range(50, 150)), "a large one is seen evenly: 5 epochs of 40 are 2 x 100"


def test_a_batch_follows_from_seed_and_number() -> None:
    a, b, other = mixed([10, 60], 20), mixed([10, 60], 20), mixed([10, 60], 20, seed=2)
    assert [drawn(a, 0) == drawn(a, n) for n in (1, 2)] == [False, False]
    for number in (7, 0, 12, 3):  # in any order
        assert torch.equal(a[number].source, b[number].source) and torch.equal(a[number].wanted, b[number].wanted)
    assert any(not torch.equal(a[n].wanted, other[n].wanted) for n in range(3))
    assert max(len(a[n].source) * max(a[n].source.shape[1], a[n].wanted.shape[1]) for n in range(4 * len(a))) <= 90
    assert a.largest().source.shape == (1, 6)
