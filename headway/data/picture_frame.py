"""How pictures come to a model: in one size, each channel with mean 0 and deviation 1 over the training part.

x_c = (v_c / 255 - mean_c) / deviation_c            v a byte, c the channel
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from jaxtyping import Float, UInt8
from PIL import Image
from torch import Tensor

from headway.core.errors import DataError, raise_all
from headway.data.picture_folders import BROKEN, SUFFIXES, read_header, read_picture
from headway.data.pictures import Pictures

CHUNK = 1024  # pictures that are counted at once
LEAST = 1e-3  # deviation of a channel that never changes: nothing is divided by zero


@dataclass(frozen=True)
class Frame:
    """The size of pictures in pixels, and mean and deviation of each channel (1: grey, 3: colour)."""

    height: int
    width: int
    mean: tuple[float, ...]
    deviation: tuple[float, ...]

    @property
    def channels(self) -> int:
        return len(self.mean)

    @property
    def side(self) -> int | None:
        """Width and height if they are the same: files can be read in this size at once."""
        return self.width if self.width == self.height else None

    @classmethod
    def of(cls, images: UInt8[np.ndarray, "n y x c"]) -> "Frame":
        """Measured on these pictures. Bytes are counted, 256 numbers per channel, so that no copy in floats is made."""
        counts = np.zeros((images.shape[3], 256))
        for start in range(0, len(images), CHUNK):
            for c, channel in enumerate(np.moveaxis(images[start : start + CHUNK], 3, 0)):
                counts[c] += np.bincount(channel.ravel(), minlength=256)
        values, shares = np.arange(256) / 255, counts / counts.sum(1, keepdims=True)
        mean = shares @ values
        deviation = np.sqrt(np.maximum(shares @ values**2 - mean**2, LEAST**2))
        return cls(images.shape[1], images.shape[2], tuple(mean.tolist()), tuple(deviation.tolist()))

    def fit(self, pictures: Pictures) -> Pictures:
        """The pictures in this size and with these channels."""
        return resize(pictures, self.height, self.width, self.channels)

    def scale(self, images: UInt8[np.ndarray, "b y x c"]) -> Float[Tensor, "b c y x"]:
        """(byte / 255 - mean) / deviation of each channel; bytes become floats once, for the whole batch."""
        mean, deviation = torch.tensor(self.mean), torch.tensor(self.deviation)
        scaled = torch.from_numpy(images).to(torch.float32).sub_(255 * mean).div_(255 * deviation)
        return scaled.movedim(3, 1)

    def read(self, paths: Sequence[str]) -> tuple[UInt8[np.ndarray, "b y x c"], list[tuple[str, ...]]]:
        """The pictures of these files, and what a person should know of each; all that cannot be read are reported."""
        images = np.zeros((len(paths), self.height, self.width, self.channels), dtype=np.uint8)
        notes: list[tuple[str, ...]] = []
        problems: list[str] = []
        for i, path in enumerate(paths):
            try:
                size, mode = read_header(Path(path))
                images[i] = read_picture(Path(path), (self.width, self.height), "L" if self.channels == 1 else "RGB")
            except FileNotFoundError:
                problems.append(f"there is no file `{path}`")
                continue
            except BROKEN as problem:
                problems.append(f"`{path}` {str(problem).partition(' ' + chr(39))[0]}")
                continue
            made = f"the picture is {size[0]} x {size[1]} pixels and was made {self.width} x {self.height}"
            grey = "the picture is in colour and was made grey, like those of training"
            coloured = self.channels == 1 and mode in ("RGB", "RGBA", "P", "CMYK", "YCbCr")
            notes.append((made,) * (size != (self.width, self.height)) + (grey,) * coloured)
        raise_all(problems, DataError, "cannot read the pictures", f"give the paths of pictures: {' '.join(SUFFIXES)}.")
        return images, notes


def resize(pictures: Pictures, height: int, width: int, channels: int) -> Pictures:
    """The pictures in another size, grey or in colour."""
    return replace(pictures, images=resize_images(pictures.images, height, width, channels))


def resize_images(
    images: UInt8[np.ndarray, "n y x c"], height: int, width: int, channels: int
) -> UInt8[np.ndarray, "n _ _ _"]:
    """Each picture in another size (bilinear, as files are read), grey or in colour; as it is if it is so already."""
    if images.shape[1:] == (height, width, channels):
        return images
    made = np.zeros((len(images), height, width, channels), dtype=np.uint8)
    for i, image in enumerate(images):
        picture = Image.fromarray(image[..., 0] if image.shape[2] == 1 else image)
        picture = picture.convert("L" if channels == 1 else "RGB").resize((width, height), Image.Resampling.BILINEAR)
        made[i] = np.asarray(picture).reshape(height, width, channels)
    return made
