"""Batches of examples with classes: texts in length buckets by token budget, pictures by number.

Batch n is a pure function of (seed, n), and every example comes once per epoch. Texts are grouped by length
(`length_buckets.py`). Pictures are permuted and cut into equal parts (`equal_parts.py`).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float, Int, UInt8
from torch import Tensor

from headway.core.seeds import derive
from headway.data.augmentation import Augmentation
from headway.data.batches import pad
from headway.data.equal_parts import EqualParts
from headway.data.length_buckets import LengthBuckets, Rows
from headway.data.picture_frame import Frame


@dataclass(frozen=True)
class LabelledBatch:
    """What a model reads, `ids` and `keep` "b t" or `pictures` "b c y x", and the class of each example (or its numbers)."""

    inputs: tuple[Tensor, ...]
    labels: Int[Tensor, "b"] | Float[Tensor, "b c"]
    mixed: tuple[Int[Tensor, "b"], Float[Tensor, "b"]] | None = None  # a second class, and the weight of the first

    def to(self, device: torch.device) -> "LabelledBatch":
        """The same on a device; batches that are judged are not mixed."""
        return LabelledBatch(tuple(tensor.to(device) for tensor in self.inputs), self.labels.to(device))


class TextBatches(LengthBuckets[LabelledBatch]):
    """Texts as token ids, padded within a batch to at most `budget` tokens (a longer text is a batch of its own)."""

    def __init__(
        self, ids: Sequence[Sequence[int]], labels: Int[np.ndarray, "n"], *, budget: int, seed: int, padding: int
    ) -> None:
        super().__init__([len(row) for row in ids], budget=budget, seed=seed)
        self.ids, self.labels, self.padding = ids, labels, padding

    def at(self, rows: Rows) -> LabelledBatch:
        ids = pad([self.ids[i] for i in rows], self.padding)
        return LabelledBatch((ids, self.keep(rows)), torch.from_numpy(self.labels[rows]))


class PictureBatches(EqualParts[LabelledBatch]):
    """Pictures as bytes, scaled by `frame` when a batch is made, so that memory holds the bytes alone.

    Batches by number are for training and changed by the augmentation, each time anew; those `in_order` are not.
    """

    def __init__(
        self,
        images: UInt8[np.ndarray, "n y x c"],
        labels: Int[np.ndarray, "n"],
        *,
        rows: int,
        seed: int,
        frame: Frame,
        augmentation: Augmentation | None = None,
    ) -> None:
        super().__init__(len(images), rows=rows, seed=seed)
        self.images, self.labels, self.frame = images, labels, frame
        self.augmentation = augmentation or Augmentation()

    def __getitem__(self, number: int) -> LabelledBatch:
        batch, change = super().__getitem__(number), self.augmentation
        pictures, mixed = change.change(batch.inputs[0], derive(self.seed, "augmentation", number)), None
        if change.mixup:
            pictures, other, weight = change.mix(pictures, derive(self.seed, "mixup", number))
            mixed = (batch.labels[other], weight)
        return LabelledBatch((pictures,), batch.labels, mixed)

    def at(self, rows: Rows) -> LabelledBatch:
        return LabelledBatch((self.frame.scale(self.images[rows]),), torch.from_numpy(self.labels[rows]))
