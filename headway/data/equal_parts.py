"""Batches of examples that need no sorting: permuted in each epoch, and cut into parts whose sizes differ by at most one.

Batch n is a pure function of (seed, n), and every example comes once per epoch.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Generic, TypeVar

import numpy as np

from headway.core.seeds import derive
from headway.data.length_buckets import Rows

B = TypeVar("B")  # a batch


class EqualParts(ABC, Generic[B]):
    """Batches of at most `rows` examples; `at` makes one.

    examples   how many there are
    """

    def __init__(self, examples: int, *, rows: int, seed: int) -> None:
        self.examples, self.seed = examples, seed
        self.count = max(1, -(-examples // rows))
        self._epoch, self._parts = -1, [np.empty(0, dtype=np.int64)]

    @abstractmethod
    def at(self, rows: Rows) -> B:
        """The batch of these examples."""

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, number: int) -> B:
        """Batch `number`, counted through all epochs."""
        epoch, index = divmod(number, len(self))
        if epoch != self._epoch:
            order = np.random.default_rng(derive(self.seed, "order", epoch)).permutation(self.examples)
            self._epoch, self._parts = epoch, np.array_split(order, self.count)
        return self.at(self._parts[index])

    @property
    def most(self) -> int:
        """The examples of the largest part."""
        return -(-self.examples // self.count)

    def largest(self) -> B:
        """The first parts have one example more, if any have."""
        return self[0]

    def in_order(self) -> Iterator[tuple[Rows, B]]:
        """Every example once, with which ones they are (for validation)."""
        for rows in np.array_split(np.arange(self.examples), self.count):
            yield rows, self.at(rows)
