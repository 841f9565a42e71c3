"""Batches by token budget in length buckets: sentences of like length together, so that little is padding.

The order is a pure function of (seed, epoch). Sentences are sorted by length with random ties, cut wherever the budget
is full, and the cuts are shuffled. The sorted lengths are the same in every epoch, so every epoch has the same number
of batches, and step n is batch n mod that number: resuming is arithmetic.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Bool, Int
from torch import Tensor

from headway.core.seeds import derive


@dataclass(frozen=True)
class PairBatch:
    """Source with its padding mask; target shifted right (`target`) and as it should come out (`wanted`)."""

    source: Int[Tensor, "b s"]
    keep: Bool[Tensor, "b s"]
    target: Int[Tensor, "b t"]
    wanted: Int[Tensor, "b t"]

    def to(self, device: torch.device) -> "PairBatch":
        return PairBatch(*(tensor.to(device) for tensor in (self.source, self.keep, self.target, self.wanted)))


def pad(rows: Sequence[Sequence[int]], value: int) -> Int[Tensor, "b t"]:
    """Rows of unequal length as one matrix, filled on the right."""
    matrix = np.full((len(rows), max(map(len, rows))), value, dtype=np.int64)
    for i, row in enumerate(rows):
        matrix[i, : len(row)] = row
    return torch.from_numpy(matrix)


class PairBatches:
    """Token-id pairs, cut into batches.

    both_ways   share of the training, at its beginning, in which every second batch is one from target to source
    """

    def __init__(
        self,
        sources: list[list[int]],
        targets: list[list[int]],
        *,
        budget: int,
        seed: int,
        special: tuple[int, int, int],
        both_ways: float = 0.0,
    ):
        self.pad, self.bos, self.eos = special
        self.seed, self.both_ways, self.reversed = seed, both_ways, 0
        self.take(sources, targets)
        self.cuts = self._cut(budget)
        self._epoch, self._order = -1, np.empty(0, dtype=np.int64)

    def take(self, sources: list[list[int]], targets: list[list[int]]) -> None:
        """The ids that batches are made of from now on."""
        self.sources, self.targets = sources, targets
        lengths = [(len(s) + 1, len(t) + 1) for s, t in zip(sources, targets, strict=True)]
        self.lengths = np.array(lengths).reshape(-1, 2)

    def _cut(self, budget: int) -> list[tuple[int, int]]:
        """Ranges of the sorted sentences such that the padded source and target stay within the budget."""
        order = np.lexsort((self.lengths[:, 0], self.lengths[:, 1]))
        cuts, start, widest = [], 0, np.zeros(2, dtype=np.int64)
        for i, lengths in enumerate(self.lengths[order]):
            wider = np.maximum(widest, lengths)
            if i > start and wider.max() * (i + 1 - start) > budget:
                cuts.append((start, i))
                start, wider = i, lengths
            widest = wider
        return [*cuts, (start, len(order))]

    def __len__(self) -> int:
        return len(self.cuts)

    def __getitem__(self, number: int) -> PairBatch:
        """Batch `number`, counted through all epochs."""
        epoch, index = divmod(number, len(self))
        if epoch != self._epoch:
            self.begin(epoch)
        start, stop = self._cuts[index]
        found = self.collect(self._order[start:stop])
        return self.reverse(found) if number < self.reversed and number % 2 else found

    def plan(self, total: int) -> None:
        """Training will take so many batches."""
        self.reversed = round(self.both_ways * total)

    def begin(self, epoch: int) -> None:
        """The order of an epoch."""
        random = np.random.default_rng(derive(self.seed, "order", epoch))
        ties = random.random(len(self.sources))
        self._epoch, self._order = epoch, np.lexsort((ties, self.lengths[:, 0], self.lengths[:, 1]))
        self._cuts = [self.cuts[i] for i in random.permutation(len(self.cuts))]

    def collect(self, rows: Sequence[int] | np.ndarray) -> PairBatch:
        source = pad([[*self.sources[i], self.eos] for i in rows], self.pad)
        target = pad([[self.bos, *self.targets[i]] for i in rows], self.pad)
        wanted = pad([[*self.targets[i], self.eos] for i in rows], self.pad)
        return PairBatch(source, source != self.pad, target, wanted)

    def reverse(self, batch: PairBatch) -> PairBatch:
        """The same sentences, from target to source; for one vocabulary of both languages."""
        keep, rest = batch.wanted != self.pad, batch.source[:, :-1]
        begin = torch.full_like(batch.source[:, :1], self.bos)
        # a sentence that is shorter than the longest would have its end as an input: nothing is wanted there
        target = torch.cat([begin, rest.masked_fill(rest == self.eos, self.pad)], 1)
        return PairBatch(batch.wanted, keep, target, batch.source)

    def largest(self) -> PairBatch:
        """The longest pair alone."""
        return self.collect([int(self.lengths.max(1).argmax())])

    def in_order(self) -> list[PairBatch]:
        """Every sentence once, by length (for validation)."""
        order = np.lexsort((self.lengths[:, 0], self.lengths[:, 1]))
        return [self.collect(order[start:stop]) for start, stop in self.cuts]
