"""Sets of vectors: their elements one set after the other, how they are scaled, and batches of them.

Batch n is a pure function of (seed, n), and every set comes once per epoch. Within a batch, sets are padded to the largest one.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from jaxtyping import Float, Int, Shaped
from torch import Tensor

from headway.data.equal_parts import EqualParts
from headway.data.labelled_batches import LabelledBatch, Rows


@dataclass(frozen=True, eq=False)
class LabelledSets:
    """Sets with what they should give, as it was written: a number or a class."""

    elements: Float[np.ndarray, "m c"]  # of all sets, one set after the other
    counts: Int[np.ndarray, "n"]  # elements of each set
    targets: tuple[str, ...]
    names: tuple[str, ...]  # of the sets
    columns: tuple[str, ...]  # what the numbers of an element are
    origin: str

    def __len__(self) -> int:
        return len(self.counts)

    @cached_property
    def starts(self) -> Int[np.ndarray, "n"]:
        return np.cumsum(self.counts) - self.counts

    def elements_of(self, row: int) -> Float[np.ndarray, "k c"]:
        return self.elements[self.starts[row] : self.starts[row] + self.counts[row]]

    def select(self, rows: Sequence[int]) -> "LabelledSets":
        found = [self.elements_of(row) for row in rows]
        elements = np.concatenate(found) if found else self.elements[:0]
        targets, names = tuple(self.targets[i] for i in rows), tuple(self.names[i] for i in rows)
        return LabelledSets(elements, self.counts[list(rows)], targets, names, self.columns, self.origin)

    @cached_property
    def keys(self) -> list[bytes]:
        """The same for two sets of the same elements, in whatever order."""
        return [b"".join(sorted(element.tobytes() for element in self.elements_of(row))) for row in range(len(self))]

    @cached_property
    def fingerprint(self) -> str:
        digest = hashlib.sha256(self.elements.tobytes() + self.counts.tobytes())
        for text in (*self.columns, *self.targets):
            data = text.encode("utf-8", "surrogatepass")
            digest.update(b"%d:" % len(data) + data)
        return digest.hexdigest()


@dataclass(frozen=True)
class ElementScale:
    """What training has seen of the elements: their columns with mean and standard deviation, and the size of the sets."""

    columns: tuple[str, ...]
    mean: tuple[float, ...]
    deviation: tuple[float, ...]
    largest: int  # elements of the largest set
    median: int

    @classmethod
    def of(cls, sets: LabelledSets) -> "ElementScale":
        deviation = sets.elements.std(0)
        deviation[deviation < 1e-12] = 1.0
        sizes = int(sets.counts.max()), int(np.median(sets.counts))
        return cls(sets.columns, tuple(sets.elements.mean(0).tolist()), tuple(deviation.tolist()), *sizes)

    def apply(self, elements: Float[np.ndarray, "m c"]) -> Float[Tensor, "m c"]:
        return torch.from_numpy((elements - np.array(self.mean)) / np.array(self.deviation)).float()


class SetBatches(EqualParts[LabelledBatch]):
    """Sets in batches of `rows`, with what they should give: numbers of classes, or numbers."""

    def __init__(
        self, sets: LabelledSets, wanted: Shaped[np.ndarray, "n ..."], *, rows: int, seed: int, scale: ElementScale
    ) -> None:
        super().__init__(len(sets), rows=rows, seed=seed)
        self.sets, self.wanted = sets, torch.from_numpy(wanted)
        self.elements = scale.apply(sets.elements)

    def at(self, rows: Rows) -> LabelledBatch:
        counts = self.sets.counts[rows]
        keep = np.arange(counts.max()) < counts[:, None]
        places = (self.sets.starts[rows][:, None] + np.arange(counts.max()))[keep]
        padded = torch.zeros(*keep.shape, self.elements.shape[1])
        padded[torch.from_numpy(keep)] = self.elements[torch.from_numpy(places)]
        return LabelledBatch((padded, torch.from_numpy(keep)), self.wanted[torch.from_numpy(np.asarray(rows))])

    def largest(self) -> LabelledBatch:
        """As many sets as a batch has, all of them the largest."""
        return self.at(np.argsort(self.sets.counts, kind="stable")[-self.most :])
