"""Which examples are held out: a part drawn with a seed, or in k-fold cross-validation one fold of k; in an ensemble they take turns.

Examples without an order are dealt out to the folds (`take_fold`); rows in the order of time are cut into blocks (`take_block`).

A task splits its data in `collect`, with functions that the tasks share. Those ask `current_fold`; a task that never asks cannot be
cross-validated, and `reading_fold` notices it. So no task needs to know of folds. In the same way they ask `current_turn`.
"""

import random
from collections.abc import Hashable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from headway.core.errors import DataError, UsageError
from headway.core.seeds import derive


@dataclass(frozen=True)
class Split:
    """How the held-out parts are drawn."""

    seed: int
    fold: int = 0  # which fold is the validation part, from 1 on; 0: no cross-validation
    folds: int = 0  # of how many
    turn: int = 0  # of a member of an ensemble: 0 validates by the usual part, 1 by the next, as large


_reading: ContextVar[tuple[Split, list[Split]] | None] = ContextVar("fold", default=None)


@contextmanager
def reading_fold(split: Split, task: str) -> Iterator[None]:
    """While this lasts, the validation part of data that is read is the fold of the split, if it has one."""
    asked: list[Split] = []
    token = _reading.set((split, asked))
    try:
        yield
    finally:
        _reading.reset(token)
    if split.fold and not asked:
        hint = "leave out `--folds`, and validation data of your own if you brought some."
        raise UsageError(f"the {task} data cannot be split into folds", hint)


def current_fold() -> Split | None:
    """The fold that is the validation part of what is being read; None: the usual split."""
    found = _reading.get()
    if found is None or not found[0].fold:
        return None
    found[1].append(found[0])
    return found[0]


def current_turn() -> int:
    """Which part of what is being read is the validation part: 0 the usual one, 1 the next, 2 the one after that."""
    found = _reading.get()
    return found[0].turn if found else 0


def take_fold(
    rows: Sequence[int], keys: Sequence[Hashable], strata: Sequence[Hashable], split: Split
) -> tuple[list[int], list[int]]:
    """The rows to learn from, and those of the fold. Rows that are not given, such as a test part, are in neither.

    A class of one example stays in training, whichever fold it is dealt to: it could not be learned from.

    rows           that are split
    keys, strata   of all rows
    """
    if split.folds > len({keys[row] for row in rows}):
        raise DataError(f"there are fewer different examples than the {split.folds} folds", "choose fewer `--folds`.")
    rows = sorted(rows)
    numbers = fold_numbers([keys[r] for r in rows], [strata[r] for r in rows], split.folds, split.seed)
    chosen = [row for row, number in zip(rows, numbers, strict=True) if number == split.fold]
    learned = {strata[row] for row, number in zip(rows, numbers, strict=True) if number != split.fold}
    alone = {keys[row] for row in chosen if strata[row] not in learned}
    chosen = [row for row in chosen if keys[row] not in alone]
    if not chosen:
        message = f"fold {split.fold} of {split.folds} has only classes that training would not have"
        raise DataError(message, "choose fewer `--folds`, or bring more examples of each class.")
    taken = set(chosen)
    return [row for row in rows if row not in taken], chosen


def take_block(rows: int, split: Split) -> tuple[int, int]:
    """The fold of rows in the order of time, as its first row and the one after its last; only the rows before it may be learned from.

        |  0  |  1  |  2  | ... |  k  |        k + 1 blocks of the same length; fold j is block j, learned from blocks 0 to j - 1

    Folds that are drawn at random would let a model learn from rows beside those it is judged by, and from their future. An origin that
    moves on judges it as it will be used. Tashman 2000, "Out-of-sample tests of forecasting accuracy: an analysis and review".
    """
    blocks = split.folds + 1
    return rows * split.fold // blocks, rows * (split.fold + 1) // blocks


def fold_numbers(keys: Sequence[Hashable], strata: Sequence[Hashable], folds: int, seed: int) -> list[int]:
    """The fold of each example, from 1 on: all folds are disjoint, together they are everything, and each has its share of every stratum.

    keys     examples with the same key are copies, and stay in one fold
    strata   the class of each example, or the same for all
    folds    k
    seed     of the order in which the examples of a stratum are dealt out
    """
    groups: dict[str, list[Hashable]] = {}  # the keys of each stratum; a key belongs to the first stratum it occurs in
    seen: set[Hashable] = set()
    for key, stratum in zip(keys, strata, strict=True):
        if key not in seen:
            seen.add(key)
            groups.setdefault(str(stratum), []).append(key)
    fold_of: dict[Hashable, int] = {}
    for stratum in sorted(groups):
        random.Random(derive(seed, "folds", stratum)).shuffle(groups[stratum])
        for key in groups[stratum]:
            fold_of[key] = len(fold_of) % folds + 1  # the next stratum begins where this one ended
    return [fold_of[key] for key in keys]
