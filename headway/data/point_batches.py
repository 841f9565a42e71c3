"""Batches of point sets: drawn anew for every step, or from a table. Batch n is a pure function of (seed, n)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from headway.core.seeds import derive
from headway.data.point_problems import draw
from headway.data.point_sets import PointSets

EPOCH = 1000  # batches of drawn sets that are counted as an epoch
IGNORED = -100  # no choice is expected here: padding
Rows = Int[np.ndarray, "b"]  # which sets


@dataclass(frozen=True)
class PointBatch:
    """Points, what was chosen before each choice (0 at first), and what should be chosen (0: the end). Points count from 1."""

    points: Float[Tensor, "b n c"]
    keep: Bool[Tensor, "b n"]
    chosen: Int[Tensor, "b t"]
    wanted: Int[Tensor, "b t"]


@dataclass(frozen=True)
class Scale:
    """How points come to a model: (x - shift) / width, one width for all coordinates, so that shapes stay as they are."""

    shift: tuple[float, ...]  # the mean of each coordinate in training
    width: float  # the deviation of all of them

    @classmethod
    def of(cls, points: Sequence[np.ndarray]) -> "Scale":
        every = np.concatenate(points)
        return cls(tuple(every.mean(0).tolist()), float((every - every.mean(0)).std()) or 1.0)


def collect(points: Sequence[np.ndarray], orders: Sequence[np.ndarray], scale: Scale) -> PointBatch:
    """Sets side by side, scaled, padded on the right."""
    sizes, lengths = [len(some) for some in points], [len(order) for order in orders]
    width, length = max(sizes), max(lengths) + 1
    coordinates = np.zeros((len(points), width, points[0].shape[1]), dtype=np.float32)
    chosen = np.zeros((len(points), length), dtype=np.int64)
    wanted = np.full((len(points), length), IGNORED, dtype=np.int64)
    for row, (some, order) in enumerate(zip(points, orders, strict=True)):
        coordinates[row, : len(some)] = (some - scale.shift) / scale.width
        chosen[row, 1 : len(order) + 1] = wanted[row, : len(order)] = order + 1
        wanted[row, len(order)] = 0
    keep = np.arange(width) < np.array(sizes)[:, None]
    return PointBatch(*(torch.from_numpy(part) for part in (coordinates, keep, chosen, wanted)))


class DrawnBatches:
    """Endless: every batch is drawn for itself, all its sets of one size, so that nothing is padded."""

    def __init__(self, kind: str, sizes: range, *, rows: int, seed: int, scale: Scale) -> None:
        self.kind, self.sizes, self.rows, self.seed, self.scale = kind, sizes, rows, seed, scale

    def __len__(self) -> int:
        return EPOCH

    def __getitem__(self, number: int) -> PointBatch:
        random = np.random.default_rng(derive(self.seed, "points", number))
        return self._drawn(int(random.choice(self.sizes)), random)

    def largest(self) -> PointBatch:
        return self._drawn(self.sizes[-1], np.random.default_rng(self.seed))

    def _drawn(self, size: int, random: np.random.Generator) -> PointBatch:
        points, orders = draw(self.kind, self.rows, size, random)
        return collect(list(points), orders, self.scale)


class SetBatches:
    """Sets of a table, those of about one size together, as in `labelled_batches.py`."""

    def __init__(self, sets: PointSets, *, rows: int, seed: int, scale: Scale) -> None:
        self.sets, self.seed, self.scale = sets, seed, scale
        self.sizes = np.array([len(points) for points in sets.points])
        self.count = -(-len(sets) // rows)
        self._epoch, self._parts = -1, [np.empty(0, dtype=np.int64)]

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, number: int) -> PointBatch:
        """Batch `number`, counted through all epochs."""
        epoch, index = divmod(number, len(self))
        if epoch != self._epoch:
            random = np.random.default_rng(derive(self.seed, "order", epoch))
            parts = np.array_split(np.lexsort((random.random(len(self.sizes)), self.sizes)), self.count)
            self._epoch, self._parts = epoch, [parts[i] for i in random.permutation(self.count)]
        return self.at(self._parts[index])

    def at(self, rows: Rows) -> PointBatch:
        return collect([self.sets.points[row] for row in rows], [self.sets.orders[row] for row in rows], self.scale)

    def largest(self) -> PointBatch:
        return self.at(np.array_split(np.argsort(self.sizes, kind="stable"), self.count)[-1])

    def in_order(self) -> Iterator[tuple[Rows, PointBatch]]:
        """Every set once, by size, with which ones they are (for validation)."""
        for rows in np.array_split(np.argsort(self.sizes, kind="stable"), self.count):
            yield rows, self.at(rows)
