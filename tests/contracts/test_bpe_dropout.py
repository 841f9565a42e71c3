"""BPE-dropout: the usual pieces at p = 0, letters at p = 1, merges left out as often as p says, and all of it from (seed, epoch)."""

import random
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
import torch
from tiny import BOS, EOS, PAD

from headway.core.errors import ConfigError
from headway.data.batches import PairBatches
from headway.data.bpe_dropout import FEWEST, MOST, BpeDropout, RespelledBatches, Spellings
from headway.data.grammar.corpus import generate
from headway.data.tokens import KINDS, train_tokenizer
from headway.tasks.translation import Data, Translation

PAIRS = generate(200, "train", 1)
SOURCES, TARGETS = [p.source for p in PAIRS], [p.target for p in PAIRS]
ODD = ["", " ", "Füße  👨‍👩‍👧 ❤️ e\u0301 مرحبا", "<s> [UNK] ## Ġ", "Die Mannschaft gewinnt das Spiel."]
TOKENS = train_tokenizer("bpe", [*SOURCES, *TARGETS], 500)


def spellings(texts: list[str], p: float, seed: int = 1) -> Spellings:
    return Spellings(texts, BpeDropout(TOKENS, p), seed)


def respelled(p: float, budget: int = 400, seed: int = 1) -> RespelledBatches:
    sides = spellings(SOURCES, p), spellings(TARGETS, p, 2)
    return RespelledBatches(*sides, budget=budget, seed=seed, special=(PAD, BOS, EOS))


def same(a: object, b: object) -> bool:
    return all(torch.equal(x, y) for x, y in zip(vars(a).values(), vars(b).values(), strict=True))


def test_without_dropout_the_pieces_are_the_usual_ones() -> None:
    texts = SOURCES + TARGETS + ODD
    assert spellings(texts, 0.0).of(3) == TOKENS.encode(texts)


def test_if_all_is_dropped_letters_are_left() -> None:
    for ids, text in zip(spellings(ODD, 1.0).of(0)[1:], ODD[1:], strict=True):
        assert len(ids) == len((" " + text).encode()), "one letter for each byte, and for the space before the text"


@pytest.mark.parametrize("p", [0.0, 0.1, 0.5, 1.0])
def test_any_spelling_is_read_back(p: float) -> None:
    texts = SOURCES[:50] + ODD
    made = spellings(texts, p)
    for epoch in (0, 1):
        assert TOKENS.decode(made.of(epoch)) == texts


def test_a_merge_is_left_out_with_probability_p() -> None:
    tokens = train_tokenizer("bpe", ["xab yab zab"] * 5, 281)
    dropout, draw, n, p = BpeDropout(tokens, 0.3), random.Random(1), 20_000, 0.3
    assert list(dropout.merges) == [(dropout.ids["a"], dropout.ids["b"])]

    def shares(word: str) -> dict[str, float]:
        found = Counter(" ".join(tokens.vocabulary[i] for i in dropout.encode(word, draw)) for _ in range(n))
        return {pieces: count / n for pieces, count in found.items()}

    assert shares("ab") == pytest.approx({"ab": 1 - p, "a b": p}, abs=0.015)
    # Two places: none is joined with p^2. After the first was joined, the other one is, with 1 - p.
    one = (1 - p**2) * p
    both = {"ab ab": (1 - p**2) * (1 - p), "ab a b": one / (1 + p), "a b ab": one * p / (1 + p), "a b a b": p**2}
    assert shares("abab") == pytest.approx(both, abs=0.015)


def test_the_merge_that_was_learned_first_is_joined_first() -> None:
    dropout = BpeDropout(TOKENS, 0.0)
    word = max(TOKENS.cut(" ".join(TARGETS)), key=len)
    assert dropout.encode(word, random.Random(1)) == TOKENS.encode([word.removeprefix("Ġ")])[0]


