"""Batches of masked words: what is hidden, how often, what stands in its place, and which passages stand together."""

from math import sqrt
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from headway.core.errors import DataError
from headway.data.masked_batches import UNASKED, MaskedBatch, MaskedBatches, mask_words
from headway.data.segments import mark_pair, mark_text
from headway.data.sentence_files import SentencePart, Sentences, lines
from headway.data.specials import CLASS, END, MASK, PAD, SEPARATOR, SPECIALS, UNKNOWN
from headway.data.text import Text
from headway.data.token_files import tokenize_part
from headway.data.tokens import train_tokenizer

FIRST, VOCABULARY = len(SPECIALS), len(SPECIALS) + 400


def sentences(documents: list[list[int]]) -> Sentences:
    """Documents of sentences of these lengths; token n stands for itself, so that each one can be recognised."""
    ids: list[int] = []
    token = FIRST
    for document in documents:
        for length in document:
            ids += [*range(token, token + length), END]
            token += length
        ids.append(END)
    return Sentences.of(np.array(ids, dtype=np.uint16), END)


def batches(found: Sentences, pairs: bool = True, context: int = 16, rows: int = 4, seed: int = 1) -> MaskedBatches:
    vocabulary = int(found.ids.max()) + 1
    return MaskedBatches(found, context=context, rows=rows, seed=seed, vocabulary=vocabulary, pairs=pairs)


def equal(a: MaskedBatch, b: MaskedBatch) -> bool:
    return a.weight == b.weight and all(torch.equal(getattr(a, n), getattr(b, n)) for n in vars(a) if n != "weight")


def within(count: int, total: int, share: float) -> bool:
    """Whether a binomial count is within four standard deviations: one test in 16,000 would fail by chance."""
    return abs(count - total * share) <= 4 * sqrt(total * share * (1 - share))


# -- masks -------------------------------------------------------------------------------------------------------------


def test_fifteen_percent_are_chosen_and_80_10_10_of_them_are_masked_replaced_and_left() -> None:
    random = np.random.default_rng(7)
    ids = random.integers(FIRST, VOCABULARY, (1000, 101))
    ids[:, 0], ids[:, 50], ids[:, 99], ids[:, 100] = CLASS, UNKNOWN, MASK, SEPARATOR
    made = [mask_words(row, VOCABULARY, random) for row in ids]
    changed, wanted = np.stack([a for a, _ in made]), np.stack([b for _, b in made])
    asked, words = wanted != UNASKED, ids >= FIRST
    assert not (asked & ~words).any(), "a special token is never chosen"
    assert (wanted[asked] == ids[asked]).all() and (changed[~asked] == ids[~asked]).all()
    total, chosen = int(words.sum()), int(asked.sum())
    assert abs(chosen - 0.15 * total) < 4 * sqrt(1000 / 4), "each row has 15 % up to one token"
    assert set(asked.sum(1)) == {14, 15}
    masked, left = asked & (changed == MASK), asked & (changed == ids)
    replaced = asked & ~masked & ~left
    assert within(int(masked.sum()), chosen, 0.8)
    same = 0.1 / (VOCABULARY - FIRST)  # a random token that is the true one by chance
    assert within(int(left.sum()), chosen, 0.1 + same) and within(int(replaced.sum()), chosen, 0.1 - same)
    assert (changed[replaced] >= FIRST).all() and len(set(changed[replaced].tolist())) > 350
    often = asked[:, words[0]].sum(0)  # by position
    assert all(within(int(n), 1000, 0.15) for n in often)


@given(st.integers(0, 12), st.integers(0, 2**32))
def test_short_texts_are_masked_as_often(length: int, seed: int) -> None:
    ids = np.array([CLASS, *range(FIRST, FIRST + length), SEPARATOR])
    _, wanted = mask_words(ids, VOCABULARY, np.random.default_rng(seed))
    assert (wanted != UNASKED).sum() - int(0.15 * length) in (0, 1)


# -- segments ----------------------------------------------------------------------------------------------------------


@given(st.integers(1, 30), st.integers(1, 30), st.integers(4, 40))
def test_a_pair_is_cut_away_from_its_border(one: int, two: int, longest: int) -> None:
    a, b = list(range(100, 100 + one)), list(range(200, 200 + two))
    ids, segments = mark_pair(a, b, longest)
    border = segments.index(1)
    left, right = ids[1 : border - 1], ids[border:-1]
    assert (ids[0], ids[border - 1], ids[-1]) == (CLASS, SEPARATOR, SEPARATOR) and segments == sorted(segments)
    assert left == a[len(a) - len(left) :] and right == b[: len(right)] and left and right
    assert len(left) + len(right) == min(longest, one + two)
    assert mark_text(a, 5) == [CLASS, *a[:5], SEPARATOR]


