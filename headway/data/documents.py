"""Documents of plain text, read piece by piece: a text file is one document, a row of a JSONL file is one document."""

import json
from collections.abc import Iterator
from typing import Any

from headway.core.errors import DataError
from headway.data.input_file import InputFile

PIECE = 1 << 16  # characters; nothing ever holds a whole file

Pieces = Iterator[str]


def plain_documents(file: InputFile) -> Iterator[Pieces]:
    """The whole file as one document, cut at white space where there is some."""
    yield pieces(file)


def pieces(file: InputFile) -> Pieces:
    held = ""
    for block in file.blocks(PIECE):
        text = held + block
        cut = break_before(text)
        held = text[cut:]
        if cut:
            yield text[:cut]
    if held:
        yield held


def break_before(text: str) -> int:
    """Where to cut: before the last single space that a word follows; at the end if there is none near it."""
    cut = text.rfind(" ")
    while cut > 0 and (text[cut - 1].isspace() or cut + 1 >= len(text) or text[cut + 1].isspace()):
        cut = text.rfind(" ", 0, cut)
    return cut if cut > 0 and len(text) - cut < PIECE else len(text)


def jsonl_documents(file: InputFile) -> Iterator[Pieces]:
    """The field `text` of every row."""
    for number, line in file.numbered_lines():
        if not line.strip():
            continue
        try:
            row: Any = json.loads(line)
        except (ValueError, RecursionError) as problem:
            hint = 'expected one object per line, like {"text": "..."}.'
            raise DataError(f"{file} line {number} is not JSON: {str(problem).lower()}", hint) from problem
        text = row.get("text") if isinstance(row, dict) else row
        if not isinstance(text, str):
            known = f"; its fields are {', '.join(sorted(row))}" if isinstance(row, dict) else ""
            raise DataError(f"{file} line {number} has no field `text`{known}", 'expected rows like {"text": "..."}.')
        if text:
            yield iter([text[i : i + PIECE] for i in range(0, len(text), PIECE)])
