"""The one way a person's text file is opened: plain or `.gz`, UTF-8, a file or standard input.

Every reader goes through here, so that a file which is missing, empty, binary, half copied or in another encoding is
named in the same words everywhere, with the command that converts it. A byte order mark is tolerated.
"""

import codecs
import gzip
import io
import shlex
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import BinaryIO, cast

from headway.core.errors import DataError
from headway.core.files import read_bytes, reason_of
from headway.data.messages import display_name, excerpt

BLOCK = 1 << 16  # bytes
LOOK_AHEAD = 1 << 20  # bytes after a broken one that show whether the rest is UTF-8
BINARY = {
    b"\x1f\x8b": "gzip data",
    b"%PDF-": "a PDF document",
    b"\x89PNG": "a PNG picture",
    b"\xff\xd8\xff": "a JPEG picture",
    b"PK\x03\x04": "a zip archive (or an office document)",
    b"\xfd7zXZ": "xz data",
    b"\x28\xb5\x2f\xfd": "zstd data",
}
ADVICE = {
    "gzip data": "rename it so that it ends in `.gz`, or unpack it with `gunzip`.",
    "xz data": "unpack it with `unxz`.",
    "zstd data": "unpack it with `unzstd`.",
}
UTF8_MARK = b"\xef\xbb\xbf"
MARKS = {b"\xff\xfe\x00\x00": "UTF-32", b"\x00\x00\xfe\xff": "UTF-32", b"\xff\xfe": "UTF-16", b"\xfe\xff": "UTF-16"}


@dataclass(frozen=True)
class InputFile:
    """A path, or "-" for standard input, which is kept because it can be read only once."""

    path: str

    def __str__(self) -> str:
        return display_name(self.path)

    @property
    def suffix(self) -> str:
        """`.tsv` of `a.TSV.gz`."""
        return Path(self.path.removesuffix(".gz")).suffix.lower()

    @cached_property
    def _standard_input(self) -> bytes:
        return sys.stdin.buffer.read()

    @contextmanager
    def open(self) -> Iterator[BinaryIO]:
        """The bytes of the file, unpacked. What is known to be no text is refused."""
        if self.path == "-":
            refuse_binary(self._standard_input[:8], self.path)
            yield io.BytesIO(self._standard_input)
            return
        try:
            plain = open(self.path, "rb")  # noqa: SIM115 - closed below
        except OSError:
            read_bytes(Path(self.path))  # says what is wrong with the path, in the words used everywhere
            raise
        with plain:
            try:
                packed = self.path.endswith(".gz") and bool(plain.peek(1))  # an empty file is empty, not damaged
                file = gzip.GzipFile(fileobj=plain) if packed else plain
                refuse_binary(file.peek(8)[:8], self.path)
                yield cast(BinaryIO, file)
            except (EOFError, zlib.error, gzip.BadGzipFile) as problem:
                hint = f"`gzip -t {shlex.quote(self.path)}` tests the file; copy it again."
                raise DataError(f"cannot unpack {self}: {str(problem).lower()}", hint) from problem
            except OSError as problem:
                if problem.filename:  # another file
                    raise
                raise DataError(f"cannot read {self}: {reason_of(problem)}") from problem

    def blocks(self, size: int = BLOCK) -> Iterator[str]:
        """The text as blocks of about `size` bytes; nothing holds the whole file."""
        decoder = codecs.getincrementaldecoder("utf-8")()
        line, column, foreign = 1, 0, False  # where the block begins; whether good UTF-8 beyond ASCII came before it
        with self.open() as file:
            block = file.read(max(size, 4))
            refuse_encoding(block, self.path)
            block = block.removeprefix(UTF8_MARK)
            while block:
                if b"\0" in block:
                    raise zero_byte(block, line, self.path)
                try:
                    text = decoder.decode(block)
                except UnicodeDecodeError as problem:
                    held = len(problem.object) - len(block)  # the begun character of the block before
                    place = Place(line, column - held, foreign)
                    raise not_utf8(problem.object, problem.start, file.read(LOOK_AHEAD), place, self.path) from problem
                line, column = line + block.count(b"\n"), after_last_line_end(block, column)
                foreign = foreign or not text.isascii()
                if text:
                    yield text
                block = file.read(size)
            try:
                decoder.decode(b"", final=True)
            except UnicodeDecodeError as problem:
                hint = f"copy it again; or {convert(self.path, 'WINDOWS-1252')} if it is in a western encoding."
                raise DataError(f"{self} ends in the middle of a UTF-8 character", hint) from problem

    def text(self) -> str:
        """The whole text; an error if there is none."""
        text = "".join(self.blocks())
        if not text:
            raise self.is_empty()
        return text

    def lines(self) -> list[str]:
        return split_lines(self.text())

    def numbered_lines(self) -> Iterator[tuple[int, str]]:
        """The lines one by one, counted from 1, without holding the whole file."""
        held, number = list[str](), 1
        for block in self.blocks():
            first, *rest = block.split("\n")
            held.append(first)
            if rest:
                for line in ("".join(held), *rest[:-1]):
                    yield number, line.removesuffix("\r")
                    number += 1
                held = [rest[-1]]
        if last := "".join(held):
            yield number, last

    def is_empty(self) -> DataError:
        return DataError(f"{self} is empty", "expected text in UTF-8, one sentence, pair or row of a table per line.")


