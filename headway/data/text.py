"""Text of any size, read piece by piece: a file, a folder of files, JSONL with a field `text`, `.gz` of these.

A document is a series of pieces of some 64 thousand characters; nothing ever holds a whole file. Each file is UTF-8; one that is not
stops the reading with its line, and what is no text at all inside a folder is left out and reported.
"""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from headway.core.errors import DataError
from headway.data.input_file import InputFile
from headway.data.messages import display_name
from headway.data.readers import read_documents


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
        texts = []
        for path in sorted(p for p in root.rglob("*") if p.is_file()):
            if any(part.startswith(".") for part in path.relative_to(root).parts):
                continue
            try:
                with InputFile(str(path)).open():
                    texts.append(path)
            except DataError as problem:
                self.skipped[str(path.relative_to(root))] = problem.message.rpartition(" is ")[2]
        return texts

    def documents(self) -> Iterator[Iterator[str]]:
        """Each document as its pieces, in order."""
        for path in self.files:
            yield from read_documents(InputFile(str(path)))

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
            raise DataError(f"{display_name(self.path)} holds no text", "expected text in UTF-8.")
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