def test_the_same_seed_and_epoch_give_the_same_ids() -> None:
    first, second = spellings(TARGETS, 0.2), spellings(TARGETS, 0.2)
    random.seed(1), np.random.seed(1)
    expected = [first.of(epoch) for epoch in range(3)]
    random.seed(2), np.random.seed(2)
    assert [second.of(epoch) for epoch in (2, 0, 1)] == [expected[2], expected[0], expected[1]]
    for other in (expected[1], spellings(TARGETS, 0.2, seed=2).of(0)):
        assert np.mean([a == b for a, b in zip(other, expected[0], strict=True)]) < 0.5


def test_each_occurrence_is_drawn_by_itself_from_all_spellings_of_its_word() -> None:
    texts = [max(TARGETS, key=len)] * 500
    made = spellings(texts, 0.3)
    assert set(made.count) == {MOST} and set(spellings(["selten"], 0.3).count) == {FEWEST}
    found = made.of(0)
    assert len({tuple(ids) for ids in found}) > 300, "a sentence that comes often is spelled in many ways"


def test_batches_hold_every_pair_once_in_every_epoch() -> None:
    b = respelled(0.2)
    for epoch in (0, 1, 5):
        batches = [b[epoch * len(b) + i] for i in range(len(b))]
        read = lambda rows: TOKENS.decode([[i for i in row if i != EOS] for row in rows.tolist()])  # noqa: E731
        pairs = [pair for x in batches for pair in zip(read(x.source), read(x.wanted), strict=True)]
        assert Counter(pairs) == Counter(zip(SOURCES, TARGETS, strict=True))
        sizes = [max(x.source.numel(), x.target.numel()) for x in batches]
        assert 0.7 * 400 < np.mean(sizes) < 1.05 * 400, "the budget is kept on average"
        padding = np.mean([float((x.wanted == PAD).float().mean()) for x in batches])
        assert padding < 0.15, "sentences are sorted by the lengths that they have in this epoch"


def test_a_batch_is_found_without_those_before_it() -> None:
    b = respelled(0.2)
    for number in (2 * len(b) + 3, 5, len(b)):
        assert same(b[number], respelled(0.2)[number])
    spelled = []
    for epoch in (0, 1):
        b[epoch * len(b)]
        spelled.append(b.sources)
    assert np.mean([x == y for x, y in zip(*spelled, strict=True)]) < 0.5, "another epoch, other spellings"


def test_without_dropout_the_batches_are_those_of_pairs() -> None:
    plain = PairBatches(TOKENS.encode(SOURCES), TOKENS.encode(TARGETS), budget=400, seed=1, special=(PAD, BOS, EOS))
    b = respelled(0.0)
    assert len(b) == len(plain) and all(same(b[i], plain[i]) for i in range(2 * len(b)))


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "bpe"])
def test_other_tokenizers_are_refused(kind: str) -> None:
    with pytest.raises(ConfigError, match=f"merges of the tokenizer `bpe`; `{kind}` has none"):
        BpeDropout(train_tokenizer(kind, SOURCES, 700), 0.1)


def test_only_training_text_is_respelled(tmp_path: Path) -> None:
    data = Data(grammar=200, tokens="bpe", vocabulary=500, bpe_dropout=0.5)
    corpus = Translation.collect(data, 1)
    task = Translation.fit(data, corpus, None)
    trained = task.prepare(corpus, tmp_path, 400, 1)
    kept, given = task.validation_batches(tmp_path), task.given_batches(data, tmp_path, 400)
    assert sum(map(len, trained.sources)) > 1.2 * sum(map(len, task.source.encode(list(corpus.train.sources))))
    assert given.sources == task.source.encode(list(Translation.collect(data, 0).train.sources))
    assert kept.targets == task.target.encode(task.target.decode(kept.targets)) and type(kept) is PairBatches
    again = Translation.load(data, save(task, tmp_path)).prepare(corpus, tmp_path, 400, 1)
    assert all(same(again[i], trained[i]) for i in range(len(trained), 2 * len(trained))), "resumed, it is the same"


def save(task: Translation, folder: Path) -> Path:
    task.save(folder)
    return folder
