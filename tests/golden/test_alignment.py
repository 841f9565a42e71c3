"""Alignment error rate by hand and by enumeration; Pharaoh lines; attention maps from tokens to words."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.core.errors import ConfigError, DataError
from headway.evaluate.alignment import aer, links, measure, read_pharaoh, to_words, write_pharaoh

LINKS = st.sets(st.tuples(st.integers(0, 12), st.integers(0, 12)), max_size=12)
CORPUS = st.lists(st.tuples(LINKS, LINKS, LINKS), max_size=4)


def test_by_hand() -> None:
    # A = {00, 11, 22}, S = {00, 12}, P = S + {11}:  |A ∩ S| = 1, |A ∩ P| = 2, AER = 1 - 3 / 5
    made = measure([{(0, 0), (1, 1), (2, 2)}], [{(0, 0), (1, 2)}], [{(1, 1)}])
    assert made.aer == pytest.approx(0.4)
    assert (made.precision, made.recall) == (pytest.approx(2 / 3), pytest.approx(1 / 2))
    assert made.f1 == pytest.approx(4 / 7)
    # Over a corpus counts are added, not averaged: 1 - (1 + 1) / (1 + 3) for one perfect sentence and one that is missing.
    assert aer([{(0, 0)}, set()], [{(0, 0)}, {(0, 0), (1, 1)}]) == pytest.approx(0.5)


def test_all_alignments_of_two_words() -> None:
    cells = [(0, 0), (0, 1), (1, 0), (1, 1)]
    subsets = [set(c) for n in range(5) for c in itertools.combinations(cells, n)]
    for a, s, p in itertools.product(subsets, repeat=3):
        hits_s = sum(cell in a and cell in s for cell in cells)
        hits_p = sum(cell in a and (cell in s or cell in p) for cell in cells)
        size = len(a) + len(s)
        assert aer([a], [s], [p]) == pytest.approx(1 - (hits_s + hits_p) / size if size else 0)


@given(CORPUS)
def test_bounds(corpus: list[tuple[set[tuple[int, int]], ...]]) -> None:
    a, s, p = ([x[i] for x in corpus] for i in range(3))
    made = measure(a, s, p)
    assert all(0 <= x <= 1 for x in (made.precision, made.recall, made.f1, made.aer))
    assert aer(s, s) == 0 and aer(s, s, p) == 0
    assert aer([x | z for x, z in zip(s, p, strict=True)], s, p) == 0  # possible links do no harm
    if any(s):
        assert aer([{(i + 100, j) for i, j in x} for x in a], s, p) == 1  # disjoint
    # Without possible links of their own, 1 - AER is the F1 of the counts (Fraser & Marcu 2007).
    alone = measure(a, s)
    assert alone.aer == pytest.approx(1 - alone.f1) or not (any(a) and any(s))


def test_unequal_lengths() -> None:
    with pytest.raises(DataError, match="1 predicted alignments cannot be compared with 2 sure and 2 possible"):
        aer([set()], [set(), set()])


@given(CORPUS)
def test_pharaoh_round_trip(corpus: list[tuple[set[tuple[int, int]], ...]]) -> None:
    sure, possible = [x[0] for x in corpus], [x[0] | x[1] for x in corpus]
    lines = write_pharaoh(sure, possible)
    assert read_pharaoh(lines) == (sure, possible)
    assert write_pharaoh(*read_pharaoh(lines)) == lines
    assert read_pharaoh(line + "\n" for line in write_pharaoh(sure)) == (sure, sure)


def test_pharaoh_by_hand() -> None:
    assert read_pharaoh(["0-0 1-2 10?3 4p5\n", "\n"]) == ([{(0, 0), (1, 2)}, set()], [{(0, 0), (1, 2), (10, 3), (4, 5)}, set()])
    assert write_pharaoh([{(10, 0), (2, 1)}, set()], [{(3, 3)}, set()]) == ["2-1 3?3 10-0", ""]
    with pytest.raises(DataError, match="2 lines of sure links and 1 of possible"):
        write_pharaoh([set(), set()], [set()])


def test_pharaoh_errors_name_every_line() -> None:
    with pytest.raises(DataError) as caught:
        read_pharaoh(["0-0", "0-0 1_2", "", "-1-2 ٣-1"], name="`gold.align`")
    assert str(caught.value).splitlines() == [
        "`gold.align` is not in Pharaoh format:",
        "  - line 2: `1_2` is not a link",
        "  - line 4: `-1-2` is not a link",
        "  - line 4: `٣-1` is not a link",
        "Hint: write `source-target` from 0, `0-0 1-2`; possible: `1?2`.",
    ]


def test_links() -> None:
    weights = np.array([[0.1, 0.7, 0.2], [0.4, 0.3, 0.3], [0.5, 0.5, 0.0], [0.0, 0.0, 0.0], [np.nan, np.nan, np.nan]])
    assert links(weights) == {(1, 0), (0, 1), (0, 2)}  # (source, target); the first of equals; nothing from nothing
    assert links(weights, threshold=0.5) == {(1, 0), (0, 2)}
    assert links(weights, threshold=0.71) == set()
    assert links(np.zeros((0, 3))) == links(np.zeros((3, 0))) == set()
    with pytest.raises(ConfigError, match=r"shape \(2, 3, 4\), expected \(target, source\)"):
        links(np.zeros((2, 3, 4)))


def test_to_words_by_hand() -> None:
    weights = np.array([[0.1, 0.2, 0.3, 0.4], [0.5, 0.1, 0.3, 0.1], [0.0, 0.6, 0.2, 0.2], [1.0, 0.0, 0.0, 0.0]])
    made = to_words(weights, target_words=[0, 0, 1, -1], source_words=[0, 0, 1, -1])
    np.testing.assert_allclose(made, [[0.45, 0.3], [0.6, 0.2]])  # the last row and column are the end of the sentence
    assert to_words(np.zeros((1, 0)), [-1], []).shape == (0, 0)
    with pytest.raises(ConfigError, match=r"shape \(4, 4\), but there are 3 target and 4 source tokens"):
        to_words(weights, [0, 1, 2], [0, 1, 2, 3])


@given(st.lists(st.integers(1, 3), min_size=1, max_size=4), st.lists(st.integers(1, 3), min_size=1, max_size=4), st.integers(0, 9))
def test_to_words_keeps_rows_that_sum_to_one(target: list[int], source: list[int], seed: int) -> None:
    t, s = np.repeat(np.arange(len(target)), target), np.repeat(np.arange(len(source)), source)
    weights = np.random.default_rng(seed).dirichlet(np.ones(len(s)), size=len(t))
    made = to_words(weights, t.tolist(), s.tolist())
    assert made.shape == (len(target), len(source))
    np.testing.assert_allclose(made.sum(1), 1)
    i, j = len(target) - 1, len(source) - 1
    assert made[i, j] == pytest.approx(np.mean([sum(weights[a, b] for b in np.flatnonzero(s == j)) for a in np.flatnonzero(t == i)]))
