"""Writes the files of pairs that the tests read."""

import csv
import io
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest


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
