"""Pictures with classes, as bytes; scaling them is up to the task. `picture_files.py` reads them."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Int, UInt8

from headway.data.rows import Problem


@dataclass(frozen=True)
class Pictures:
    """Pictures of one size; `problems` are files that could not be read, `resized` those that had another size."""

    images: UInt8[np.ndarray, "n y x c"]
    labels: Int[np.ndarray, "n"]
    classes: tuple[str, ...]  # the name of each label
    names: tuple[str, ...]  # of the files; numbers where the pictures come from an array
    origin: str
    problems: tuple[Problem, ...] = ()
    resized: tuple[int, ...] = ()

    def __len__(self) -> int:
        return len(self.images)

    @property
    def label_names(self) -> tuple[str, ...]:
        """The class of each picture, by name."""
        return tuple(self.classes[label] for label in self.labels.tolist())

    def select(self, rows: Sequence[int]) -> "Pictures":
        """These pictures alone, with the same classes."""
        index, had_another_size = np.asarray(rows, dtype=np.int64), set(self.resized)
        names = tuple(self.names[i] for i in rows)
        resized = tuple(new for new, old in enumerate(rows) if old in had_another_size)
        return Pictures(self.images[index], self.labels[index], self.classes, names, self.origin, (), resized)

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 over shape, names of the classes, pixels and labels."""
        digest = hashlib.sha256(repr((self.images.shape, self.classes)).encode())
        digest.update(np.ascontiguousarray(self.images).data)
        digest.update(np.ascontiguousarray(self.labels.astype("<i8")).data)
        return digest.hexdigest()
