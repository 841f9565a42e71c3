"""Batches of examples of different lengths: those of like length together, so that little is padding.

Batch n is a pure function of (seed, n), and every example comes once per epoch. Examples are sorted by length with random
ties, cut wherever the budget is full, and the cuts are shuffled. The sorted lengths are the same in every epoch, so every
epoch has the same number of batches (as in `batches.py`).
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Generic, TypeVar

import numpy as np
import torch
from jaxtyping import Bool, Int
from torch import Tensor

from headway.core.seeds import derive

B = TypeVar("B")  # a batch
Rows = Int[np.ndarray, "b"]  # which examples


class LengthBuckets(ABC, Generic[B]):
    """Batches of at most `budget` tokens, padding included (a longer example is a batch of its own); `at` makes one."""

    def __init__(self, lengths: Sequence[int], *, budget: int, seed: int) -> None:
        self.lengths, self.seed = np.array(lengths, dtype=np.int64), seed
        self.cuts: list[tuple[int, int]] = []
        start = 0
        for i, length in enumerate(np.sort(self.lengths).tolist()):  # ascending: the last of a batch is its longest
            if i > start and length * (i + 1 - start) > budget:
                self.cuts.append((start, i))
                start = i
        self.cuts.append((start, len(self.lengths)))
        self._epoch, self._order = -1, np.empty(0, dtype=np.int64)

    @abstractmethod
    def at(self, rows: Rows) -> B:
        """The batch of these examples."""

    def keep(self, rows: Rows) -> Bool[Tensor, "b t"]:
        """True at the tokens of these examples, False at padding, as wide as the longest of them."""
        lengths = torch.from_numpy(self.lengths[rows])
        return torch.arange(int(lengths.max())) < lengths[:, None]

    def __len__(self) -> int:
        return len(self.cuts)

    def __getitem__(self, number: int) -> B:
        """Batch `number`, counted through all epochs."""
        epoch, index = divmod(number, len(self))
        if epoch != self._epoch:
            random = np.random.default_rng(derive(self.seed, "order", epoch))
            self._epoch, self._order = epoch, np.lexsort((random.random(len(self.lengths)), self.lengths))
            self._cuts = [self.cuts[i] for i in random.permutation(len(self.cuts))]
        start, stop = self._cuts[index]
        return self.at(self._order[start:stop])

    def largest(self) -> B:
        """The batch with the longest example."""
        start, stop = self.cuts[-1]
        return self.at(np.argsort(self.lengths, kind="stable")[start:stop])

    def in_order(self) -> Iterator[tuple[Rows, B]]:
        """Every example once, by length, with which ones they are (for validation)."""
        order = np.argsort(self.lengths, kind="stable")
        for start, stop in self.cuts:
            yield order[start:stop], self.at(order[start:stop])
