"""Batches of examples that are numbers already: rows of a table, windows of a series.

Batch n is a pure function of (seed, n), and every example comes once per epoch: the examples are permuted and cut into parts
whose sizes differ by at most one.
"""

from collections.abc import Iterator, Sequence

import numpy as np
import torch
from jaxtyping import Float, Shaped

from headway.core.seeds import derive
from headway.data.labelled_batches import LabelledBatch, Rows


class NumberBatches:
    """Examples of some arrays each, and what should come out: "n" classes or "n c" numbers.

    inputs   what a model reads, one array for each of its arguments
    wanted   what should come out
    rows     examples of a batch
    """

    def __init__(
        self,
        inputs: Sequence[Float[np.ndarray, "n ..."]],
        wanted: Shaped[np.ndarray, "n ..."],
        *,
        rows: int,
        seed: int = 0,
    ) -> None:
        self.inputs = [torch.from_numpy(np.ascontiguousarray(part, dtype=np.float32)) for part in inputs]
        kind = np.float32 if wanted.dtype.kind == "f" else np.int64
        self.wanted, self.seed = torch.from_numpy(wanted.astype(kind)), seed
        self.count = -(-len(wanted) // rows)
        self._epoch, self._parts = -1, [np.empty(0, dtype=np.int64)]

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, number: int) -> LabelledBatch:
        """Batch `number`, counted through all epochs."""
        epoch, index = divmod(number, len(self))
        if epoch != self._epoch:
            order = np.random.default_rng(derive(self.seed, "order", epoch)).permutation(len(self.wanted))
            self._epoch, self._parts = epoch, np.array_split(order, self.count)
        return self.at(self._parts[index])

    def at(self, rows: Rows) -> LabelledBatch:
        return LabelledBatch(tuple(part[rows] for part in self.inputs), self.wanted[rows])

    def largest(self) -> LabelledBatch:
        """The first parts have one example more, if any have."""
        return self[0]

    def in_order(self) -> Iterator[tuple[Rows, LabelledBatch]]:
        """Every example once, with which ones they are (for validation)."""
        for rows in np.array_split(np.arange(len(self.wanted)), self.count):
            yield rows, self.at(rows)
