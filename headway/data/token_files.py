"""Text tokenized once into a file of the run, with a note beside it that says what it was made from.

The note (`train.tokens.json`) holds the fingerprints of the text and of the tokenizer, the part of the text, and its
size in bytes. As long as these fit, the file is used as it is: `--resume` tokenizes nothing, and nobody reads the text
again to count its bytes.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from headway.core.errors import RunError
from headway.core.files import disk_errors, read_json, write_json, write_whole
from headway.data.text import Text
from headway.data.token_blocks import Block, cut_blocks, encode_blocks, token_type
from headway.data.tokens import Tokenizer


@dataclass(frozen=True)
class Part:
    """A stretch of a text: the characters from `start` to `stop`, counted over all its documents."""

    text: Text
    start: int
    stop: int

    def documents(self) -> Iterator[Iterator[str]]:
        """The documents that have characters in the stretch, cut to it."""
        at = 0

        def inside(pieces: Iterator[str]) -> Iterator[str]:
            nonlocal at
            for piece in pieces:
                begin, at = at, at + len(piece)
                if cut := piece[max(0, self.start - begin) : max(0, self.stop - begin)]:
                    yield cut
                if at >= self.stop:
                    return

        for document in self.text.documents():
            if at >= self.stop:
                return
            yield inside(document)


def split(text: Text, fraction: float = 0.9) -> tuple[Part, Part]:
    """The beginning to learn from and the end to be judged by."""
    cut = int(fraction * text.size.characters)
    return Part(text, 0, cut), Part(text, cut, text.size.characters)


@dataclass(frozen=True)
class TokenFile:
    """Tokens mapped into memory, and the number of bytes of the text they stand for."""

    ids: np.ndarray
    bytes: int


def tokenize_part(part: Part, tokenizer: Tokenizer, path: Path) -> TokenFile:
    """The tokens of a part: found at `path` if they were made from the same things, otherwise written there."""
    source = {
        "text": part.text.size.sha256,
        "tokenizer": tokenizer.fingerprint,
        "start": part.start,
        "stop": part.stop,
    }

    def write(file: BinaryIO) -> int:
        count = 0

        def counted() -> Iterator[Block]:
            nonlocal count
            for block in cut_blocks(part.documents(), tokenizer):
                count += block.bytes
                yield block

        for ids in encode_blocks(counted(), tokenizer):
            file.write(ids.data)
        return count

    return keep_tokens(path, source, token_type(tokenizer).__name__, write)


def keep_tokens(path: Path, source: dict[str, Any], kind: str, write: Callable[[BinaryIO], int]) -> TokenFile:
    """The token file at `path` if it was made from `source`; otherwise `write` fills it, and says how many bytes of text it holds."""
    if not is_made_from(path, source):
        note_of(path).unlink(missing_ok=True)  # while the tokens are being replaced, the old note is not true
        count = 0

        def fill(partial: Path) -> None:
            nonlocal count
            with open(partial, "wb") as file:
                count = write(file)

        with disk_errors(path):
            path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, fill)
        write_json(note_of(path), source | {"bytes": count, "dtype": kind, "size": path.stat().st_size})
    return open_tokens(path)


def open_tokens(path: Path) -> TokenFile:
    """A token file that `tokenize_part` made; neither text nor tokenizer are needed."""
    note = read_json(note_of(path))
    try:
        kind, count, size = np.dtype(note["dtype"]), int(note["bytes"]), int(note["size"])
        if path.stat().st_size != size:
            raise ValueError("its size is not the one that was noted")
    except (KeyError, TypeError, ValueError, OSError) as problem:
        raise RunError(
            f"`{path}` is damaged: {problem}", "delete it; `headway train --resume` makes it again."
        ) from problem
    return TokenFile(np.memmap(path, dtype=kind, mode="r") if size else np.zeros(0, kind), count)


def note_of(path: Path) -> Path:
    return path.with_name(path.name + ".json")


def is_made_from(path: Path, source: dict[str, Any]) -> bool:
    """Whether the tokens at `path` are whole and were made from this text by this tokenizer."""
    try:
        note = read_json(note_of(path))
        return path.stat().st_size == note["size"] and all(note[name] == value for name, value in source.items())
    except (RunError, OSError, KeyError, TypeError):
        return False
