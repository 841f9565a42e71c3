"""Nine riddles that separate one mixer from another: short sequences in which some tokens follow from the others.

A riddle is a function (rng, batch, length) -> (ids "b t", wanted "b t"). `length` counts the tokens
before the question, and `wanted` marks the tokens that are determined by everything before them: a model reads
ids[:, :-1] and has to predict ids[:, 1:] where wanted[:, 1:]. All riddles share one vocabulary. The chance level is the
accuracy of the best constant answer.

    copy       7 3 1 ? 7 3 1            needs a memory of the whole sequence
    reverse    7 3 1 ? 1 3 7            the same, last in, first out
    sort       7 3 1 ? 1 3 7            needs counts and an order
    induction  4 A B 0 2 A B            needs what came after the same token
    recall     x 7 y 3 ? y 3 x 7        needs a memory that is addressed by content
    parity     0 1 1 0 1 ? 1            needs a state that every bit can change
    memory     7 . . . . . . ? 7        needs a state that filler does not change
    brackets   ( [ ] ( ) )              needs a stack
    listops    MAX 2 MIN 4 7 ] 0 ] ? 4  needs a stack and arithmetic
"""

from collections.abc import Callable

import numpy as np
from jaxtyping import Bool, Int

from headway.core.errors import ConfigError

MARKS, BRACKETS, OPERATORS, DIGITS = ("?", "."), ("(", "[", ")", "]"), ("MAX", "MIN", "MED", "SUM"), tuple("0123456789")
KEYS = tuple(f"k{n}" for n in range(64))
VOCABULARY = (*MARKS, *BRACKETS, *OPERATORS, *DIGITS, *KEYS)
NUMBER = {token: number for number, token in enumerate(VOCABULARY)}
ASK, FILL, OPEN, CLOSE, ZERO, KEY = (NUMBER[token] for token in ("?", ".", "(", ")", "0", "k0"))
DEEP = 4  # lists in lists of `listops`

Riddle = tuple[Int[np.ndarray, "b t"], Bool[np.ndarray, "b t"]]


def copy(rng: np.random.Generator, batch: int, length: int) -> Riddle:
    """Random digits, then the same digits. Chance 1/10. Hochreiter & Schmidhuber 1997; Graves et al. 2014."""
    body = _digits(rng, batch, length)
    return _with_answer(body, body)


def reverse(rng: np.random.Generator, batch: int, length: int) -> Riddle:
    """Random digits, then the same digits from the last to the first. Chance 1/10."""
    body = _digits(rng, batch, length)
    return _with_answer(body, body[:, ::-1])


def sort(rng: np.random.Generator, batch: int, length: int) -> Riddle:
    """Random digits, then the same in rising order. Chance 1/10; repeating the last answer gets up to 1 - 10/length."""
    body = _digits(rng, batch, length)
    return _with_answer(body, np.sort(body, 1))


def induction(rng: np.random.Generator, batch: int, length: int) -> Riddle:
    """Random digits in which A occurs once, followed by B; then A again, and B is to be predicted. Chance 1/10.

    Olsson et al. 2022, "In-context learning and induction heads", https://arxiv.org/abs/2209.11895.
    """
    _at_least(2, length)
    a, rows = rng.integers(10, size=batch), np.arange(batch)
    body = (a[:, None] + rng.integers(1, 10, (batch, length))) % 10  # nowhere A
    place = rng.integers(length - 1, size=batch)
    body[rows, place] = a
    answer = body[rows, place + 1]
    ids = ZERO + np.concatenate([body, a[:, None], answer[:, None]], 1)
    return ids, _last(ids, 1)


def recall(rng: np.random.Generator, batch: int, length: int) -> Riddle:
    """Pairs of a key and a digit, no key twice; then every key in a new order with its digit. Chance 1/10.

    Graves et al. 2014, https://arxiv.org/abs/1410.5401; with many questions: Arora et al. 2023 (Zoology),
    https://arxiv.org/abs/2312.04927.
    """
    pairs = length // 2
    if not 1 <= pairs <= len(KEYS):
        raise ConfigError(
            f"`recall` of length {length} has {pairs} pairs, expected 1 to {len(KEYS)}",
            "choose a length from 2 to 129.",
        )
    keys = KEY + rng.permuted(np.tile(np.arange(len(KEYS)), (batch, 1)), axis=1)[:, :pairs]
    given = np.stack([keys, _digits(rng, batch, pairs)], 2)
    order = rng.permuted(np.tile(np.arange(pairs), (batch, 1)), axis=1)
    asked = np.take_along_axis(given, order[:, :, None], 1)
    ids, wanted = _with_answer(given.reshape(batch, -1), asked.reshape(batch, -1))
    wanted[:, -2 * pairs :: 2] = False  # the keys are given
    return ids, wanted


def parity(rng: np.random.Generator, batch: int, length: int) -> Riddle:
    """Some bits, 1 to `length` of them with filler before, then 1 if an odd number of them is 1. Chance 1/2.

    Lengths vary because no model learns parity from long sequences alone. It is asked for once, at the end: with the
    parity after every bit as input, the next answer would depend on two bits only. Minsky & Papert 1969; Hahn 2020,
    https://arxiv.org/abs/1906.06755.
    """
    bits = rng.integers(2, size=(batch, length))
    there = np.arange(length) >= length - rng.integers(1, length + 1, (batch, 1))
    return _with_answer(np.where(there, ZERO + bits, FILL), ZERO + (bits * there).sum(1, keepdims=True) % 2)


