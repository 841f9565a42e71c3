"""Every riddle is answered by a naive solver that reads the row as text and knows only the rule."""

import re
import statistics
from collections import Counter

import numpy as np
import pytest

from headway.compare.riddles import blind_level
from headway.core.errors import ConfigError
from headway.data.riddles import NUMBER, RIDDLES, VOCABULARY

LENGTHS = (4, 5, 8, 13, 32)
CHANCE = {"parity": 0.5, "brackets": 0.5, "listops": 0.125}  # the others: 1/10


def rows(riddle: str, length: int, count: int = 60, seed: int = 1) -> list[tuple[list[str], list[int]]]:
    """Tokens as text, and where they are asked."""
    ids, wanted = RIDDLES[riddle](np.random.default_rng(seed), count, length)
    assert ids.dtype == np.int64 and wanted.dtype == bool and ids.shape == wanted.shape and len(ids) == count
    return [([VOCABULARY[i] for i in row], np.flatnonzero(w).tolist()) for row, w in zip(ids, wanted, strict=True)]


def listops_value(text: str) -> int:
    """Rewrite the innermost list until one digit is left."""
    rules = {"MAX": max, "MIN": min, "MED": lambda v: int(statistics.median(v)), "SUM": lambda v: sum(v) % 10}
    while match := re.search(r"([A-Z]+) ([0-9 ]+) \]", text):
        text = text[: match.start()] + str(rules[match[1]]([int(n) for n in match[2].split()])) + text[match.end() :]
    return int(text)


def solution(riddle: str, tokens: list[str], length: int) -> dict[int, str]:
    """Position -> token, for every position that should be asked."""
    if riddle == "brackets":
        stack, found = [], {}
        for t, token in enumerate(tokens):
            if token in "([":
                stack.append(token)
            else:
                found[t] = {"(": ")", "[": "]"}[stack.pop()]
        assert not stack and len(tokens) == length - length % 2
        return found
    if riddle == "induction":
        assert len(tokens) == length + 2
        body, a = tokens[:-2], tokens[-2]
        assert body.count(a) == 1 and body[-1] != a
        return {length + 1: body[body.index(a) + 1]}
    cut = tokens.index("?")
    body, after = tokens[:cut], cut + 1
    if riddle == "recall":
        known = dict(zip(body[::2], body[1::2], strict=True))
        assert len(known) == length // 2 == len(body) // 2, "no key twice"
        keys = tokens[after::2]
        assert sorted(keys) == sorted(known), "every key is asked once"
        return {after + 2 * n + 1: known[key] for n, key in enumerate(keys)}
    if riddle == "memory":
        assert body[1:] == ["."] * length
        return {after: body[0]}
    assert len(body) == length
    if riddle == "parity":
        bits = "".join(body).lstrip(".")
        assert 1 <= len(bits) <= length and set(bits) <= {"0", "1"}
        return {after: str(bits.count("1") % 2)}
    if riddle == "listops":
        return {after: str(listops_value(" ".join(body).lstrip(". ")))}
    assert set(body) <= set("0123456789")
    answer = {"copy": body, "reverse": body[::-1], "sort": [str(n) for n in sorted(map(int, body))]}[riddle]
    return dict(enumerate(answer, after))


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("riddle", RIDDLES)
def test_the_answers_follow_from_the_rule_and_nothing_else_is_asked(riddle: str, length: int) -> None:
    for tokens, asked in rows(riddle, length):
        right = solution(riddle, tokens, length)
        assert asked == sorted(right), "asked exactly where the rule gives an answer"
        assert all(tokens[t] == answer for t, answer in right.items()), " ".join(tokens)


@pytest.mark.parametrize("riddle", RIDDLES)
def test_a_seed_is_a_riddle(riddle: str) -> None:
    assert rows(riddle, 16) == rows(riddle, 16) != rows(riddle, 16, seed=2)


@pytest.mark.parametrize("riddle", RIDDLES)
def test_chance_is_what_the_docstring_says(riddle: str) -> None:
    answers = Counter(tokens[t] for tokens, asked in rows(riddle, 8, 2000) for t in asked)
    total, best = answers.total(), max(answers.values())
    assert best / total == pytest.approx(CHANCE.get(riddle, 0.1), abs=3.5 * (0.25 / min(total, 2000)) ** 0.5 * 0.6)


def test_all_balanced_words_are_equally_likely() -> None:
    """14 shapes of length 8 (the Catalan number), each with 16 choices of kinds."""
    words = Counter("".join(tokens) for tokens, _ in rows("brackets", 8, 14 * 16 * 40))
    shapes: Counter[str] = Counter()
    for word, count in words.items():
        shapes[word.translate(str.maketrans("[]", "()"))] += count
    assert len(words) == 14 * 16 and len(shapes) == 14
    expected = 16 * 40
    assert sum((n - expected) ** 2 / expected for n in shapes.values()) < 34.5, "chi squared, 13 degrees of freedom, 0.1 %"


def test_lists_fill_the_length_and_use_every_operator() -> None:
    found = [tokens for tokens, _ in rows("listops", 64, 100)]
    assert statistics.mean(tokens.count(".") for tokens in found) < 2
    assert {"MAX", "MIN", "MED", "SUM"} <= {token for tokens in found for token in tokens}
    deep = [max(np.cumsum([(t in RIDDLES or t.isupper()) - (t == "]") for t in tokens])) for tokens in found]
    assert max(deep) == 4 and min(deep) >= 2


def test_the_blind_level_is_that_of_whoever_sees_one_token() -> None:
    assert blind_level("copy", 8) == pytest.approx(0.1, abs=0.03)
    assert blind_level("memory", 8) == pytest.approx(0.1, abs=0.05)
    repeats = np.mean([tokens[t] == tokens[t - 1] for tokens, asked in rows("sort", 64, 300) for t in asked])
    assert repeats > 0.8 and repeats <= blind_level("sort", 64) < 0.95
    adjacent = np.mean([tokens[t - 1] in "([" for tokens, asked in rows("brackets", 16, 500) for t in asked])
    assert blind_level("brackets", 16) == pytest.approx(adjacent + (1 - adjacent) / 2, abs=0.03)


@pytest.mark.parametrize(("riddle", "length"), [("recall", 1), ("recall", 130), ("induction", 1), ("brackets", 1), ("listops", 3)])
def test_a_length_that_cannot_be_raises(riddle: str, length: int) -> None:
    with pytest.raises(ConfigError, match="length"):
        RIDDLES[riddle](np.random.default_rng(0), 1, length)


def test_one_vocabulary() -> None:
    assert len(NUMBER) == len(VOCABULARY) == 84 and [NUMBER[token] for token in VOCABULARY] == list(range(84))
