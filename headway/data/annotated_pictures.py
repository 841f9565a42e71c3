"""Pictures with boxes around objects, each of a class, as arrays; boxes in shares of width and height."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Float, Int, UInt8

from headway.data.rows import Problem

BOXES = "boxes.csv"  # the table beside the pictures
HEADER = ("file", "class", "left", "top", "right", "bottom")


@dataclass(frozen=True)
class AnnotatedPictures:
    """Pictures of one size with m boxes; `problems` are files and rows that could not be used, `resized` had another size."""

    images: UInt8[np.ndarray, "n y x c"]
    boxes: Float[np.ndarray, "m 4"]  # left, top, right, bottom, from 0 to 1
    labels: Int[np.ndarray, "m"]
    owners: Int[np.ndarray, "m"]  # on which picture each box is, ascending
    classes: tuple[str, ...]  # the name of each label
    names: tuple[str, ...]  # of the pictures
    origin: str
    problems: tuple[Problem, ...] = ()
    resized: tuple[int, ...] = ()

    def __len__(self) -> int:
        return len(self.images)

    @property
    def label_names(self) -> tuple[str, ...]:
        """The class of each box, by name."""
        return tuple(self.classes[label] for label in self.labels.tolist())

    def of(self, picture: int) -> slice:
        """Where the boxes of one picture stand."""
        return slice(*np.searchsorted(self.owners, (picture, picture + 1)).tolist())

    def select(self, rows: Sequence[int]) -> "AnnotatedPictures":
        """These pictures alone, with the same classes."""
        spans = [self.of(row) for row in rows]
        kept = np.concatenate([np.arange(s.start, s.stop) for s in spans] or [np.empty(0, np.int64)]).astype(np.int64)
        owners = np.repeat(np.arange(len(rows)), [s.stop - s.start for s in spans])
        names, before = tuple(self.names[row] for row in rows), set(self.resized)
        resized = tuple(new for new, old in enumerate(rows) if old in before)
        images = self.images[np.asarray(rows, dtype=np.int64)]
        found = (images, self.boxes[kept], self.labels[kept], owners)
        return AnnotatedPictures(*found, self.classes, names, self.origin, (), resized)

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 over shape, names of the classes, pixels and boxes."""
        digest = hashlib.sha256(repr((self.images.shape, self.classes)).encode())
        for array, kind in ((self.images, "u1"), (self.boxes, "<f8"), (self.labels, "<i8"), (self.owners, "<i8")):
            digest.update(np.ascontiguousarray(array.astype(kind)).data)
        return digest.hexdigest()
