"""Writes the files of pairs that the tests read, and asks why they are refused."""

import csv
import io
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from headway.core.errors import DataError
from headway.data.pairs import read_pairs


def write(path: Path, content: str | bytes) -> str:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return str(path)


def write_csv(path: Path, rows: Sequence[tuple[str, ...]], delimiter: str = ",") -> str:
    with open(path, "w", newline="", encoding="utf-8") as file:
        csv.writer(file, delimiter=delimiter).writerows(rows)
    return str(path)


def tmx(units: str, header: str = '<header srclang="en"/>', doctype: str = "") -> str:
    return f'<?xml version="1.0"?>\n{doctype}<tmx version="1.4">{header}<body>{units}</body></tmx>'


def unit(source: str, target: str) -> str:
    return f'<tu><tuv xml:lang="en"><seg>{source}</seg></tuv>\n<tuv xml:lang="de"><seg>{target}</seg></tuv></tu>\n'


def stdin(monkeypatch: pytest.MonkeyPatch, content: str) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content.encode())))


def refused(*phrases: str, hint: str, **where: object) -> str:
    """The message with which reading these pairs is refused; it has these phrases, and its hint that one."""
    with pytest.raises(DataError) as caught:
        read_pairs(**where)  # type: ignore[arg-type]
    for phrase in phrases:
        assert phrase in caught.value.message
    assert hint in caught.value.hint
    return caught.value.message
