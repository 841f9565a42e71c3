"""Token streams for language models: text tokenised once into a file that is mapped, not read, and windows cut from it.

The windows of an epoch lie side by side from a random shift on, in random order: a pure function of (seed, epoch), and every token
is learned from once.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from jaxtyping import Int
from torch import Tensor

from headway.core.errors import DataError
from headway.core.files import disk_errors
from headway.core.seeds import derive
from headway.data.text import Text
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


def halves(text: Text, share: float = 0.9) -> tuple[Part, Part]:
    """The beginning to learn from and the end to be judged by."""
    cut = int(share * text.size.characters)
    return Part(text, 0, cut), Part(text, cut, text.size.characters)


def tokenise(part: Part, tokenizer: Tokenizer, path: Path) -> tuple[np.ndarray, int]:
    """The tokens of a part as a mapped array, and the bytes of its text. Written to `path`, whole or not at all.

    Documents are parted by the end mark. Tokenizers of words put a space before a text, so a piece that begins with one lends it.
    """
    kind = np.uint16 if tokenizer.size <= 1 << 16 else np.uint32
    spaced = tokenizer.kind not in ("characters", "bytes")
    written, partial = 0, path.with_name(path.name + ".part")
    with disk_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(partial, "wb") as file:
            for document in part.documents():
                for order, piece in enumerate(document):
                    mark = [tokenizer.eos] if written and not order else []  # between documents, not before the first
                    written += len(piece.encode())
                    lent = spaced and order > 0 and piece.startswith(" ")
                    ids = tokenizer.encode([piece[1:] if lent else piece])[0]
                    np.asarray(mark + ids, dtype=kind).tofile(file)
        partial.replace(path)
    return (np.memmap(path, dtype=kind, mode="r") if path.stat().st_size else np.zeros(0, kind)), written


@dataclass(frozen=True)
class WindowBatch:
    """Windows of one more token than is read: all but the last go in, all but the first should come out."""

    ids: Int[Tensor, "b t+1"]

    @property
    def tokens(self) -> int:
        return self.ids.shape[0] * (self.ids.shape[1] - 1)


class Windows:
    """Batches of `rows` windows of `context` tokens."""

    def __init__(self, tokens: np.ndarray, context: int, rows: int, seed: int) -> None:
        if len(tokens) < 2:
            raise DataError(f"the text has {len(tokens)} tokens: too little to learn from", "bring more text.")
        self.tokens, self.seed = tokens, seed
        self.context = min(context, len(tokens) - 1)
        self.count = (len(tokens) - 1) // self.context  # windows
        self.rows = min(rows, self.count)
        self._epoch, self._order = -1, np.empty(0, dtype=np.int64)

    def __len__(self) -> int:
        return self.count // self.rows

    def __getitem__(self, number: int) -> WindowBatch:
        """Batch `number`, counted through all epochs."""
        epoch, index = divmod(number, len(self))
        if epoch != self._epoch:
            random = np.random.default_rng(derive(self.seed, "order", epoch))
            shift = int(random.integers(len(self.tokens) - self.count * self.context))
            self._epoch, self._order = epoch, random.permutation(self.count) * self.context + shift
        return self.at(self._order[index * self.rows : (index + 1) * self.rows])

    def at(self, starts: np.ndarray) -> WindowBatch:
        rows = np.stack([self.tokens[s : s + self.context + 1] for s in starts])
        return WindowBatch(torch.from_numpy(rows.astype(np.int64)))
