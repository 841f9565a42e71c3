"""Augmentation: training pictures that are changed a little each time, so that a model learns what does not matter.

    x'(u) = x(A u + t) + noise, and 0 on a square        x'' = w x'_i + (1 - w) x'_j,  loss'' = w loss_i + (1 - w) loss_j

All pictures of a batch are changed at once; what is drawn is a function of the seed that is given. One bilinear
interpolation does all that moves pixels; what comes from beyond the edge repeats the edge. Shorten & Khoshgoftaar 2019,
https://doi.org/10.1186/s40537-019-0197-0; lecture D, "Regularisation: data augmentation".
"""

import dataclasses
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor

from headway.core.errors import ConfigError, nearest, raise_all

NONE = "none"
FLIP = 0.5  # what `flip` alone means
HINT = 'for example `--augment "shift=2 rotation=10"`; `--augment none` leaves the pictures as they are.'


@dataclass(frozen=True)
class Augmentation:
    """Data augmentation: how far each training picture may be changed. Zero: not in this way."""

    shift: int = 0  # whole pixels, at most, in each direction
    rotation: float = 0.0  # degrees, at most, to either side
    crop: float = 0.0  # share of each side that may be cut away; what is left is enlarged to the whole
    flip: float = 0.0  # probability that left and right are exchanged
    noise: float = 0.0  # standard deviation of what is added to each pixel; 1 is that of the pixels themselves
    cutout: int = 0  # pixels along the side of a square that is erased (DeVries & Taylor 2017, arXiv 1708.04552)
    mixup: float = (
        0.0  # a in w ~ Beta(a, a), the weights of two pictures that are mixed (Zhang et al. 2018, arXiv 1710.09412)
    )

    @classmethod
    def parse(cls, text: str) -> "Augmentation":
        """From a text such as "shift=2 rotation=10 flip"; all that is wrong with it is reported."""
        if text.strip() == NONE:
            return cls()
        found: dict[str, float] = {}
        problems: list[str] = []
        kinds = {field.name: field.type for field in dataclasses.fields(cls)}
        names = list(kinds)
        for word in text.replace(",", " ").split():
            name, equals, value = word.partition("=")
            guess = nearest(name, names)
            if name not in names:
                problems.append(f"`{name}` is none of {', '.join(names)}" + f"; did you mean `{guess}`?" * bool(guess))
            elif name in found:
                problems.append(f"`{name}` is there twice")
            elif not equals and name == "flip":
                found[name] = FLIP
            elif (number := read_number(value, whole=kinds[name] is int)) is None or not 0 <= number <= HIGHEST[name]:
                kind = "a whole number" if kinds[name] is int else "a number"
                problems.append(
                    f"`{word}`: expected {kind} from 0 to {HIGHEST[name]:g}, as in `{name}={USUAL[name]:g}`"
                )
            else:
                found[name] = number
        raise_all(problems, ConfigError, f"`--augment {text!r}` cannot be read", HINT)
        return cls(**found)  # type: ignore[arg-type]

    def __bool__(self) -> bool:
        return any(dataclasses.astuple(self))

    def change(self, pictures: Float[Tensor, "b c y x"], seed: int) -> Float[Tensor, "b c y x"]:
        """The pictures, each changed in its own way."""
        random = np.random.default_rng(seed)
        if self.shift or self.rotation or self.crop or self.flip:
            grid = F.affine_grid(self._maps(pictures, random), list(pictures.shape), align_corners=False)
            pictures = F.grid_sample(pictures, grid, "bilinear", "border", align_corners=False)
        if self.noise:
            drawn = random.standard_normal(pictures.shape, dtype=np.float32)
            pictures = pictures + self.noise * torch.from_numpy(drawn)
        if self.cutout:
            pictures = pictures * self._kept(pictures, random)
        return pictures

    def _maps(self, pictures: Float[Tensor, "b c y x"], random: np.random.Generator) -> Float[Tensor, "b 2 3"]:
        """A and t of each picture: where the number of each place comes from, in units of half a side."""
        count, _, height, width = pictures.shape
        angle = np.deg2rad(random.uniform(-self.rotation, self.rotation, count))
        left = 1 - random.uniform(0, self.crop, count)  # of each side, at a random place
        shift = random.integers(-self.shift, self.shift, (count, 2), endpoint=True) * 2 / np.array([width, height])
        offset = shift + random.uniform(-1, 1, (count, 2)) * (1 - left)[:, None]
        mirror = np.where(random.random(count) < self.flip, -1.0, 1.0)
        cos, sin = left * np.cos(angle), left * np.sin(angle)
        rows = [[mirror * cos, -sin * height / width, offset[:, 0]], [mirror * sin * width / height, cos, offset[:, 1]]]
        return torch.from_numpy(np.moveaxis(np.array(rows), 2, 0)).to(pictures.dtype)

    def _kept(self, pictures: Float[Tensor, "b c y x"], random: np.random.Generator) -> Float[Tensor, "b 1 y x"]:
        """0 on a square around a random pixel, 1 elsewhere; zero is the mean of the pixels."""
        sides = []
        for size in pictures.shape[2:]:
            middle = torch.from_numpy(random.integers(0, size, (len(pictures), 1)))
            first = middle - self.cutout // 2
            place = torch.arange(size)
            sides.append((place >= first) & (place < first + self.cutout))
        return 1 - (sides[0][:, :, None] & sides[1][:, None, :]).to(pictures.dtype).unsqueeze(1)

    def mix(
        self, pictures: Float[Tensor, "b c y x"], seed: int
    ) -> tuple[Float[Tensor, "b c y x"], Int[Tensor, "b"], Float[Tensor, "b"]]:
        """Each picture mixed with another one of the batch; which one that is, and the weight w of the first (at least half)."""
        random = np.random.default_rng(seed)
        drawn = random.beta(self.mixup, self.mixup, len(pictures))
        weight = torch.from_numpy(np.maximum(drawn, 1 - drawn)).to(pictures.dtype)
        other = torch.from_numpy(random.permutation(len(pictures)))
        return torch.lerp(pictures[other], pictures, weight.view(-1, 1, 1, 1)), other, weight


HIGHEST = {"shift": 1000, "rotation": 180, "crop": 0.9, "flip": 1, "noise": 10, "cutout": 1000, "mixup": 100}
USUAL = {"shift": 2, "rotation": 10, "crop": 0.2, "flip": 0.5, "noise": 0.1, "cutout": 8, "mixup": 0.2}


def read_number(text: str, whole: bool) -> float | None:
    try:
        return int(text) if whole else float(text)
    except ValueError:
        return None
