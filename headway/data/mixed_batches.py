"""Batches of pairs of several tasks, mixed in proportion to their sizes with a limit.

    rate of task m = min(e_m, K) / sum_n min(e_n, K)        e_m examples of task m, K the limit

so that a task with very many examples does not drown the others. Raffel et al. 2020, https://arxiv.org/abs/1910.10683,
section 3.5.2 ("examples-proportional mixing"). An epoch holds min(e_m, K) examples of each task: of a larger task every
epoch takes the next K of a shuffled list, which begins anew at its end, so all of it is seen in time. Batch n is a pure
function of (seed, n).
"""

from collections.abc import Sequence

import numpy as np

from headway.core.seeds import derive
from headway.data.batches import PairBatch, PairBatches


class MixedBatches:
    """Token-id pairs of several tasks, cut into batches; every epoch has as many as the first.

    tasks   for each pair the number of its task
    limit   K, the most examples of one task in an epoch
    """

    def __init__(
        self,
        sources: list[list[int]],
        targets: list[list[int]],
        tasks: Sequence[int],
        *,
        limit: int,
        budget: int,
        seed: int,
        special: tuple[int, int, int],
    ) -> None:
        self.pairs = PairBatches(sources, targets, budget=budget, seed=seed, special=special)
        numbers = np.array(tasks)
        self.members = [np.flatnonzero(numbers == task) for task in np.unique(numbers)]
        self.limit, self.seed = limit, seed
        self.count = max(1, round(len(self.pairs) * len(self.chosen(0)) / len(sources)))
        self._epoch, self._parts = -1, [np.empty(0, dtype=np.int64)]

    def __len__(self) -> int:
        return self.count

    def chosen(self, epoch: int) -> np.ndarray:
        """The pairs of an epoch."""
        found = []
        for task, rows in enumerate(self.members):
            size = min(self.limit, len(rows))
            places = np.arange(epoch * size, (epoch + 1) * size)  # in an endless list of shuffled copies
            copies = {c: np.random.default_rng(derive(self.seed, "task", task, c)).permutation(rows)
                      for c in np.unique(places // len(rows)).tolist()}  # fmt: skip
            found.append(np.array([copies[p // len(rows)][p % len(rows)] for p in places.tolist()]))
        return np.concatenate(found)

    def __getitem__(self, number: int) -> PairBatch:
        """Batch `number`, counted through all epochs: pairs of like length, about as many tokens as in the others."""
        epoch, index = divmod(number, self.count)
        if epoch != self._epoch:
            rows, random = self.chosen(epoch), np.random.default_rng(derive(self.seed, "order", epoch))
            lengths = self.pairs.lengths[rows]
            order = np.lexsort((random.random(len(rows)), lengths[:, 0], lengths[:, 1]))
            tokens = np.cumsum(lengths.max(1)[order])
            cuts = np.searchsorted(tokens, tokens[-1] * np.arange(1, self.count) / self.count)
            parts = np.split(rows[order], cuts)
            self._epoch, self._parts = epoch, [parts[i] for i in random.permutation(self.count)]
        return self.pairs.collect(self._parts[index])

    def largest(self) -> PairBatch:
        """The longest pair alone."""
        return self.pairs.largest()
