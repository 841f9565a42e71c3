"""Tables: TSV, CSV, JSON lines or Parquet as named columns of strings, row by row in the order of the file.

The first row of TSV and CSV names the columns. A table without such a row is read by numbers: whoever asks for columns
`1` and `3` says that there is no header. What the strings mean (a class, a number, a date) is up to the task.
"""

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from headway.core.errors import DataError, nearest
from headway.data.cells import to_number
from headway.data.input_file import InputFile
from headway.data.messages import count_noun, display_name, list_names
from headway.data.readers import READERS, TABLES
from headway.data.rows import Problem, raise_unreadable


@dataclass(frozen=True)
class Table:
    """Columns of equal length; `lines` says where each row stood (from 1), `problems` which rows were not read."""

    columns: dict[str, tuple[str, ...]]
    lines: tuple[int, ...]
    origin: str
    problems: tuple[Problem, ...] = ()

    def __len__(self) -> int:
        return len(self.lines)

    def column(self, name: str) -> tuple[str, ...]:
        """The column of that name; an error with the nearest name if there is none."""
        if name in self.columns:
            return self.columns[name]
        guess = nearest(name, self.columns)
        hint = f"did you mean `{guess}`? " if guess else ""
        hint += f"its columns are {list_names(self.columns)}."
        raise DataError(f"{display_name(self.origin)} has no column `{name}`", hint)

    def select(self, rows: Sequence[int]) -> "Table":
        """The table of these rows alone."""
        columns = {name: tuple(cells[i] for i in rows) for name, cells in self.columns.items()}
        return Table(columns, tuple(self.lines[i] for i in rows), self.origin)

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 over names and cells in their order, each after its length, so that no two tables look alike."""
        digest = hashlib.sha256()
        for name, cells in self.columns.items():
            for text in (name, *cells):
                data = text.encode("utf-8", "surrogatepass")
                digest.update(b"%d:" % len(data) + data)
        return digest.hexdigest()


def read_table(path: str, wanted: Sequence[str]) -> Table:
    """All columns of a table that has those which are `wanted`. Numbers as names say that the table has no header."""
    file = InputFile(str(path))
    reader = READERS.get(file.suffix or guess_format(file))
    if reader is None or reader.rows is None:
        message = f"cannot read a table from {file}; known are {', '.join(TABLES)}, each also with .gz"
        raise DataError(message, "save the table as CSV, or rename the file to what it is.")
    rows = reader.rows(file)
    by_number = bool(wanted) and all(name.isdecimal() for name in wanted)
    first = next((row for row in rows if not isinstance(row, Problem) and any(row[1])), None)
    if first is None:
        raise_unreadable([row for row in rows if isinstance(row, Problem)], 0, file.path, "expected one row per line.")
        raise file.is_empty()
    numbers = [str(number) for number in range(1, len(first[1]) + 1)]
    headed = first[0] == 0 or not by_number or is_numbered(first[1], wanted)  # line 0: JSON lines and Parquet
    names = name_columns(first[1], file) if headed else numbers
    good, bad = sort_rows(rows, len(names), first[0] if headed else -1)
    raise_unreadable(bad, len(good), file.path, f"every row needs {count_noun(len(names), 'cell')}.")
    if not good:
        raise DataError(f"{file} holds no rows", "expected one row per line after the header.")
    cells = list(zip(*(row for _, row in good), strict=True))
    columns = {name: tuple(column) for name, column in zip(names, cells, strict=True)}
    table = Table(columns, tuple(line for line, _ in good), file.path, tuple(bad))
    for name in wanted:
        table.column(name)
    return table


def is_numbered(cells: Sequence[str], wanted: Sequence[str]) -> bool:
    """Whether a first row has the numbers that are wanted as names, and not as data.

    It has if its numbers count from 0 or 1 (`0,1,2,label`, as pandas writes it), or if one is beyond the number of columns (`2023`).
    """
    names = [cell.strip() for cell in cells]
    numbers = [name for name in names if not math.isnan(to_number(name))]
    counted = [[str(first + i) for i in range(len(numbers))] for first in (0, 1)]
    if len(numbers) > 1 and numbers in counted and set(wanted) <= set(names):
        return True
    return any(name in names and int(name) > len(names) for name in wanted)


def glance(path: str) -> dict[str, tuple[str, ...]]:
    """The columns of a table, to guess what it is for; none if the file is no table, or cannot be read."""
    try:
        return read_table(path, []).columns if InputFile(path).suffix in TABLES and Path(path).is_file() else {}
    except DataError:
        return {}


def guess_format(file: InputFile) -> str:
    """The format of standard input, or of a file whose name has no suffix, by its first line."""
    first = next(iter(file.blocks()), "").lstrip("\n").partition("\n")[0]
    return ".jsonl" if first.startswith("{") else ".tsv" if "\t" in first else ".csv"


def name_columns(header: list[str], file: InputFile) -> list[str]:
    """The cells of the header; one without a name (pandas writes its index so) is called by its number."""
    names = [name.strip() or str(number) for number, name in enumerate(header, 1)]
    twice = [name for name in dict.fromkeys(names) if names.count(name) > 1]
    if twice:
        hint = "give every column a name of its own; without a header, ask for columns by number: `1`, `2` ..."
        raise DataError(f"{file} has more than one column {list_names(twice)} in its first row", hint)
    return names


def sort_rows(
    rows: Sequence[tuple[int, list[str]] | Problem], width: int, header: int
) -> tuple[list[tuple[int, list[str]]], list[Problem]]:
    """Rows of the right width without the header, and the problems of the others."""
    good: list[tuple[int, list[str]]] = []
    bad: list[Problem] = []
    for row in rows:
        if isinstance(row, Problem):
            bad.append(row)
        elif row[0] == header:
            continue
        elif not row[1] or (row[1] == [""] and width > 1):
            bad.append(Problem(row[0], "is empty"))
        elif len(row[1]) != width:
            bad.append(Problem(row[0], f"has {count_noun(len(row[1]), 'cell')}, expected {width}"))
        else:
            good.append(row)
    return good, bad
