"""The sentences of a text as a token file (`token_files.py`): one end mark after a sentence, two between documents.

A line is a sentence, or several if it has several (`sentences.py`); a blank line ends a document, and so does a file.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from jaxtyping import Int

from headway.data.documents import PIECE, Pieces
from headway.data.sentences import split_sentences
from headway.data.token_files import Part


class SentencePart(Part):
    """A stretch of a text, sentence by sentence."""

    def documents(self) -> Iterator[Pieces]:
        """Each sentence as a document of its own, and an empty one where a document ends."""
        begun = False
        for document in super().documents():
            for line in lines(document):
                for sentence in split_sentences(line):
                    yield iter([sentence])
                    begun = True
                if begun and not line.strip():
                    yield iter([""])
                    begun = False
            if begun:
                yield iter([""])
                begun = False


def lines(pieces: Pieces) -> Iterator[str]:
    """The lines of a document that comes in pieces; one that is longer than a piece is cut."""
    held = ""
    for piece in pieces:
        *whole, held = (held + piece).split("\n")
        yield from whole
        if len(held) >= PIECE:
            yield held
            held = ""
    if held:
        yield held


@dataclass(frozen=True)
class Sentences:
    """Sentences within one long array of tokens: sentence i is `ids[starts[i] : stops[i]]`, of document `documents[i]`."""

    ids: np.ndarray
    starts: Int[np.ndarray, "n"]
    stops: Int[np.ndarray, "n"]
    documents: Int[np.ndarray, "n"]

    @classmethod
    def of(cls, ids: np.ndarray, end: int) -> "Sentences":
        """The sentences of a token file with the end mark `end`."""
        marks = np.flatnonzero(ids == end)
        starts, stops = np.concatenate([[0], marks + 1]), np.concatenate([marks, [len(ids)]])
        real = stops > starts
        return cls(ids, starts[real], stops[real], np.cumsum(~real)[real])

    def __len__(self) -> int:
        return len(self.starts)

    def between(self, first: int, stop: int) -> list[int]:
        """The tokens of the sentences from `first` to before `stop`, without the marks between them."""
        return [i for k in range(first, stop) for i in self.ids[self.starts[k] : self.stops[k]].tolist()]

    def passages(self, room: int) -> list[tuple[int, int]]:
        """Neighbouring sentences of one document, at least two and as many as have `room` tokens: (first, stop) of each.

        A last sentence that would be alone joins the passage before it; a document of one sentence has none.
        """
        lengths = self.stops - self.starts
        found: list[tuple[int, int]] = []
        first = total = 0
        for k in range(len(self)):
            new = k > first and self.documents[k] != self.documents[k - 1]
            if new or (k - first >= 2 and total + lengths[k] > room):
                self._close(found, first, k)
                first, total = k, 0
            total += int(lengths[k])
        self._close(found, first, len(self))
        return found

    def _close(self, found: list[tuple[int, int]], first: int, stop: int) -> None:
        if stop - first >= 2:
            found.append((first, stop))
        elif found and stop > first and self.documents[found[-1][0]] == self.documents[first]:
            found[-1] = (found[-1][0], stop)
