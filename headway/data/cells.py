"""What the cells of a column are: numbers, dates or words; and which of them are missing.

A column is one of numbers (or dates) if at least 95 % of its filled cells are: one typing error in a thousand rows must not
turn a number into a thousand words. The others are reported (`doctor_columns.py`) and count as missing.
"""

import math
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

import numpy as np
from jaxtyping import Bool, Float

EMPTY = frozenset(("", "na", "n/a", "nan", "null", "?"))  # nothing, whatever the column holds
MISSING = EMPTY | {"none", "-"}  # of a feature, or among numbers; a class may be called so
LARGEST = 1e19  # of a number; the square of a larger one is infinite in float32
MOST = 0.95  # of the filled cells decide what a column holds
FORMATS = ("%Y/%m/%d", "%d.%m.%Y", "%Y-%m")  # of dates besides those of ISO 8601

Kind = Literal["numbers", "dates", "words", "nothing"]


@dataclass(frozen=True, eq=False)
class Column:
    """A column of a table, read.

    values   its numbers, or seconds since 1970 of its dates; nan where there is none
    filled   which cells hold something
    """

    name: str
    kind: Kind
    cells: tuple[str, ...]
    values: Float[np.ndarray, "n"]
    filled: Bool[np.ndarray, "n"]

    @property
    def odd(self) -> Bool[np.ndarray, "n"]:
        """Cells of a column of numbers (or dates) that hold something else."""
        return self.filled & np.isnan(self.values) & (self.kind in ("numbers", "dates"))


def read_column(name: str, cells: Sequence[str], missing: Set[str] = MISSING) -> Column:
    """The column with its kind found from its cells; `missing` are those that hold nothing, in lower case."""
    texts = tuple(cell.strip() for cell in cells)
    filled = _filled(texts, missing)
    kinds: tuple[Kind, ...] = ("numbers", "dates")
    for kind, read in zip(kinds, (to_number, to_time), strict=True):
        values = _values(read, texts, filled)
        if filled.any() and np.isfinite(values[filled]).mean() >= MOST:
            return Column(name, kind, texts, values, filled)
    nothing = np.full(len(texts), math.nan)
    words = tuple(text if f else "" for text, f in zip(texts, filled, strict=True))
    return Column(name, "words" if filled.any() else "nothing", words, nothing, filled)


def read_as_numbers(name: str, cells: Sequence[str]) -> Column:
    """A column that is known to be one of numbers, cell by cell: in a small table one odd cell is more than 5 %."""
    texts = tuple(cell.strip() for cell in cells)
    filled = _filled(texts, MISSING)
    return Column(name, "numbers", texts, _values(to_number, texts, filled), filled)


def _filled(texts: Sequence[str], missing: Set[str]) -> Bool[np.ndarray, "n"]:
    return np.array([text.lower() not in missing for text in texts], dtype=bool)


def _values(
    read: Callable[[str], float], texts: Sequence[str], filled: Bool[np.ndarray, "n"]
) -> Float[np.ndarray, "n"]:
    return np.array([read(t) if f else math.nan for t, f in zip(texts, filled, strict=True)], dtype=np.float64)


def kinds_of(columns: Mapping[str, Sequence[str]]) -> dict[str, Kind]:
    """What each column of a table holds."""
    return {name: read_column(name, cells).kind for name, cells in columns.items()}


def to_number(text: str) -> float:
    """The number, or nan; an infinite one is none, nor one whose square would be infinite in training (in float32)."""
    try:
        value = float(text)
    except ValueError:
        return math.nan
    return value if abs(value) <= LARGEST and "_" not in text else math.nan


def to_time(text: str) -> float:
    """Seconds since 1970 of a date, or nan. A plain number is no date."""
    if text.isdecimal():
        return math.nan
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        for pattern in FORMATS:
            try:
                found = datetime.strptime(text, pattern)
                break
            except ValueError:
                continue
        else:
            return math.nan
    return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()