def memory(rng: np.random.Generator, batch: int, length: int) -> Riddle:
    """A digit, `length` times filler, then the digit again. Chance 1/10. Bengio et al. 1994, doi 10.1109/72.279181."""
    digit = _digits(rng, batch, 1)
    return _with_answer(np.concatenate([digit, np.full((batch, length), FILL)], 1), digit)


def brackets(rng: np.random.Generator, batch: int, length: int) -> Riddle:
    """A balanced word of two kinds of brackets; at every closing one its kind is to be predicted. Chance 1/2.

    All balanced words are equally likely: with r tokens left and h brackets open, the next one opens with probability
    (h + 2) (r - h) / (2 r (h + 1)) (Arnold & Sleep 1980, doi 10.1145/357084.357091). Dyck-2: Hewitt et al. 2020, arXiv
    2010.07515.
    """
    length -= length % 2
    _at_least(2, length)
    rows, height = np.arange(batch), np.zeros(batch, np.int64)
    stack, ids = np.zeros((batch, length + 1), np.int64), np.zeros((batch, length), np.int64)
    for t in range(length):
        r = length - t
        opens = rng.random(batch) < (height + 2) * (r - height) / (2 * r * (height + 1))
        stack[rows, height] = np.where(opens, rng.integers(2, size=batch), stack[rows, height])
        ids[:, t] = np.where(opens, OPEN + stack[rows, height], CLOSE + stack[rows, height - 1])
        height += np.where(opens, 1, -1)
    return ids, ids >= CLOSE


def listops(rng: np.random.Generator, batch: int, length: int) -> Riddle:
    """MAX, MIN, MED (rounded down) and SUM (modulo 10) of 2 to 5 digits or lists, then the value. Chance 1/8.

    Lists stand in lists, four deep at most. The expression has `length` tokens or a little less, with filler before.
    Nangia & Bowman 2018, https://arxiv.org/abs/1804.06028.
    """
    _at_least(4, length)
    body, answer = np.full((batch, length), FILL), np.zeros((batch, 1), np.int64)
    for row in range(batch):
        tree = _node(rng, length - 2)
        left = length - 1 - len(tree)
        places = [(tree, i, 1) for i in range(1, len(tree))]  # digits that may become lists
        while left >= 3 and places:
            at = rng.integers(len(places))
            (node, i, depth), places[at] = places[at], places[-1]
            places.pop()
            node[i] = inner = _node(rng, left - 1)  # an operator, its members and `]` for one digit
            left -= len(inner)
            places += [(inner, j, depth + 1) for j in range(1, len(inner)) if depth + 1 < DEEP]
        tokens = _tokens_of(tree)
        body[row, length - len(tokens) :] = [NUMBER[token] for token in tokens]
        answer[row] = ZERO + value(tree)
    return _with_answer(body, answer)


def value(tree: list | int) -> int:  # type: ignore[type-arg]
    if isinstance(tree, int):
        return tree
    operator, members = tree[0], sorted(value(member) for member in tree[1:])
    middle = (members[(len(members) - 1) // 2] + members[len(members) // 2]) // 2
    return int({"MAX": members[-1], "MIN": members[0], "MED": middle, "SUM": sum(members) % 10}[operator])


def _node(rng: np.random.Generator, room: int) -> list:  # type: ignore[type-arg]
    """An operator and 2 to 5 digits, no more than there is room for."""
    members = rng.integers(10, size=rng.integers(2, min(5, room) + 1)).tolist()
    return [OPERATORS[rng.integers(4)], *members]


def _tokens_of(tree: list | int) -> list[str]:  # type: ignore[type-arg]
    return (
        [str(tree)] if isinstance(tree, int) else [tree[0], *(token for m in tree[1:] for token in _tokens_of(m)), "]"]
    )


def _digits(rng: np.random.Generator, batch: int, length: int) -> Int[np.ndarray, "b t"]:
    return ZERO + rng.integers(10, size=(batch, length))


def _with_answer(body: Int[np.ndarray, "b t"], answer: Int[np.ndarray, "b s"]) -> Riddle:
    ids = np.concatenate([body, np.full((len(body), 1), ASK), answer], 1)
    return ids, _last(ids, answer.shape[1])


def _last(ids: Int[np.ndarray, "b t"], count: int) -> Bool[np.ndarray, "b t"]:
    return np.broadcast_to(np.arange(ids.shape[1]) >= ids.shape[1] - count, ids.shape).copy()


def _at_least(least: int, length: int) -> None:
    if length < least:
        raise ConfigError(f"the length is {length}, expected at least {least}", f"write a length of {least} or more.")


RIDDLES: dict[str, Callable[[np.random.Generator, int, int], Riddle]] = {
    f.__name__: f for f in (copy, reverse, sort, induction, recall, parity, memory, brackets, listops)
}
