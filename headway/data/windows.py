"""Windows of tokens for language models, cut from one long array that is mapped into memory (`token_files.py`, `shards.py`).

The windows of an epoch lie side by side from a random shift on, in random order: a pure function of (seed, epoch), and
every token is learned from once. The order is computed where it is needed (`permutation.py`) and the tokens are read
where they are needed, so memory does not grow with the text, and several processes that each take some rows of a batch
agree on the order without a word.
"""

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Int
from torch import Tensor

from headway.core.errors import DataError
from headway.core.seeds import derive
from headway.data.permutation import Permutation
from headway.data.shards import ShardedTokens

Stream = np.ndarray | ShardedTokens  # all tokens of a text


@dataclass(frozen=True)
class WindowBatch:
    """Windows of one more token than is read: all but the last go in, all but the first should come out."""

    ids: Int[Tensor, "b t+1"]
    stream: Stream
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

    def __init__(self, tokens: Stream, context: int, rows: int, seed: int) -> None:
        if len(tokens) < 2:
            raise DataError(f"the text has {len(tokens)} tokens: too little to learn from", "bring more text.")
        self.tokens, self.seed = tokens, seed
        self.context = min(context, len(tokens) - 1)
        self.count = (len(tokens) - 1) // self.context  # windows
        self.rows = min(rows, self.count)

    def __len__(self) -> int:
        return self.count // self.rows

    def __getitem__(self, number: int) -> WindowBatch:
        """Batch `number`, counted through all epochs."""
        return self.at(self.starts(number))

    def starts(self, number: int) -> np.ndarray:
        """Where the windows of a batch begin; no token is read."""
        epoch, index = divmod(number, len(self))
        random = np.random.default_rng(derive(self.seed, "order", epoch))
        shift = int(random.integers(len(self.tokens) - self.count * self.context))
        order = Permutation(self.count, derive(self.seed, "windows", epoch))
        return order(np.arange(index * self.rows, (index + 1) * self.rows)) * self.context + shift

    def at(self, starts: np.ndarray) -> WindowBatch:
        rows = np.stack([self.tokens[s : s + self.context + 1] for s in starts])
        return WindowBatch(torch.from_numpy(rows.astype(np.int64)), self.tokens, starts)

    def largest(self) -> WindowBatch:
        """All batches are alike."""
        return self[0]
