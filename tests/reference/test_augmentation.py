"""Augmentation: each change against scipy, numpy or a count; what is drawn follows from the seed; what is asked for is understood."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from scipy.ndimage import affine_transform
from torch import Tensor, nn

from headway.core.errors import ConfigError
from headway.data.augmentation import Augmentation
from headway.data.labelled_batches import LabelledBatch, PictureBatches
from headway.data.picture_frame import Frame
from headway.tasks.answers import label_loss

CLOSE = {"rtol": 0.0, "atol": 1e-10}


def pictures(count: int = 40, channels: int = 2, height: int = 9, width: int = 13) -> Tensor:
    return torch.rand(count, channels, height, width, generator=torch.Generator().manual_seed(3), dtype=torch.float64)


def changed(text: str, x: Tensor, seed: int = 5) -> Tensor:
    return Augmentation.parse(text).change(x, seed)


def moved(x: Tensor, down: int, right: int) -> Tensor:
    """A shift by whole pixels; what comes in repeats the edge."""
    rows = (torch.arange(x.shape[2]) - down).clamp(0, x.shape[2] - 1)
    columns = (torch.arange(x.shape[3]) - right).clamp(0, x.shape[3] - 1)
    return x[:, :, rows][:, :, :, columns]


def test_each_change_is_what_its_name_says() -> None:
    x = pictures()
    ways = {(down, right): moved(x, down, right) for down in range(-2, 3) for right in range(-2, 3)}
    found = changed("shift=2", x)
    which = [[k for k, way in ways.items() if torch.allclose(found[i], way[i], **CLOSE)] for i in range(len(x))]
    assert all(len(way) == 1 for way in which) and len({way[0] for way in which}) > 10
    found = changed("flip", x)
    mirrored = [torch.allclose(found[i], x[i].flip(2), **CLOSE) for i in range(len(x))]
    assert 10 < sum(mirrored) < 30
    assert all(m or torch.allclose(found[i], x[i], **CLOSE) for i, m in enumerate(mirrored))
    assert torch.allclose(changed("flip=1", x), x.flip(3), **CLOSE)
    assert changed("none", x) is x


@pytest.mark.parametrize(("height", "width"), [(9, 13), (12, 12)])
def test_rotation_and_crop_are_those_of_scipy(height: int, width: int) -> None:
    """Bilinear interpolation around the middle of a picture, whose pixels stay square whatever its sides are."""
    x = pictures(3, 2, height, width)
    for text in ("rotation=40", "crop=0.5", "rotation=25 crop=0.3"):
        a, random = Augmentation.parse(text), np.random.default_rng(5)
        angle = np.deg2rad(random.uniform(-a.rotation, a.rotation, 3))
        left = 1 - random.uniform(0, a.crop, 3)
        random.integers(0, 0, (3, 2), endpoint=True)
        place = random.uniform(-1, 1, (3, 2)) * (1 - left)[:, None] * np.array([width, height]) / 2
        found = changed(text, x)
        for i in range(3):
            c, s = np.cos(angle[i]), np.sin(angle[i])
            matrix = left[i] * np.array([[c, s], [-s, c]])  # rows and columns, as numpy counts them
            middle = np.array([height - 1, width - 1]) / 2
            offset = middle - matrix @ middle + place[i, ::-1]
            for channel in range(2):
                expected = affine_transform(x[i, channel].numpy(), matrix, offset, order=1, mode="nearest")
                np.testing.assert_allclose(found[i, channel].numpy(), expected, atol=1e-10)
        assert not torch.allclose(found, x, atol=1e-2)


def test_noise_has_its_deviation_and_cutout_its_area() -> None:
    x = torch.ones(200, 3, 20, 30)
    added = changed("noise=0.3", x) - x
    assert float(added.std()) == pytest.approx(0.3, rel=0.01) and abs(float(added.mean())) < 0.002
    erased = changed("cutout=6", x) == 0
    assert torch.equal(erased.any(1), erased.all(1)), "all channels of a pixel"
    area = erased[:, 0].sum((1, 2))
    assert int(area.max()) == 36 and int(area.min()) >= 9, (
        "around a pixel of the picture, so a corner of 3 x 3 at least"
    )
    assert bool(erased.any(0)[0].all()), "every pixel at some time"


@torch.no_grad()
def test_mixup_weighs_pictures_and_losses_alike() -> None:
    x = pictures()
    found, other, weight = Augmentation(mixup=0.4).mix(x, 5)
    for i in range(len(x)):
        torch.testing.assert_close(found[i], weight[i] * x[i] + (1 - weight[i]) * x[other[i]], **CLOSE)
    assert sorted(other.tolist()) == list(range(40)) and 0.5 <= float(weight.min()) < 0.7 < float(weight.max()) <= 1

    class Linear(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.head = nn.Linear(2 * 9 * 13, 4, dtype=torch.float64)

        def forward(self, pictures: Tensor) -> Tensor:
            return pictures.flatten(1)

        def logits(self, hidden: Tensor) -> Tensor:
            return self.head(hidden)

    model, labels = Linear(), torch.arange(40) % 4
    two = weight[:, None] * F.one_hot(labels, 4) + (1 - weight)[:, None] * F.one_hot(labels[other], 4)
    for smoothing in (0.0, 0.1):  # torch knows targets that are probabilities
        loss = label_loss(model, LabelledBatch((found,), labels, (labels[other], weight.float())), smoothing)
        expected = F.cross_entropy(model.logits(model(found)), two, reduction="sum", label_smoothing=smoothing)
        assert float(loss.total) == pytest.approx(float(expected), rel=1e-5)


def test_what_is_drawn_follows_from_the_number_of_the_batch() -> None:
    images = np.random.default_rng(1).integers(0, 256, (40, 8, 8, 1), dtype=np.uint8)

    def batches(text: str, seed: int = 1) -> PictureBatches:
        augmentation, frame = Augmentation.parse(text), Frame(8, 8, (0.5,), (0.3,))
        return PictureBatches(images, np.arange(40), rows=16, seed=seed, frame=frame, augmentation=augmentation)

    text = "shift=2 rotation=10 crop=0.2 flip noise=0.1 cutout=3 mixup=0.2"
    one, again, other, plain = batches(text), batches(text), batches(text, 2), batches("none")
    for number in (7, 0, 3):
        a, b, c = one[number], again[number], other[number]
        assert torch.equal(a.inputs[0], b.inputs[0]) and torch.equal(a.labels, b.labels) and a.mixed and b.mixed
        assert all(torch.equal(p, q) for p, q in zip(a.mixed, b.mixed, strict=True))
        assert not torch.equal(a.inputs[0], c.inputs[0]) and torch.equal(a.labels, plain[number].labels)
    for change in ("noise=0.1", "mixup=0.2"):
        copies = batches(change)
        copies.images = np.repeat(images[:1], 40, 0)  # of one picture, so that their order makes no difference
        first, later = copies[0], copies[3]
        differs = later.mixed and first.mixed and not torch.equal(first.mixed[1], later.mixed[1])
        assert differs or not torch.equal(first.inputs[0], later.inputs[0]), "every epoch changes them anew"
    judged = zip(one.in_order(), plain.in_order(), strict=True)
    assert all(torch.equal(a.inputs[0], b.inputs[0]) and a.mixed is None for (_, a), (_, b) in judged)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("shfit=2", "`shfit` is none of shift, rotation, crop, flip, noise, cutout, mixup; did you mean `shift`?"),
        ("shift", "`shift`: expected a whole number from 0 to 1000, as in `shift=2`"),
        ("shift=1.5", "expected a whole number"),
        ("crop=1", "`crop=1`: expected a number from 0 to 0.9, as in `crop=0.2`"),
        ("noise=nan", "expected a number from 0"),
        ("flip flip", "`flip` is there twice"),
        ("rotation=-1 mixup=x", "`mixup=x`: expected a number"),
    ],
)
def test_what_cannot_be_read_is_explained(text: str, expected: str) -> None:
    with pytest.raises(ConfigError) as raised:
        Augmentation.parse(text)
    assert expected in raised.value.message and "--augment none" in raised.value.hint


def test_what_can_be_read() -> None:
    assert Augmentation.parse("shift=2, rotation=10 flip") == Augmentation(shift=2, rotation=10, flip=0.5)
    assert not Augmentation.parse("none") and not Augmentation.parse("shift=0") and Augmentation.parse("flip")