def split_lines(text: str) -> list[str]:
    """The lines without their ends; a last line counts whether or not it is ended.

    Lines end at `\\n` or `\\r\\n`, and at a lone `\\r` only in a text without a single `\\n` (old Macintosh). Never use
    `str.splitlines` here: it also cuts at U+2028, U+0085, form feeds ..., which stand inside sentences of crawled text,
    and every such cut shifts one side of a parallel corpus against the other.
    """
    if "\n" not in text:
        text = text.replace("\r", "\n")
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    return [line.removesuffix("\r") for line in lines]


def refuse_binary(head: bytes, path: str) -> None:
    """Raise if the first bytes belong to a kind of file that is no text."""
    for magic, kind in BINARY.items():
        if head.startswith(magic):
            hint = ADVICE.get(kind, "save or export it as plain text in UTF-8.")
            raise DataError(f"{display_name(path)} is {kind}, not text", hint)


def refuse_encoding(head: bytes, path: str) -> None:
    for mark, encoding in MARKS.items():
        if head.startswith(mark):
            raise DataError(f"{display_name(path)} is {encoding}, expected UTF-8", convert(path, encoding))


def zero_byte(block: bytes, line: int, path: str) -> DataError:
    if block.count(b"\0") * 3 > len(block):  # every second byte of western text in UTF-16 is zero
        encoding = "UTF-16LE" if block[1:2] == b"\0" else "UTF-16BE"
        message = f"{display_name(path)} looks like UTF-16 without a byte order mark, expected UTF-8"
        return DataError(message, convert(path, encoding))
    line += block.count(b"\n", 0, block.index(b"\0"))
    message = f"{display_name(path)} is a binary file (a NUL byte in line {line}), not text"
    return DataError(message, "expected plain text in UTF-8.")


@dataclass(frozen=True)
class Place:
    """Where a block begins: its line, the bytes of that line before it; `foreign`: the text so far was not all ASCII."""

    line: int
    column: int
    foreign: bool


def after_last_line_end(block: bytes, column: int) -> int:
    end = block.rfind(b"\n")
    return len(block) - end - 1 if end >= 0 else column + len(block)


def not_utf8(data: bytes, position: int, after: bytes, place: Place, path: str) -> DataError:
    """Where the text stops being UTF-8, and whether the file is in another encoding or only some bytes are broken."""
    begin = data.rfind(b"\n", 0, position) + 1
    line, byte = place.line + data.count(b"\n", 0, position), position - begin + 1 + (place.column if begin == 0 else 0)
    guess = data[max(begin, position - 20) : position + 20].split(b"\n")[0].decode("cp1252", "replace")
    message = f"{display_name(path)} is not UTF-8: byte 0x{data[position]:02x} in line {line}, byte {byte} of the line"
    readable = (data + after).decode("utf-8", "ignore")
    if place.foreign or any(c > "\x7f" and c != "\ufffd" for c in readable):
        # Good UTF-8 elsewhere: converting the whole file from Latin-1 would spoil what is good.
        return DataError(f"{message}; the rest is, so a few bytes are broken", convert(path, "UTF-8", "-c "))
    return DataError(
        f'{message}; read as Latin-1 (windows-1252) it says "{excerpt(guess)}"', convert(path, "WINDOWS-1252")
    )


def convert(path: str, encoding: str, options: str = "") -> str:
    """The command that makes UTF-8 of the file."""
    command = f"iconv {options}-f {encoding} -t UTF-8"
    if path == "-":
        return f"put `{command}` before the pipe."
    bare = Path(path.removesuffix(".gz"))
    out = shlex.quote(str(bare.with_name(f"{bare.stem}.utf8{bare.suffix}")))
    if path.endswith(".gz"):
        return f"`zcat {shlex.quote(path)} | {command} > {out}`"
    return f"`{command} {shlex.quote(path)} > {out}`"
