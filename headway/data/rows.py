"""Rows of a table: the cells of a TSV or CSV line, or the object of a JSON line, each with the line it begins in.

A row that cannot be read becomes a `Problem`, so that one bad line of a million is reported and does not end the reading. TSV has no
quoting and no escapes: a cell is what stands between two tabs.
"""

import csv
import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from headway.data.input_file import InputFile


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
    """Comma, semicolon (spreadsheets of half of Europe) or tab: the one that cuts the first rows most evenly into columns."""

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


def kind_of(value: object) -> str:
    kinds = {dict: "an object", list: "a list", str: "a string", bool: "true or false", int: "a number", float: "a number"}
    return kinds.get(type(value), "null")
