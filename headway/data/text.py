"""Text of any size, read piece by piece: a file, a folder of files, JSONL with a field `text`, `.gz` of these.

A document is a series of pieces of some 64 thousand characters; nothing ever holds a whole file. Each file is UTF-8;
one that is not stops the reading with its line, and what is no text at all inside a folder is left out and reported.
"""

import hashlib
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path

from headway.core.errors import DataError
from headway.data.doctor_text import TextDoctor
from headway.data.findings import Report
from headway.data.input_file import InputFile
from headway.data.messages import display_name
from headway.data.readers import read_documents
from headway.data.shards import is_prepared


@dataclass(frozen=True)
class Text:
    """All text under a path."""

    path: str
    # files of a folder that are not text, and what they are
    skipped: dict[str, str] = field(default_factory=dict, compare=False)

    @cached_property
    def files(self) -> list[Path]:
        root = Path(self.path)
        if not root.exists():
            raise DataError(f"there is no file or folder `{self.path}`", "check the path.")
        if not root.is_dir():
            return [root]
        if is_prepared(root):
            message = f"`{self.path}` holds tokens that `headway data prepare` made, not text"
            raise DataError(message, "only `headway train language --text` reads them; name the text itself.")
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
    def _scan(self) -> "tuple[Size, Report]":
        """One pass over everything: counts, a fingerprint, and what the doctor finds."""
        doctor, digest, count = TextDoctor(), hashlib.sha256(), 0
        for document in self.documents():
            for piece in document:
                data = piece.encode("utf-8", "surrogatepass")
                count += len(data)
                digest.update(data)
                doctor.read(piece)
            digest.update(b"\0")
            doctor.end_document()
        if not doctor.characters:
            raise DataError(f"{display_name(self.path)} holds no text", "expected text in UTF-8.")
        size = Size(len(self.files), doctor.documents, doctor.characters, count, digest.hexdigest())
        return size, doctor.report(self.path, asdict(size), self.skipped)

    @property
    def size(self) -> "Size":
        """How much text there is; reads it once."""
        return self._scan[0]

    @property
    def report(self) -> Report:
        """What the doctor found in the same pass."""
        return self._scan[1]


def examine_text(path: str) -> Report:
    """What is odd about the text under a path."""
    return Text(path).report


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
