"""What a person's text holds: a part to learn from, parts that are held out."""

from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path

import numpy as np

from headway.core.errors import DataError
from headway.data.findings import Report
from headway.data.text import Text
from headway.data.token_files import Part, tokenize_part
from headway.data.tokens import Tokenizer
from headway.tasks.task import Base
from headway.tasks.vocabulary import choose_size, learn_tokenizer

SHARE = 0.1  # of the text is held out
MOST = 4_000_000  # characters that are held out: with more, judging takes longer and tells no more
ENOUGH = 20_000  # characters from which on half of that is a test part
LEARNED = 50_000_000  # characters that a tokenizer is learned from
WHICH = "which text? `--text`: a file, a folder or .jsonl"


@dataclass(frozen=True)
class TextCorpus:
    """The text to learn from and the texts to be judged by."""

    train: Part
    held_out: dict[str, Part]

    @property
    def fingerprint(self) -> dict[str, str]:
        parts = {"train": self.train, **self.held_out}
        return {n: f"characters {p.start:,} to {p.stop:,}, sha256 {p.text.size.sha256[:16]}" for n, p in parts.items()}

    @property
    def characters(self) -> int:
        return self.train.stop - self.train.start

    @cached_property
    def reports(self) -> tuple[Report, ...]:
        return (self.train.text.report,)

    def vocabulary(self, kind: str | None, size: int | None) -> tuple[str, int]:
        """The kind and the size of the vocabulary: what was asked for, or what suits a text of this length."""
        kind = kind or "bpe"
        return kind, size or choose_size(kind, self.characters, 16000)

    def learn(self, kind: str, size: int, base: Base | None) -> Tokenizer:
        """The vocabulary of the run that training begins with, or one learned from pieces of the training text.

        They lie evenly over all of it, so that a vocabulary is not that of the first files of a folder.
        """
        every = -(-self.characters // LEARNED)
        pieces = (piece for document in self.train.documents() for piece in document)
        return learn_tokenizer(kind, islice(pieces, 0, None, every), size, base)

    def tokenize(self, tokenizer: Tokenizer, folder: Path) -> np.ndarray:
        """The tokens to learn from, and those held out, in files of a run, which are mapped into memory."""
        for name, part in self.held_out.items():
            tokenize_part(part, tokenizer, folder / "held_out" / f"{name}.tokens")
        return tokenize_part(self.train, tokenizer, folder / "cache" / "train.tokens").ids

    def describe(self) -> str:
        text = self.train.text
        lines = [*(report.text() for report in self.reports)]
        lines += [f"  left out: `{name}` is {why}" for name, why in list(text.skipped.items())[:10]]
        parts = ", ".join(f"{p.stop - p.start:,} for {name}" for name, p in self.held_out.items())
        return "\n".join([*lines, f"learning from {self.characters:,} characters; held out: {parts}"])


def collect_text(path: str, validation: str | None, test: str | None) -> TextCorpus:
    """The last tenth is held out (`MOST` characters at most), unless a person brings other text: half to choose by, half to judge by."""
    text = Text(path)
    given = {name: Text(other) for name, other in (("validation", validation), ("test", test)) if other is not None}
    held_out = {name: Part(other, 0, other.size.characters) for name, other in given.items()}
    size = text.size.characters
    if "validation" in held_out:
        return TextCorpus(Part(text, 0, size), held_out)
    if size < 20:
        raise DataError(f"`{path}` holds {size} characters: too little to set some apart", "bring more text.")
    cut = max(int((1 - SHARE) * size), size - MOST)
    if "test" in held_out or size < ENOUGH:
        return TextCorpus(Part(text, 0, cut), {"validation": Part(text, cut, size)} | held_out)
    middle = (cut + size) // 2
    return TextCorpus(Part(text, 0, cut), {"validation": Part(text, cut, middle), "test": Part(text, middle, size)})
