"""What decoding owes, whatever the model: greedy is the argmax, beam 1 is greedy, a beam as wide as the space is the maximum."""

import functools
import itertools
from collections.abc import Sequence
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from tiny import BOS, EOS, PAD, TRANSLATE, model, models, sentences
from torch import Tensor

from headway.data.batches import PairBatches, pad
from headway.decode.beam import beam_search
from headway.decode.greedy import greedy
from headway.decode.hypothesis import Hypothesis
from headway.decode.state import pick

pytestmark = pytest.mark.usefixtures("doubles")
NAMES = pytest.mark.parametrize("name", [entry.name for entry in models(TRANSLATE)])
LENGTHS, LIMITS = [4, 2, 1, 3, 6], [9, 5, 3, 0, 12]
WORDS, SPACE = 5, 1 + 4 + 4**2 + 4**3  # a vocabulary of five, at most three tokens: every answer can be written down


def sources(lengths: list[int], seed: int = 17, vocabulary: int = 13) -> tuple[Tensor, Tensor]:
    source = pad([[*row, EOS] for row in sentences(lengths, seed, vocabulary)], PAD)
    return source, source != PAD


@functools.cache
def taught(name: str) -> Any:
    """A model that has been taught to copy a little: it ends its sentences by itself, early or late, and cares for the source."""
    net = model(name, {})
    lines = sentences([1, 2, 2, 3, 4, 5, 6, 6], seed=19)
    b = PairBatches(lines, lines, budget=10**6, seed=0, special=(PAD, BOS, EOS)).collect(range(len(lines)))
    optimizer = torch.optim.Adam(net.parameters(), lr=0.02)
    for _ in range(40):
        loss = F.cross_entropy(net.logits(net(b.source, b.keep, b.target)).flatten(0, 1), b.wanted.flatten(), ignore_index=PAD)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return net.requires_grad_(False)


def log_probability(net: Any, source: Tensor, keep: Tensor, ids: tuple[int, ...]) -> float:
    """log p(ids and the end mark | source) by the training-time forward pass."""
    logits = net.logits(net(source, keep, torch.tensor([[BOS, *ids]])))[0].log_softmax(-1)
    return float(sum(logits[i, word] for i, word in enumerate((*ids, EOS))))


def most_probable(net: Any, source: Tensor, keep: Tensor, prefix: Sequence[int]) -> int:
    return int(net.logits(net(source, keep, torch.tensor([[BOS, *prefix]])))[0, -1].argmax())


def rows(source: Tensor, keep: Tensor) -> list[tuple[Tensor, Tensor]]:
    return [(source[i : i + 1, : int(keep[i].sum())], keep[i : i + 1, : int(keep[i].sum())]) for i in range(len(source))]


@NAMES
def test_greedy_equals_forward_on_the_growing_prefix(name: str) -> None:
    """Cached equals uncached: no state, the whole prefix again at every position, every sentence alone."""
    net, (source, keep) = taught(name), sources(LENGTHS)
    found = greedy(net, source, keep, BOS, EOS, LIMITS)
    for (s, k), limit, hypothesis in zip(rows(source, keep), LIMITS, found, strict=True):
        prefix: list[int] = []
        while (word := most_probable(net, s, k, prefix)) != EOS and len(prefix) < limit:
            prefix.append(word)
        assert hypothesis.ids == tuple(prefix) and hypothesis.cut == (word != EOS)
        assert hypothesis.log_probability == pytest.approx(log_probability(net, s, k, hypothesis.ids), abs=1e-5)
    assert len({h.ids for h in found}) >= 4, "the sentences are too alike for this to mean anything"
    assert any(len(h.ids) < limit for h, limit in zip(found, LIMITS, strict=True)), "no sentence ends by itself"
    assert {h.cut for h in found} == {True, False}


@NAMES
def test_a_sentence_that_ends_just_at_its_limit_is_not_cut(name: str) -> None:
    net, (source, keep) = taught(name), sources(LENGTHS)
    found = greedy(net, source, keep, BOS, EOS, LIMITS)
    assert greedy(net, source, keep, BOS, EOS, [len(h.ids) for h in found]) == found
    shorter = greedy(net, source, keep, BOS, EOS, [max(0, len(h.ids) - 1) for h in found])
    assert [h.cut for h in shorter] == [h.cut or len(h.ids) > 0 for h in found]


@NAMES
@pytest.mark.parametrize("seed", [17, 43, 47])
def test_beam_of_one_is_greedy(name: str, seed: int) -> None:
    net, (source, keep) = taught(name), sources(LENGTHS, seed)
    one = greedy(net, source, keep, BOS, EOS, LIMITS)
    for penalty in (0.0, 1.0):
        for alone, beam in zip(one, beam_search(net, source, keep, BOS, EOS, LIMITS, 1, penalty), strict=True):
            assert [(h.ids, h.cut) for h in beam] == [(alone.ids, alone.cut)]
            assert beam[0].log_probability == pytest.approx(alone.log_probability, abs=1e-5)


@NAMES
@pytest.mark.parametrize("penalty", [0.0, 0.6, 1.0, 3.0])
def test_a_beam_as_wide_as_the_space_finds_the_best_answer(name: str, penalty: float) -> None:
    net, (source, keep), limits = model(name, {}, WORDS).requires_grad_(False), sources([3, 1], vocabulary=WORDS), [3, 2]
    found = beam_search(net, source, keep, BOS, EOS, limits, SPACE, penalty)
    one = greedy(net, source, keep, BOS, EOS, limits)
    for (s, k), limit, hypotheses, alone in zip(rows(source, keep), limits, found, one, strict=True):
        tokens = [w for w in range(WORDS) if w != EOS]
        every = [ids for n in range(limit + 1) for ids in itertools.product(tokens, repeat=n)]
        true = {ids: log_probability(net, s, k, ids) for ids in every}
        score = {ids: p / ((6 + len(ids)) / 6) ** penalty for ids, p in true.items()}
        assert hypotheses[0].ids == max(score, key=score.__getitem__)
        assert hypotheses[0].score(penalty) == pytest.approx(max(score.values()), abs=1e-5)
        assert hypotheses[0].score(penalty) >= alone.score(penalty) - 1e-6
        assert [h.ids for h in hypotheses] == sorted(every, key=lambda ids: -score[ids])
        for h in hypotheses:
            assert h.log_probability == pytest.approx(true[h.ids], abs=1e-5)


