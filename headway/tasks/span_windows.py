"""A question and its passage as rows that a model can read, and answers as places in them.

    ⟨cls⟩ question ⟨sep⟩ a window of the passage ⟨sep⟩            place 0, ⟨cls⟩, says that there is no answer here

A passage that is too long for one row is read through windows that begin `stride` tokens after each other; where the
answer is not wholly inside, the window has none. Devlin et al. 2019, https://arxiv.org/abs/1810.04805, section 4.2.

    p(i, j) = p(start = i) p(end = j),   i <= j < i + longest        the answer: the best (i, j) of all windows
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from headway.data.tokens import Tokenizer

NONE = (0, 0)  # where an answer that is not there begins and ends


@dataclass(frozen=True)
class Window:
    ids: list[int]
    passage: int  # where the passage begins in `ids`
    characters: tuple[tuple[int, int], ...]  # for each token of the passage its first character, and one after its last

    def place(self, start: int, stop: int) -> tuple[int, int]:
        """The first and the last token of the characters from `start` to before `stop`; `NONE` if not all are inside."""
        if start < 0 or not self.characters or self.characters[0][0] > start or self.characters[-1][1] < stop:
            return NONE
        first = next(i for i, (_, end) in enumerate(self.characters) if end > start)
        last = max(i for i, (begin, _) in enumerate(self.characters) if begin < stop)
        return self.passage + first, self.passage + last

    def span(self, first: int, last: int) -> tuple[int, int]:
        """The characters of these tokens: from, and to before."""
        return self.characters[first - self.passage][0], self.characters[last - self.passage][1]


def make_windows(tokenizer: Tokenizer, question: str, context: str, longest: int, stride: int) -> list[Window]:
    """Rows of at most `longest` tokens; of a long question the first half of that many are read.

    Windows overlap by at least a half, whatever `stride` says: else an answer could be cut in two.
    """
    asked = tokenizer.encode([question.strip()])[0][: max(1, longest // 2)]
    ids, characters = tokenizer.offsets(context)
    room = max(1, longest - len(asked) - 3)
    head, found = [tokenizer.cls, *asked, tokenizer.separator], []
    for start in range(0, max(1, len(ids)), min(stride, max(1, room // 2))):
        part = slice(start, start + room)
        found.append(Window([*head, *ids[part], tokenizer.separator], len(head), tuple(characters[part])))
        if start + room >= len(ids):
            break
    return found


@dataclass(frozen=True)
class Answer:
    """The best answer of some windows: its characters, and its probability; (0, 0) if there is none."""

    start: int
    stop: int
    probability: float


def best_answer(windows: Sequence[Window], logs: Sequence[Float[np.ndarray, "t 2"]], longest: int) -> Answer:
    """The most probable answer of all windows, or none if every window finds that more probable.

    logs   for each window the log-probabilities of each token to be the first and the last of the answer
    """
    best, place, none = -np.inf, NONE, np.inf
    for window, log in zip(windows, logs, strict=True):
        none = min(none, float(log[0].sum()))
        n, begin = len(window.characters), window.passage
        if not n:
            continue
        scores = log[begin : begin + n, 0, None] + log[None, begin : begin + n, 1]
        distance = np.arange(n) - np.arange(n)[:, None]
        scores = np.where((distance >= 0) & (distance < longest), scores, -np.inf)
        i, j = divmod(int(scores.argmax()), n)
        if scores[i, j] > best:
            best, place = float(scores[i, j]), window.span(begin + i, begin + j)
    return Answer(*NONE, float(np.exp(none))) if none >= best else Answer(*place, float(np.exp(best)))
