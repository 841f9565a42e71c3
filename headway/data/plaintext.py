"""Plain text from a file or from standard input: UTF-8, one sentence per line.

Lines end at `\\n` or `\\r\\n`, and at a lone `\\r` only in a file without a single `\\n` (old Macintosh). Never use
`str.splitlines` here: it also cuts at U+2028, U+0085, form feeds ..., which stand inside sentences of crawled text, and every
such cut shifts one side of a parallel corpus against the other. A byte order mark is tolerated, `.gz` is unpacked.
"""

import gzip
import shlex
import sys
import zlib
from pathlib import Path

from headway.core.errors import DataError
from headway.core.files import read_bytes

BINARY = {
    b"\x1f\x8b": "gzip data", b"%PDF-": "a PDF document", b"\x89PNG": "a PNG picture", b"\xff\xd8\xff": "a JPEG picture",
    b"PK\x03\x04": "a zip archive (or an office document)", b"\xfd7zXZ": "xz data", b"\x28\xb5\x2f\xfd": "zstd data",
}  # fmt: skip
MARKS = {b"\xff\xfe\x00\x00": "UTF-32", b"\x00\x00\xfe\xff": "UTF-32", b"\xff\xfe": "UTF-16", b"\xfe\xff": "UTF-16"}
UTF8_MARK = b"\xef\xbb\xbf"
ADVICE = {
    "gzip data": "rename it so that it ends in `.gz`, or unpack it with `gunzip`.",
    "xz data": "unpack it with `unxz`.",
    "zstd data": "unpack it with `unzstd`.",
}


def spoken(path: str) -> str:
    """How a message calls this input."""
    return "standard input" if path == "-" else f"`{path}`"


def shown(text: str, width: int = 80) -> str:
    """A text short and harmless enough for a message: what cannot be seen (or would steer a terminal) is written as a code."""
    short = text if len(text) <= width else text[: width - 3] + "..."
    return "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in short)


def read_text(path: str) -> str:
    """The whole text, or an error that says what the file is instead and which command mends it."""
    data = sys.stdin.buffer.read() if path == "-" else read_bytes(Path(path))
    if path.endswith(".gz") and data:
        data = unpacked(data, path)
    if not data.removeprefix(UTF8_MARK):
        raise DataError(f"{spoken(path)} is empty", "expected text in UTF-8, one sentence or pair per line.")
    refuse_binary(data, path)
    return decoded(data, path)


def lines_of(text: str) -> list[str]:
    """The lines without their ends; a last line counts whether or not it is ended."""
    if "\n" not in text:
        text = text.replace("\r", "\n")
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    return [line.removesuffix("\r") for line in lines]


def refuse_binary(data: bytes, path: str) -> None:
    """Raise if the first bytes belong to a kind of file that is no text."""
    for magic, kind in BINARY.items():
        if data.startswith(magic):
            raise DataError(f"{spoken(path)} is {kind}, not text", ADVICE.get(kind, "save or export it as plain text in UTF-8."))


def unpacked(data: bytes, path: str) -> bytes:
    try:
        return gzip.decompress(data)
    except (OSError, EOFError, zlib.error) as problem:
        raise DataError(
            f"cannot unpack `{path}`: {str(problem).lower()}", f"`gzip -t {shlex.quote(path)}` tests the file; copy it again."
        ) from problem


def decoded(data: bytes, path: str) -> str:
    for mark, encoding in MARKS.items():
        if data.startswith(mark):
            raise DataError(f"{spoken(path)} is {encoding}, expected UTF-8", convert(path, encoding))
    if b"\0" in data:
        line = data.count(b"\n", 0, data.index(b"\0")) + 1
        if data.count(b"\0") * 3 > len(data):  # every second byte of western text in UTF-16 is zero
            encoding = "UTF-16LE" if data[1:2] == b"\0" else "UTF-16BE"
            raise DataError(f"{spoken(path)} looks like UTF-16 without a byte order mark, expected UTF-8", convert(path, encoding))
        raise DataError(f"{spoken(path)} is a binary file (a NUL byte in line {line}), not text", "expected plain text in UTF-8.")
    start = len(UTF8_MARK) if data.startswith(UTF8_MARK) else 0
    try:
        return data[start:].decode("utf-8")
    except UnicodeDecodeError as problem:
        raise not_utf8(data, start + problem.start, path) from problem


def not_utf8(data: bytes, position: int, path: str) -> DataError:
    """Where the text stops being UTF-8, and whether the whole file is in another encoding or only some bytes are broken."""
    begin = data.rfind(b"\n", 0, position) + 1
    line, byte = data.count(b"\n", 0, position) + 1, position - begin + 1
    guess = data[max(begin, position - 20) : position + 20].split(b"\n")[0].decode("cp1252", "replace")
    message = f"{spoken(path)} is not UTF-8: byte 0x{data[position]:02x} in line {line}, byte {byte} of the line"
    if any(c > "\x7f" and c != "\ufffd" for c in data.decode("utf-8", "ignore")):
        # Good UTF-8 elsewhere: converting the whole file from Latin-1 would spoil what is good.
        return DataError(f"{message}; the rest is, so a few bytes are broken", convert(path, "UTF-8", drop_broken=True))
    return DataError(f'{message}; read as Latin-1 (windows-1252) it says "{shown(guess)}"', convert(path, "WINDOWS-1252"))


def convert(path: str, encoding: str, drop_broken: bool = False) -> str:
    """The command that makes UTF-8 of the file."""
    command = f"iconv {'-c ' if drop_broken else ''}-f {encoding} -t UTF-8"
    if path == "-":
        return f"put `{command}` before the pipe."
    bare = Path(path.removesuffix(".gz"))
    out = shlex.quote(str(bare.with_name(f"{bare.stem}.utf8{bare.suffix}")))
    if path.endswith(".gz"):
        return f"`zcat {shlex.quote(path)} | {command} > {out}`"
    return f"`{command} {shlex.quote(path)} > {out}`"