def test_sentences_and_documents_of_a_text(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("One is here. Two is there.\nThree\n\n\nFour!\nFive\n \nSix\n", encoding="utf-8")
    (tmp_path / "b.txt").write_text("Seven\nEight", encoding="utf-8")
    text = Text(str(tmp_path))
    tokenizer = train_tokenizer("bytes", ["a"], 300)
    part = SentencePart(text, 0, text.size.characters)
    found = Sentences.of(tokenize_part(part, tokenizer, tmp_path / "x.sentences").ids, tokenizer.eos)
    shown = [tokenizer.decode([found.between(k, k + 1)])[0] for k in range(len(found))]
    assert shown == ["One is here.", "Two is there.", "Three", "Four!", "Five", "Six", "Seven", "Eight"]
    document = found.documents.tolist()
    assert [document.index(d) for d in dict.fromkeys(document)] == [0, 3, 5, 6]
    assert found.passages(1000) == [(0, 3), (3, 5), (6, 8)], "a document of one sentence has no passage"
    assert list(lines(iter(["ab", "c\nd", "e\n", "f"]))) == ["abc", "de", "f"]
    assert max(map(len, lines(iter(["x" * 2**16] * 3)))) == 2**16


def test_passages_fill_the_room() -> None:
    found = sentences([[3, 4, 5, 6], [9, 9, 9], [2]])
    assert found.passages(8) == [(0, 2), (2, 4), (4, 7)], "the last sentence of a document joins what is before it"
    assert found.passages(100) == [(0, 4), (4, 7)]


# -- batches -----------------------------------------------------------------------------------------------------------


def test_a_batch_follows_from_seed_and_number_alone() -> None:
    found = sentences([[3, 4, 5, 4, 3, 4]] * 5)
    one, two = batches(found), batches(found)
    there = [one[n] for n in range(3 * len(one))]
    assert all(equal(two[n], there[n]) for n in reversed(range(len(there))))
    assert not equal(there[0], there[len(one)]), "the next epoch has another order and other masks"
    assert not equal(batches(found, seed=2)[0], there[0])


def originals(batch: MaskedBatch) -> list[list[int]]:
    return torch.where(batch.wanted == UNASKED, batch.ids, batch.wanted).tolist()


def test_half_of_the_second_segments_follow_and_the_others_do_not() -> None:
    found = sentences([[4, 5, 3, 4, 5, 4, 3]] * 60)
    made = batches(found, context=19, rows=8)
    total = other = 0
    for number in range(20 * len(made)):
        batch = made[number]
        assert batch.ids.shape[1] <= 19 and (batch.ids == PAD).eq(~batch.keep).all()
        for ids, segments, keep, elsewhere in zip(
            originals(batch), batch.segments.tolist(), batch.keep.tolist(), batch.elsewhere.tolist(), strict=True
        ):
            ids, segments = ids[: sum(keep)], segments[: sum(keep)]
            border = segments.index(1)
            assert (ids[0], ids[border - 1], ids[-1]) == (CLASS, SEPARATOR, SEPARATOR)
            assert (ids[border] == ids[border - 2] + 1) != bool(elsewhere), "tokens are numbered in the order of the text"
            total, other = total + 1, other + elsewhere
    assert total == 20 * len(made.passages) and within(other, total, 0.5)


def test_every_passage_once_per_epoch_and_single_sentences() -> None:
    found = sentences([[3, 4], [5, 2], [4], [6, 30]])
    made = batches(found, pairs=False, rows=2)
    rows = [row for n in range(len(made)) for row in zip(originals(made[n]), made[n].keep.tolist(), strict=True)]
    read = sorted(ids[1 : sum(keep) - 1] for ids, keep in rows)
    assert read == [found.between(k, k + 1)[:14] for k in range(len(found))], "in whole, or cut to the context"
    assert not any(made[n].segments.any() for n in range(len(made)))
    largest = made.largest()
    assert largest.ids.shape == (2, 16) and largest.keep.all() and (largest.wanted >= FIRST).all()
    assert all(made[n].ids.numel() <= largest.ids.numel() for n in range(len(made)))


def test_too_little_text_is_explained() -> None:
    with pytest.raises(DataError, match="has 1 passage of two or more sentences") as problem:
        batches(sentences([[3, 4], [5]]))
    assert "`--pairs false`" in problem.value.hint
    with pytest.raises(DataError, match="the text has no sentence"):
        MaskedBatches(Sentences.of(np.zeros(0, np.uint16), END), context=9, rows=1, seed=1, vocabulary=30, pairs=False)
