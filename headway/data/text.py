"""Text of any size, read piece by piece: a file, a folder of files, JSONL with a field `text`, `.gz` of these.

A document is a list of pieces of some 64 thousand characters; nothing ever holds a whole file. Each file is UTF-8; one that is not
stops the reading with its line, and what is no text at all inside a folder is passed over and told.
"""

import codecs
import gzip
import hashlib
import json
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import IO, Any

from headway.core.errors import DataError
from headway.data.plaintext import UTF8_MARK, decoded, refuse_binary, spoken

PIECE = 1 << 16  # characters


@dataclass(frozen=True)
class Text:
    """All text under a path."""

    path: str
    skipped: dict[str, str] = field(default_factory=dict, compare=False)  # files of a folder that are no text, and why

    @cached_property
    def files(self) -> list[Path]:
        root = Path(self.path)
        if not root.exists():
            raise DataError(f"there is no file or folder `{self.path}`", "check the path.")
        if not root.is_dir():
            return [root]
        found = sorted(p for p in root.rglob("*") if p.is_file() and not any(part.startswith(".") for part in p.relative_to(root).parts))
        texts = []
        for path in found:
            try:
                with opened(path) as file:
                    refuse_binary(file.read(8), str(path))
                texts.append(path)
            except DataError as problem:
                self.skipped[str(path.relative_to(root))] = problem.message.rpartition(" is ")[2]
        return texts

    def documents(self) -> Iterator[Iterator[str]]:
        """Each document as its pieces, in order."""
        for path in self.files:
            if path.name.removesuffix(".gz").endswith((".jsonl", ".ndjson")):
                yield from (iter(text[i : i + PIECE] for i in range(0, len(text), PIECE)) for text in rows(path))
            else:
                yield pieces(path)

    @cached_property
    def size(self) -> "Size":
        """One pass over everything: counts and a fingerprint."""
        documents = characters = count = 0
        digest = hashlib.sha256()
        for document in self.documents():
            documents += 1
            for piece in document:
                data = piece.encode()
                characters, count = characters + len(piece), count + len(data)
                digest.update(data)
            digest.update(b"\0")
        if not characters:
            raise DataError(f"{spoken(self.path)} holds no text", "expected text in UTF-8.")
        return Size(len(self.files), documents, characters, count, digest.hexdigest())


@dataclass(frozen=True)
class Size:
    files: int
    documents: int
    characters: int
    bytes: int
    sha256: str

    def __str__(self) -> str:
        files = f"{self.files:,} files, " if self.files > 1 else ""
        documents = f"{self.documents:,} documents, " if self.documents > 1 else ""
        return f"{files}{documents}{self.characters:,} characters, {self.bytes:,} bytes"


def opened(path: Path) -> IO[bytes]:
    try:
        return gzip.open(path, "rb") if path.suffix == ".gz" else open(path, "rb")  # type: ignore[return-value]
    except OSError as problem:
        raise DataError(
            f"cannot read `{path}`: {(problem.strerror or str(problem)).lower()}", "check the path and its permissions."
        ) from problem


def pieces(path: Path) -> Iterator[str]:
    """The text of a plain file, cut at white space where there is some."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    held, lines, first = "", 1, True
    try:
        with opened(path) as file:
            while block := file.read(PIECE):
                if first:
                    refuse_binary(block, str(path))
                    block, first = block.removeprefix(UTF8_MARK), False
                try:
                    if b"\0" in block:
                        decoded(block, str(path))  # says what it is instead
                    text = held + decoder.decode(block)
                except UnicodeDecodeError as problem:
                    line = lines + problem.object[: problem.start].count(b"\n")
                    bad = problem.object[problem.start]
                    raise DataError(
                        f"`{path}` is not UTF-8: byte 0x{bad:02x} near line {line}",
                        f"`iconv -f WINDOWS-1252 -t UTF-8 {path.name} > {path.stem}.utf8{path.suffix}` if it is in a western encoding.",
                    ) from problem
                lines += block.count(b"\n")
                cut = breaking(text)
                held = text[cut:]
                if cut:
                    yield text[:cut]
            held += decoder.decode(b"", final=True)
    except UnicodeDecodeError as problem:
        raise DataError(f"`{path}` ends in the middle of a UTF-8 character", "copy it again.") from problem
    except (EOFError, zlib.error, gzip.BadGzipFile) as problem:
        raise DataError(f"cannot unpack `{path}`: {str(problem).lower()}", "copy it again.") from problem
    if held:
        yield held


def breaking(text: str) -> int:
    """Where to cut: before the last single space that a word follows; at the end if there is none (or the rest is long)."""
    cut = text.rfind(" ")
    while cut > 0 and (text[cut - 1].isspace() or cut + 1 >= len(text) or text[cut + 1].isspace()):
        cut = text.rfind(" ", 0, cut)
    return cut if cut > 0 and len(text) - cut < PIECE else len(text)


def rows(path: Path) -> Iterator[str]:
    """The field `text` of every row of a JSONL file."""
    with opened(path) as file:
        for number, line in enumerate(file, 1):
            if not line.strip():
                continue
            try:
                row: Any = json.loads(line)
            except ValueError as problem:
                raise DataError(f"`{path}` line {number} is not JSON: {problem}", "expected one object per line.") from problem
            text = row.get("text") if isinstance(row, dict) else row
            if not isinstance(text, str):
                known = f"; its fields are {', '.join(sorted(row))}" if isinstance(row, dict) else ""
                raise DataError(f"`{path}` line {number} has no field `text`{known}", 'expected rows like {"text": "..."}.')
            if text:
                yield text
