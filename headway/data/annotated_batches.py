"""Batches of pictures with boxes. Batch n is a pure function of (seed, n), and every picture comes once per epoch."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from headway.core.seeds import derive
from headway.data.annotated_pictures import AnnotatedPictures
from headway.data.boxes import to_centres
from headway.data.picture_frame import Frame

Rows = Int[np.ndarray, "b"]  # which pictures


@dataclass(frozen=True)
class Objects:
    """All objects on the pictures of a batch, one after the other."""

    boxes: Float[Tensor, "m 4"]  # cx, cy, w, h in shares of the picture
    labels: Int[Tensor, "m"]
    owners: Int[Tensor, "m"]  # on which picture of the batch each one is, ascending


@dataclass(frozen=True)
class AnnotatedBatch:
    pictures: Float[Tensor, "b c y x"]
    objects: Objects


class AnnotatedBatches:
    """Pictures as bytes, scaled by `frame` when a batch is made; `labels` are the classes of all boxes."""

    def __init__(
        self, part: AnnotatedPictures, labels: Int[np.ndarray, "m"], *, rows: int, seed: int, frame: Frame
    ) -> None:
        self.part, self.labels, self.seed, self.frame = part, labels, seed, frame
        self.count = -(-len(part) // rows)
        self._epoch, self._parts = -1, [np.empty(0, dtype=np.int64)]

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, number: int) -> AnnotatedBatch:
        """Batch `number`, counted through all epochs."""
        epoch, index = divmod(number, len(self))
        if epoch != self._epoch:
            order = np.random.default_rng(derive(self.seed, "order", epoch)).permutation(len(self.part))
            self._epoch, self._parts = epoch, np.array_split(order, self.count)
        return self.at(self._parts[index])

    def at(self, rows: Rows) -> AnnotatedBatch:
        spans = [self.part.of(row) for row in rows.tolist()]
        kept = np.concatenate([np.arange(span.start, span.stop) for span in spans])
        owners = np.repeat(np.arange(len(rows)), [span.stop - span.start for span in spans])
        boxes = to_centres(torch.from_numpy(self.part.boxes[kept].astype(np.float32)))
        objects = Objects(boxes, torch.from_numpy(self.labels[kept]), torch.from_numpy(owners))
        return AnnotatedBatch(self.frame.scale(self.part.images[rows]), objects)

    def largest(self) -> AnnotatedBatch:
        """The first parts have one picture more, if any have."""
        return self[0]

    def in_order(self) -> Iterator[tuple[Rows, AnnotatedBatch]]:
        """Every picture once, with which ones they are (for validation)."""
        for rows in np.array_split(np.arange(len(self.part)), self.count):
            yield rows, self.at(rows)