@NAMES
@pytest.mark.parametrize("width", [2, 5])
def test_hypotheses_are_true_sorted_distinct_and_within_the_limit(name: str, width: int) -> None:
    net, (source, keep) = taught(name), sources(LENGTHS)
    found = beam_search(net, source, keep, BOS, EOS, LIMITS, width)
    assert {h.cut for hypotheses in found for h in hypotheses} == {True, False}
    for (s, k), limit, hypotheses in zip(rows(source, keep), LIMITS, found, strict=True):
        assert 1 <= len(hypotheses) <= width
        assert len({h.ids for h in hypotheses}) == len(hypotheses)
        scores = [h.score(1.0) for h in hypotheses]
        assert scores == sorted(scores, reverse=True)
        for h in hypotheses:
            assert len(h.ids) <= limit and EOS not in h.ids
            assert h.cut == (len(h.ids) == limit and most_probable(net, s, k, h.ids) != EOS)
            assert h.log_probability == pytest.approx(log_probability(net, s, k, h.ids), abs=1e-5)


def plain_beam(net: Any, source: Tensor, keep: Tensor, limit: int, width: int) -> list[tuple[int, ...]]:
    """Beam search as its page says it, for one sentence: prefixes and sums, no states, no batches, no tensors between steps."""
    alive: dict[tuple[int, ...], float] = {(): 0.0}
    done: dict[tuple[int, ...], float] = {}
    for position in range(limit + 1):
        options = []
        for prefix, total in alive.items():
            p = net.logits(net(source, keep, torch.tensor([[BOS, *prefix]])))[0, -1].log_softmax(-1).tolist()
            words = [EOS] if position == limit else range(len(p))
            options += [(total + p[word], prefix, word) for word in words]
        best = sorted(options, reverse=True)[: 2 * width]
        done |= {prefix: total for total, prefix, word in best[:width] if word == EOS}
        done = dict(sorted(done.items(), key=lambda h: -h[1])[:width])
        alive = {(*prefix, word): total for total, prefix, word in [o for o in best if o[2] != EOS][:width]}
        if len(done) == width or not alive:
            break
    return sorted(done, key=lambda ids: -Hypothesis(ids, done[ids]).score(1.0))


@NAMES
@pytest.mark.parametrize("width", [2, 3, 6])
def test_beam_search_is_what_its_page_says(name: str, width: int) -> None:
    net, (source, keep) = taught(name), sources(LENGTHS)
    found = beam_search(net, source, keep, BOS, EOS, LIMITS, width)
    for (s, k), limit, hypotheses in zip(rows(source, keep), LIMITS, found, strict=True):
        assert [h.ids for h in hypotheses] == plain_beam(net, s, k, limit, width)


@NAMES
def test_answers_do_not_depend_on_the_batch(name: str) -> None:
    net, (source, keep) = taught(name), sources(LENGTHS)
    together = greedy(net, source, keep, BOS, EOS, LIMITS), beam_search(net, source, keep, BOS, EOS, LIMITS, 4)
    for i, (s, k) in enumerate(rows(source, keep)):
        assert greedy(net, s, k, BOS, EOS, [LIMITS[i]])[0].ids == together[0][i].ids
        alone = beam_search(net, s, k, BOS, EOS, [LIMITS[i]], 4)[0]
        assert [h.ids for h in alone] == [h.ids for h in together[1][i]]
        assert [h.log_probability for h in alone] == pytest.approx([h.log_probability for h in together[1][i]], abs=1e-5)


@NAMES
def test_a_limit_of_nothing_gives_the_empty_answer(name: str) -> None:
    net, (source, keep) = taught(name), sources([4, 2])
    beams = beam_search(net, source, keep, BOS, EOS, [0, 0], 3)
    for found in (greedy(net, source, keep, BOS, EOS, [0, 0]), [h for hypotheses in beams for h in hypotheses]):
        assert [h.ids for h in found] == [(), ()]
        assert found[0].log_probability == pytest.approx(log_probability(net, *rows(source, keep)[0], ()), abs=1e-5)


def test_the_score_is_that_of_the_paper() -> None:
    """Wu et al. 2016, eq. 14: lp(Y) = (5 + |Y|)^a / (5 + 1)^a."""
    h = Hypothesis((7, 8, 9), -2.0)
    assert h.score(0.0) == -2.0
    assert h.score(1.0) == pytest.approx(-2.0 / 1.5)
    assert h.score(0.6) == pytest.approx(-2.0 * 6**0.6 / 9**0.6)
    assert Hypothesis(tuple(range(9)), -2.0).score(1.0) > h.score(1.0), "of two equally probable answers the longer one wins"


def test_picking_rows_is_a_map_over_the_state() -> None:
    a, b = torch.arange(6).view(3, 2), torch.arange(3)
    picked = pick(((a, (b,)), Hypothesis((1,), 0.5)), torch.tensor([2, 0, 0]))
    assert picked[0][0].tolist() == [[4, 5], [0, 1], [0, 1]] and picked[0][1][0].tolist() == [2, 0, 0]
    assert picked[1] == Hypothesis((1,), 0.5)
