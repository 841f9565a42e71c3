"""What the tasks on pictures keep of their data: the classes, and the frame that every picture is brought into."""

from dataclasses import asdict
from pathlib import Path
from typing import Generic, Self, TypeVar

import numpy as np
from jaxtyping import UInt8

from headway.core.files import write_json
from headway.data.picture_frame import Frame
from headway.tasks.held_out import read_kept
from headway.tasks.labels import Classes

FILE = "frame.json"
D = TypeVar("D")


class PictureState(Generic[D]):
    def __init__(self, data: D, classes: Classes, frame: Frame) -> None:
        self.data, self.classes, self.frame = data, classes, frame

    @classmethod
    def of(cls, data: D, labels: tuple[str, ...], images: UInt8[np.ndarray, "n y x c"], before: object) -> Self:
        """Learned from pictures, or taken over from the task that this one begins with (`before`)."""
        same = isinstance(before, cls) and getattr(data, "size", None) is None
        frame = before.frame if same and isinstance(before, cls) else Frame.of(images)
        return cls(data, Classes.of(labels, before), frame)

    def save(self, folder: Path) -> None:
        self.classes.save(folder)
        write_json(folder / FILE, asdict(self.frame))

    @classmethod
    def load(cls, data: D, folder: Path) -> Self:
        frame = read_kept(Frame, folder / FILE)
        return cls(data, Classes.load(folder), frame)

    @property
    def shape(self) -> dict[str, int]:
        """The sizes of a picture."""
        return {"channels": self.frame.channels, "height": self.frame.height, "width": self.frame.width}

    def describe(self) -> str:
        colour = "grey" if self.frame.channels == 1 else "colour"
        return f"pictures of {self.frame.width} x {self.frame.height} in {colour}, {self.classes.describe()}"
