"""Batches of pictures with boxes."""

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from headway.data.annotated_pictures import AnnotatedPictures
from headway.data.boxes import to_centres
from headway.data.equal_parts import EqualParts
from headway.data.length_buckets import Rows
from headway.data.picture_frame import Frame


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

    def __len__(self) -> int:
        return len(self.pictures)

    def take(self, rows: Int[Tensor, "k"]) -> "AnnotatedBatch":
        """Some of the pictures, with their objects."""
        places = torch.full((len(self),), -1).index_copy(0, rows, torch.arange(len(rows)))
        owners = places[self.objects.owners]
        kept = owners >= 0
        objects = Objects(self.objects.boxes[kept], self.objects.labels[kept], owners[kept])
        return AnnotatedBatch(self.pictures[rows], objects)


class AnnotatedBatches(EqualParts[AnnotatedBatch]):
    """Pictures as bytes, scaled by `frame` when a batch is made; `labels` are the classes of all boxes."""

    def __init__(
        self, part: AnnotatedPictures, labels: Int[np.ndarray, "m"], *, rows: int, seed: int, frame: Frame
    ) -> None:
        super().__init__(len(part), rows=rows, seed=seed)
        self.part, self.labels, self.frame = part, labels, frame

    def at(self, rows: Rows) -> AnnotatedBatch:
        spans = [self.part.of(row) for row in rows.tolist()]
        kept = np.concatenate([np.arange(span.start, span.stop) for span in spans])
        owners = np.repeat(np.arange(len(rows)), [span.stop - span.start for span in spans])
        boxes = to_centres(torch.from_numpy(self.part.boxes[kept].astype(np.float32)))
        objects = Objects(boxes, torch.from_numpy(self.labels[kept]), torch.from_numpy(owners))
        return AnnotatedBatch(self.frame.scale(self.part.images[rows]), objects)
