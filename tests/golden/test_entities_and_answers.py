"""Entity F1 against published and hand-made examples, answers as SQuAD counts them, and spans against enumeration."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.core.errors import DataError
from headway.data.tokens import train_tokenizer
from headway.evaluate.answers import answer_f1, exact_answer, normalise
from headway.evaluate.entities import are_entities, entities, entity_f1
from headway.tasks.span_windows import NONE, Window, best_answer, make_windows


def test_the_example_that_seqeval_publishes() -> None:
    true = [["O", "O", "O", "B-MISC", "I-MISC", "I-MISC", "O"], ["B-PER", "I-PER", "O"]]
    predicted = [["O", "O", "B-MISC", "I-MISC", "I-MISC", "I-MISC", "O"], ["B-PER", "I-PER", "O"]]
    found = entity_f1(predicted, true)
    assert (found.f1, found.precision, found.recall, found.by_type) == (0.5, 0.5, 0.5, {"MISC": 0.0, "PER": 1.0})
    assert found.low <= found.f1 <= found.high


@pytest.mark.parametrize(
    ("tags", "expected"),
    [
        ("O B-X I-X O", [("X", 1, 3)]),
        ("B-X B-X I-X", [("X", 0, 1), ("X", 1, 3)]),
        ("I-X I-X O I-X", [("X", 0, 2), ("X", 3, 4)]),  # IOB1: `I-` begins where nothing precedes
        ("B-X I-Y I-Y", [("X", 0, 1), ("Y", 1, 3)]),  # another type ends the one before
        ("S-X B-X E-X I-X O", [("X", 0, 1), ("X", 1, 3), ("X", 3, 4)]),
        ("O O", []),
        ("B-X-Y I-X-Y", [("X-Y", 0, 2)]),
    ],
)
def test_entities_are_those_of_conlleval(tags: str, expected: list[tuple[str, int, int]]) -> None:
    assert entities(tags.split()) == expected


def test_counts_by_hand() -> None:
    """3 predicted, 4 true, 2 right: P = 2/3, R = 1/2, F1 = 4/7. No entity anywhere is 0."""
    true = ["B-A O B-B I-B O B-A".split(), "B-B".split()]
    predicted = ["B-A O B-B O O B-A".split(), "O".split()]
    found = entity_f1(predicted, true)
    assert (found.precision, found.recall, found.f1) == pytest.approx((2 / 3, 1 / 2, 4 / 7))
    assert entity_f1([["O"]], [["O"]]).f1 == 0.0
    with pytest.raises(DataError, match="not of the same words"):
        entity_f1([["O"]], [["O", "O"]])


def test_what_marks_entities() -> None:
    assert are_entities(["O", "B-X", "I-X"]) and not are_entities(["NOUN", "VERB"]) and not are_entities(["O"])


def test_answers_as_squad_counts_them() -> None:
    assert normalise("The  Cat's, an (A) anthem!") == "cats anthem"
    assert exact_answer("the Rome.", ["Paris", "rome"]) == 1 and exact_answer("Rome city", ["rome"]) == 0
    assert answer_f1("in old Rome", ["Rome"]) == pytest.approx(2 * 1 / (3 + 1))
    assert answer_f1("old Rome", ["Paris", "very old Rome"]) == pytest.approx(2 * 2 / (2 + 3))
    assert answer_f1("a b b", ["b c"]) == pytest.approx(2 * 1 / (2 + 2)), "a word counts as often as both have it"
    assert (answer_f1("", [""]), answer_f1("Rome", [""]), answer_f1("", ["Rome"])) == (1, 0, 0)
    with pytest.raises(DataError, match="a list of true answers"):
        exact_answer("x", [])


@given(st.integers(0, 10**6), st.integers(1, 6), st.integers(1, 4), st.integers(1, 3))
def test_the_best_answer_is_that_of_enumeration(seed: int, tokens: int, longest: int, count: int) -> None:
    random = np.random.default_rng(seed)
    windows, logs = [], []
    for w in range(count):
        windows.append(Window([0] * (tokens + 4), 3, tuple((10 * w + i, 10 * w + i + 1) for i in range(tokens))))
        logits = random.normal(size=(tokens + 4, 2)) * 3
        logs.append(logits - np.log(np.exp(logits).sum(0)))
    best = (-math.inf, NONE)
    for w, i, j in itertools.product(range(count), range(tokens), range(tokens)):
        if i <= j < i + longest:
            p = math.exp(logs[w][3 + i, 0]) * math.exp(logs[w][3 + j, 1])
            best = max(best, (p, (10 * w + i, 10 * w + j + 1)))
    none = min(math.exp(log[0].sum()) for log in logs)
    expected = (none, NONE) if none >= best[0] else best
    found = best_answer(windows, logs, longest)
    assert (found.start, found.stop) == expected[1] and found.probability == pytest.approx(expected[0])


@pytest.mark.parametrize("kind", ["bpe", "words", "characters", "bytes"])
def test_windows_cover_the_passage_and_find_the_answer(kind: str) -> None:
    context = "Anna lives in Köln and reads a long book every evening. Bruno lives in Rome."
    tokenizer = train_tokenizer(kind, [context, "Where does Bruno live?"], 350)
    for longest, stride in ((500, 100), (60, 20), (60, 1000)):
        windows = make_windows(tokenizer, "Where does Bruno live?", context, longest, stride)
        assert all(len(w.ids) <= longest for w in windows) and (longest < 500 or len(windows) == 1)
        assert {c for w in windows for a, b in w.characters for c in range(a, b)} == set(range(len(context)))
        start = context.index("Rome")
        places = [(w, w.place(start, start + 4)) for w in windows]
        inside = [(w, place) for w, place in places if place != NONE]
        assert inside and all(context[slice(*w.span(*place))].strip() == "Rome" for w, place in inside)
        assert all(w.place(-1, 0) == NONE for w in windows)
        decoded = tokenizer.decode([w.ids[w.passage : -1] for w in windows])
        assert all(text.strip() in context for text in decoded if "�" not in text)
