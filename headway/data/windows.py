"""Windows of tokens for language models, cut from one long array that is mapped into memory (`token_files.py`).

The windows of an epoch lie side by side from a random shift on, in random order: a pure function of (seed, epoch), and
every token is learned from once.
"""

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Int
from torch import Tensor

from headway.core.errors import DataError
from headway.core.seeds import derive


@dataclass(frozen=True)
class WindowBatch:
    """Windows of one more token than is read: all but the last go in, all but the first should come out."""

    ids: Int[Tensor, "b t+1"]
    stream: np.ndarray  # all tokens of the text
    starts: np.ndarray  # where in it each window begins

    @property
    def tokens(self) -> int:
        return self.ids.shape[0] * (self.ids.shape[1] - 1)

    def __len__(self) -> int:
        return len(self.ids)

    def take(self, rows: Int[Tensor, "k"]) -> "WindowBatch":
        """Some of the windows."""
        return WindowBatch(self.ids[rows], self.stream, self.starts[rows.numpy()])

    def before(self, count: int) -> Int[Tensor, "b m"]:
        """The `count` tokens before each window, for a model that remembers; what lies before the text is its first token again."""
        places = np.maximum(self.starts[:, None] + np.arange(-count, 0), 0)
        return torch.from_numpy(self.stream[places].astype(np.int64)).to(self.ids.device)


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
        return WindowBatch(torch.from_numpy(rows.astype(np.int64)), self.tokens, starts)

    def largest(self) -> WindowBatch:
        """All batches are alike."""
        return self[0]
