"""Batches of examples that are numbers already: rows of a table, windows of a series."""

from collections.abc import Sequence

import numpy as np
import torch
from jaxtyping import Float, Shaped

from headway.data.equal_parts import EqualParts
from headway.data.labelled_batches import LabelledBatch, Rows


class NumberBatches(EqualParts[LabelledBatch]):
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
        super().__init__(len(wanted), rows=rows, seed=seed)
        self.inputs = [torch.from_numpy(np.ascontiguousarray(part, dtype=np.float32)) for part in inputs]
        kind = np.float32 if wanted.dtype.kind == "f" else np.int64
        self.wanted = torch.from_numpy(wanted.astype(kind))

    def at(self, rows: Rows) -> LabelledBatch:
        return LabelledBatch(tuple(part[rows] for part in self.inputs), self.wanted[rows])
