"""The columns of a table as a matrix: numbers standardised, words one-hot, gaps filled. Learned from the training rows alone.

number   z = (x - m) / s, m and s the mean and the standard deviation; a gap is filled by the median, and where training
         had gaps a further column says so (1: missing)
word     one column for each of the 50 most frequent words, 1 where it stands, and one for all others
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Float

from headway.data.cells import Column, read_as_numbers, read_column
from headway.data.messages import count_noun, list_names
from headway.data.table import Table

MOST_WORDS = 50  # of a column that have a column of the matrix of their own


@dataclass(frozen=True)
class NumberColumn:
    """How a column of numbers is scaled, and between which values training has seen it."""

    name: str
    mean: float
    deviation: float
    median: float
    low: float
    high: float
    gaps: bool  # whether training had any

    @classmethod
    def of(cls, column: Column) -> "NumberColumn":
        values = column.values[np.isfinite(column.values)]
        deviation = float(values.std() * (np.ptp(values) > 0)) or 1.0  # rounded, that of equal numbers is not 0
        middle, low, high = float(np.median(values)), float(values.min()), float(values.max())
        return cls(column.name, float(values.mean()), deviation, middle, low, high, len(values) < len(column.values))

    @property
    def width(self) -> int:
        return 1 + self.gaps

    def encode(self, values: Float[np.ndarray, "n"]) -> Float[np.ndarray, "n f"]:
        missing = np.isnan(values)
        z = (np.where(missing, self.median, values) - self.mean) / self.deviation
        return np.stack([z, missing.astype(np.float64)][: self.width], 1)


@dataclass(frozen=True)
class WordColumn:
    """The words of a column that have a column of the matrix each, the most frequent first, and how often each occurs.

    shares   of the rows of training; one more than there are words if rarer words share a last column
    """

    name: str
    words: tuple[str, ...]
    shares: tuple[float, ...]

    @classmethod
    def of(cls, column: Column) -> "WordColumn":
        counts = Counter(column.cells)
        words = sorted(counts, key=lambda word: (-counts[word], word))
        shares = [counts[word] / len(column.cells) for word in words]
        rest = [sum(shares[MOST_WORDS:])] * (len(words) > MOST_WORDS)
        return cls(column.name, tuple(words[:MOST_WORDS]), (*shares[:MOST_WORDS], *rest))

    @property
    def width(self) -> int:
        return len(self.shares)

    def encode(self, cells: Sequence[str]) -> Float[np.ndarray, "n f"]:
        """One-hot. An unseen word is a rare one; where training had no rare words, it counts as the average of all."""
        place = {word: i for i, word in enumerate(self.words)}
        unseen = np.eye(self.width)[-1] if self.width > len(self.words) else np.array(self.shares)
        rows = np.concatenate([np.eye(self.width), unseen[None]])
        return rows[[place.get(cell, self.width) for cell in cells]]


@dataclass(frozen=True)
class Features:
    """How a table becomes a matrix; kept in the run."""

    numbers: tuple[NumberColumn, ...]
    words: tuple[WordColumn, ...]

    @classmethod
    def of(cls, table: Table, names: Sequence[str]) -> "Features":
        columns = [read_column(name, table.column(name)) for name in names]
        numbers = tuple(NumberColumn.of(c) for c in columns if c.kind == "numbers")
        return cls(numbers, tuple(WordColumn.of(c) for c in columns if c.kind == "words"))

    @property
    def every(self) -> "tuple[NumberColumn | WordColumn, ...]":
        return (*self.numbers, *self.words)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.every)

    @cached_property
    def columns(self) -> dict[str, range]:
        """For each feature the columns of the matrix that are its own."""
        found, start = {}, 0
        for column in self.every:
            found[column.name] = range(start, start + column.width)
            start += column.width
        return found

    @property
    def width(self) -> int:
        return sum(column.width for column in self.every)

    def encode(self, table: Table) -> Float[np.ndarray, "n f"]:
        parts = [c.encode(read_as_numbers(c.name, table.column(c.name)).values) for c in self.numbers]
        parts += [column.encode(read_words(table.column(column.name))) for column in self.words]
        return np.concatenate([np.empty((len(table), 0)), *parts], 1).astype(np.float32)

    def warnings(self, table: Table) -> tuple[str, ...]:
        """What training has not seen of these columns."""
        found = []
        for column in self.numbers:
            read = read_as_numbers(column.name, table.column(column.name))
            values, gaps, odd = read.values, int((~read.filled).sum()), np.flatnonzero(read.odd)
            if gaps and not column.gaps:
                found.append(
                    f"`{column.name}` has {count_noun(gaps, 'gap')}, which training had not: filled by the median"
                )
            if len(odd):
                some = list_names(list(dict.fromkeys(read.cells[i] for i in odd))[:5])
                what = f"{count_noun(len(odd), 'cell')} that {'is' if len(odd) == 1 else 'are'} no number"
                found.append(f"`{column.name}` has {what} ({some}): taken for a gap")
            beyond = int(((values < column.low) | (values > column.high)).sum())
            if beyond:
                span = f"{column.low:g} to {column.high:g}"
                found.append(f"`{column.name}` has {count_noun(beyond, 'value')} beyond those of training ({span})")
        for words in self.words:
            seen = set(words.words)
            unseen = dict.fromkeys(c for c in read_words(table.column(words.name)) if c not in seen)
            if unseen and words.width == len(seen):
                found.append(f"`{words.name}` has words that training had not: {list_names(list(unseen)[:5])}")
        return tuple(found)


def read_words(cells: Sequence[str]) -> tuple[str, ...]:
    """The words of a column, whatever it holds otherwise; what is missing is the empty word."""
    column = read_column("", cells)
    return tuple(text if filled else "" for text, filled in zip(column.cells, column.filled, strict=True))
