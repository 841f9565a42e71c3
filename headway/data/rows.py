"""Rows of a table: the cells of a TSV, CSV or Parquet row or the object of a JSON line, with the line it begins in.

A row that cannot be read becomes a `Problem`, so that one bad line of a million is reported and does not end the
reading. TSV has no quoting and no escapes: a cell is what stands between two tabs.
"""

import csv
import io
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from headway.core.errors import DataError, raise_all
from headway.data.input_file import InputFile
from headway.data.messages import display_name, list_names


@dataclass(frozen=True)
class Problem:
    """A row that was not read: where, why, and what to do if all rows are like that."""

    line: int
    message: str
    hint: str = ""


Cells = tuple[int, list[str]]  # the line that the row begins in, and what stands in it


def tsv_rows(file: InputFile) -> list[Cells | Problem]:
    return [(number, line.split("\t")) for number, line in enumerate(filled_lines(file), 1)]


def csv_rows(file: InputFile) -> list[Cells | Problem]:
    lines = [line.replace("\r", " ") for line in filled_lines(file)]
    return list(csv_cells(lines, delimiter(lines)))


def filled_lines(file: InputFile) -> list[str]:
    """The lines up to the last that holds something; a tab would be a row of two empty cells."""
    lines = file.lines()
    while lines and not lines[-1].strip(" \r"):
        lines.pop()
    return lines


def delimiter(lines: list[str]) -> str:
    """Comma, semicolon (spreadsheets of half of Europe) or tab: the one that cuts the first rows most evenly."""

    def evenness(candidate: str) -> int:
        rows = csv.reader((line + "\n" for line in lines[:50]), delimiter=candidate)
        widths = Counter(len(row) for row in rows if row)
        return max((count for width, count in widths.items() if width >= 2), default=0)

    return max(",;\t", key=evenness)


def csv_cells(lines: list[str], delimiter: str) -> Iterator[Cells | Problem]:
    """Strict: a stray quote must not swallow the lines up to the next one in silence."""
    csv.field_size_limit(2**31 - 1)
    reader = csv.reader((line + "\n" for line in lines), delimiter=delimiter, strict=True)
    while True:
        start = reader.line_num + 1
        try:
            yield start, next(reader)
        except StopIteration:
            return
        except csv.Error as problem:
            if "end of data" in str(problem):
                yield Problem(start, f"a quote is opened and never closed; lines {start} to {len(lines)} are lost")
            else:
                span = f" (the row reaches to line {reader.line_num})" if reader.line_num > start else ""
                yield Problem(start, f"is not CSV: {problem}{span}")


def jsonl_rows(file: InputFile) -> Iterator[tuple[int, dict[str, object]] | Problem]:
    """One object per line."""
    for number, line in enumerate(filled_lines(file), 1):
        if not line.strip():
            yield Problem(number, "is empty")
            continue
        try:
            value = json.loads(line)
        except (ValueError, RecursionError) as problem:
            yield Problem(number, f"is not JSON: {str(problem).lower()}", "write one object in braces per line.")
            continue
        if isinstance(value, dict):
            yield number, value
        else:
            hint = 'write every line as an object with names, like {"source": "a dog", "target": "ein Hund"}.'
            yield Problem(number, f"is {kind_of(value)}, expected an object in braces", hint)


def jsonl_cells(file: InputFile) -> list[Cells | Problem]:
    """The keys of all objects as a header (line 0), then their values as cells.

    Every object needs the keys of the first; a key that comes later is empty where it is not given.
    """
    needed: list[str] = []
    names: dict[str, None] = {}
    read: list[tuple[int, dict[str, object]] | Problem] = []
    for row in jsonl_rows(file):
        if not isinstance(row, Problem):
            needed = needed or list(row[1])
            missing = [name for name in needed if name not in row[1]]
            if missing:
                row = Problem(row[0], f"has no key {list_names(missing)}; its keys are {list_names(row[1])}")
            else:
                names |= dict.fromkeys(row[1])
        read.append(row)
    rows = [r if isinstance(r, Problem) else (r[0], [cell_text(r[1].get(name)) for name in names]) for r in read]
    return [(0, list(names)), *rows] if names else rows


def parquet_rows(file: InputFile) -> list[Cells | Problem]:
    """The names of the columns as a header (line 0), then the rows, counted from 1."""
    try:
        from pyarrow import ArrowException, parquet
    except ImportError as problem:
        hint = "`pip install pyarrow`, or save the table as CSV or JSON lines."
        raise DataError(
            f"{file} is Parquet, and the package `pyarrow` that reads it is not installed", hint
        ) from problem
    with file.open() as data:
        try:
            table = parquet.read_table(io.BytesIO(data.read()))
        except (ArrowException, OSError) as problem:
            raise DataError(f"{file} is not Parquet: {problem}", "copy the file again.") from problem
    columns = [[cell_text(value) for value in column.to_pylist()] for column in table.columns]
    rows = zip(*columns, strict=True)
    return [(0, list(table.column_names)), *((number, list(row)) for number, row in enumerate(rows, 1))]


def cell_text(value: object) -> str:
    """A value as it would stand in a TSV cell: text as it is, nothing for null, numbers, lists and objects as in JSON.

    What JSON has no form of is written as Python does: dates, times and decimals of Parquet.
    """
    if value is None:
        return ""
    if isinstance(value, bool | int | float | list | dict):
        return json.dumps(value, ensure_ascii=False, default=str)
    return str(value)


def raise_unreadable(bad: Sequence[Problem], good: int, origin: str, hint: str, unit: str = "line") -> None:
    """Raise if more rows are bad than good, with all reasons at once; rows with the same one are reported raise_all."""
    if len(bad) <= good:
        return
    title = f"{display_name(origin)} cannot be used, {len(bad)} of {len(bad) + good} {unit}s cannot be read"
    reasons: dict[str, list[Problem]] = {}
    for problem in bad:
        reasons.setdefault(problem.message, []).append(problem)
    reported = []
    for message, same in reasons.items():
        again = f" (and {len(same) - 1:,} more {unit}s)" if len(same) > 1 else ""
        reported.append(f"{unit} {same[0].line} {message}{again}")
    frequent = max(reasons.values(), key=len)
    raise_all(reported, DataError, title, frequent[0].hint or hint)


def kind_of(value: object) -> str:
    kinds = {
        dict: "an object",
        list: "a list",
        str: "a string",
        bool: "true or false",
        int: "a number",
        float: "a number",
    }
    return kinds.get(type(value), "null")
