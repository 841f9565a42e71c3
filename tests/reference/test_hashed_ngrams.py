"""Hashed n-grams against sets of Python, and what squares do to weights that begin small."""

import math

import torch

from headway.models.hashed_ngrams import FACTOR, GAIN, PRIME, Config, HashedNgrams

V, T, BUCKETS = 11, 9, 101


def written_out(net: HashedNgrams, words: list[int]) -> torch.Tensor:
    """z of one text: its n-grams as tuples, each hashed from its first word on, once or often being the same."""
    c = net.config
    grams = [(0, *words[t : t + m]) for m in c.orders for t in range(len(words) - m + 1)]
    grams += [(gap, words[t], words[t + gap + 1]) for gap in c.gaps for t in range(len(words) - gap - 1)]
    members = set()
    for start, *gram in grams:
        number = start * FACTOR ** len(gram) + sum((w + 1) * FACTOR**k for k, w in enumerate(reversed(gram)))
        members.add(number % PRIME % c.buckets)
    rows = [net.table.weight[member] for member in sorted(members)]
    return GAIN * torch.stack(rows).square().sum(0) / math.sqrt(len(members))


@torch.no_grad()
def test_each_ngram_of_a_text_is_counted_once(doubles: None) -> None:
    net = HashedNgrams(Config(orders=(1, 2, 3), gaps=(1, 2), buckets=BUCKETS), V, 2).eval()
    net.table.weight.normal_()
    ids = torch.randint(0, V, (4, T))
    ids[0, 4:8] = ids[0, :4]  # some n-grams come twice
    lengths = (9, 7, 2, 1)
    keep = torch.arange(T) < torch.tensor(lengths)[:, None]
    expected = torch.stack([written_out(net, ids[i, :n].tolist()) for i, n in enumerate(lengths)])
    torch.testing.assert_close(net(ids, keep), expected)


@torch.no_grad()
def test_words_alone_ignore_the_order_and_pairs_with_a_gap_do_not(doubles: None) -> None:
    ids = torch.tensor([[1, 2, 3, 4]])
    turned, keep = ids.flip(1), torch.ones_like(ids, dtype=torch.bool)
    for gaps, same in (((), True), ((1,), False)):
        net = HashedNgrams(Config(orders=(1,), gaps=gaps, buckets=BUCKETS), V, 2).eval()
        net.table.weight.normal_()
        assert torch.allclose(net(ids, keep), net(turned, keep)) == same


@torch.no_grad()
def test_what_training_has_not_seen_speaks_for_no_class(doubles: None) -> None:
    net = HashedNgrams(Config(buckets=BUCKETS), V, 3).eval()
    ids = torch.randint(0, V, (2, T))
    logits = net.logits(net(ids, torch.ones_like(ids, dtype=torch.bool)))
    torch.testing.assert_close(logits.softmax(-1), torch.full((2, 3), 1 / 3))
