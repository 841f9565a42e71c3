"""Pictures: folders, arrays and idx files give the same pictures, and the doctor finds what was planted."""

import gzip
import json
import os
import struct
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from headway.core.errors import DataError
from headway.data.doctor_pictures import examine_pictures
from headway.data.findings import Finding, Report
from headway.data.picture_files import picture_parts, read_pictures
from headway.data.picture_folders import read_picture
from headway.data.pictures import Pictures

MNIST = Path(os.environ.get("HEADWAY_MNIST", "mnist.npz"))  # a copy of the real one, if there is one


def noise(count: int, seed: int = 0, shape: tuple[int, ...] = (5, 4)) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 256, (count, *shape), dtype=np.uint8)


def write_idx(path: Path, array: np.ndarray) -> None:
    data = bytes([0, 0, 8, array.ndim]) + struct.pack(f">{array.ndim}I", *array.shape) + array.tobytes()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)


def write_folder(root: Path, images: np.ndarray, labels: list[str]) -> None:
    for number, (image, label) in enumerate(zip(images, labels, strict=True)):
        (root / label).mkdir(parents=True, exist_ok=True)
        Image.fromarray(image).save(root / label / f"{number:03}.png")


def refused(path: Path, message: str, hint: str = "", part: str = "train") -> None:
    with pytest.raises(DataError, match=message) as caught:
        read_pictures(str(path), part)
    assert hint in caught.value.hint


def test_folder_npz_and_idx_hold_the_same_pictures(tmp_path: Path) -> None:
    images, labels = noise(12), np.arange(12, dtype=np.uint8) % 3
    order = np.argsort(labels, kind="stable")  # a folder is read class by class
    write_folder(tmp_path / "folder", images, [str(label) for label in labels])
    np.savez(tmp_path / "a.npz", x_train=images[order], y_train=labels[order])
    np.savez_compressed(tmp_path / "b.npz", images=images[order][..., None], labels=labels[order][:, None])
    (tmp_path / "idx").mkdir()
    write_idx(tmp_path / "idx" / "train-images-idx3-ubyte.gz", images[order])
    write_idx(tmp_path / "idx" / "train-labels-idx1-ubyte.gz", labels[order])
    for name in ("folder", "a.npz", "b.npz", "idx", "idx/train-images-idx3-ubyte.gz"):
        found = read_pictures(str(tmp_path / name))
        assert found.images.shape == (12, 5, 4, 1) and found.images.dtype == np.uint8
        assert (found.images[..., 0] == images[order]).all(), name
        assert found.labels.tolist() == [0] * 4 + [1] * 4 + [2] * 4 and found.classes == ("0", "1", "2")
        assert found.fingerprint == read_pictures(str(tmp_path / "folder")).fingerprint and len(found) == 12
    assert read_pictures(str(tmp_path / "folder")).names[:2] == ("0/000.png", "0/003.png")


def test_parts_share_their_classes(tmp_path: Path) -> None:
    write_folder(tmp_path / "f" / "train", noise(2), ["rose", "daisy"])
    write_folder(tmp_path / "f" / "test", noise(1), ["rose"])
    write_idx(tmp_path / "train-images-idx3-ubyte", noise(2))
    write_idx(tmp_path / "train-labels-idx1-ubyte", np.array([9, 4], np.uint8))
    write_idx(tmp_path / "t10k-images-idx3-ubyte", noise(1))
    write_idx(tmp_path / "t10k-labels-idx1-ubyte", np.array([9], np.uint8))
    np.savez(
        tmp_path / "a.npz", train_images=noise(2), train_labels=["b", "a"], test_images=noise(1), test_labels=["b"]
    )
    for path, classes in (
        (tmp_path / "f", ("daisy", "rose")),
        (tmp_path, ("4", "9")),
        (tmp_path / "a.npz", ("a", "b")),
    ):
        assert picture_parts(str(path)) == ("train", "test")
        assert read_pictures(str(path), "test").classes == read_pictures(str(path)).classes == classes
        assert read_pictures(str(path), "test").labels.tolist() == [1], (
            "the last class, although it is the only one here"
        )
        refused(path, "has no part `validation`", "its parts are `train`, `test`", "validation")


def test_sizes_modes_and_the_way_a_camera_was_held(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    for name, shape in (("1", (6, 8)), ("2", (6, 8)), ("3", (12, 16))):
        Image.fromarray(np.full(shape, 90, np.uint8)).save(tmp_path / "a" / f"{name}.png")
    grey = read_pictures(str(tmp_path))
    assert grey.images.shape == (3, 6, 8, 1) and grey.resized == (2,) and (grey.images == 90).all()
    assert grey.select([2, 0]).resized == (0,) and grey.select([2, 0]).names == ("a/3.png", "a/1.png")

    colour = np.zeros((6, 8, 3), np.uint8)
    colour[..., 1] = 200
    Image.fromarray(colour).save(tmp_path / "a" / "4.png")
    mixed = read_pictures(str(tmp_path))
    assert mixed.images.shape == (4, 6, 8, 3)
    assert mixed.images[0, 0, 0].tolist() == [90, 90, 90] and mixed.images[3, 0, 0].tolist() == [0, 200, 0]

    held = np.zeros((8, 6, 3), np.uint8)
    held[:, :3] = 255  # left half white
    exif = Image.Exif()
    exif[0x0112] = 6  # turn by 90 degrees clockwise to see it
    Image.fromarray(held).save(tmp_path / "a" / "5.jpg", exif=exif, quality=100)
    turned = read_pictures(str(tmp_path))
    assert turned.resized == (2,) and turned.images.shape == (5, 6, 8, 3), "upright it has the usual size"
    assert turned.images[4, :3].min() > 230 and turned.images[4, 3:].max() < 25, "its left half is now above"


def test_sixteen_bits_palettes_and_transparency(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    Image.fromarray(np.full((2, 2), 0x8001, np.uint16)).save(tmp_path / "a" / "1.png")
    assert read_pictures(str(tmp_path)).images.ravel().tolist() == [0x80] * 4
    Image.fromarray(np.full((2, 2, 3), (9, 200, 30), np.uint8)).quantize(4).save(tmp_path / "a" / "2.png")
    Image.fromarray(np.full((2, 2, 4), (9, 200, 30, 255), np.uint8)).save(tmp_path / "a" / "3.png")
    assert read_pictures(str(tmp_path)).images[:, 0, 0].tolist() == [[128] * 3, [9, 200, 30], [9, 200, 30]]


def test_what_is_transparent_becomes_white(tmp_path: Path) -> None:
    """A black square on transparent black, as pictures of every mode write it."""
    glyph = np.zeros((4, 4, 4), np.uint8)
    glyph[1:3, 1:3, 3] = 255
    expected, path = 255 - glyph[..., 3], tmp_path / "a" / "1.png"
    path.parent.mkdir()
    shades = Image.fromarray(np.where(expected > 0, 9, 0).astype(np.uint8))
    palette = shades.convert("P")
    for name, picture, more in (
        ("RGBA", Image.fromarray(glyph), {}),
        ("LA", Image.fromarray(glyph).convert("LA"), {}),
        ("P", palette, {"transparency": palette.getpixel((0, 0))}),
        ("L", shades, {"transparency": 9}),
        ("RGB", shades.convert("RGB"), {"transparency": (9, 9, 9)}),
    ):
        picture.save(path, **more)
        assert (read_picture(path, (4, 4), "L")[..., 0] == expected).all(), name
        assert (read_picture(path, (4, 4), "RGB") == expected[..., None]).all(), name
    glyph[..., 3] = 128
    Image.fromarray(glyph).save(path)
    assert (read_pictures(str(tmp_path)).images == 127).all(), "half of it"


def test_unreadable_files_are_reported_and_many_are_an_error(tmp_path: Path) -> None:
    write_folder(tmp_path, noise(6), ["a", "b"] * 3)
    whole = (tmp_path / "a" / "004.png").read_bytes()
    (tmp_path / "a" / "004.png").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "b" / "notes.txt").write_text("not a picture")
    (tmp_path / "b" / ".hidden").write_text("not a picture")
    found = read_pictures(str(tmp_path))
    assert len(found) == 5 and "a/004.png" not in found.names
    assert [problem.message.split("` ")[0] for problem in found.problems] == ["`a/004.png", "`b/notes.txt"]
    assert "ends in `.txt`, expected .png .jpg .jpeg" in found.problems[1].message
    report = examine_pictures(found, least=0)
    assert [(f.kind, f.count, f.action) for f in report.findings if f.severity == "warning"] == [
        ("unreadable", 2, "dropped")
    ]
    assert (report.total, report.kept) == (7, 5) and "2 files that cannot be read" in report.text()
    for number in range(9):
        (tmp_path / "a" / f"{number}.gif").write_bytes(b"GIF89a")
    refused(tmp_path, "11 of 16 files cannot be read", "PNG or JPEG")


@pytest.mark.skipif(os.name == "nt", reason="names are characters there, not bytes")
def test_names_that_are_not_utf8(tmp_path: Path) -> None:
    write_folder(tmp_path, noise(6), ["cat", "dog"] * 3)
    odd = os.fsencode(tmp_path / "cat") + b"/H\xe4user.png"
    os.rename(next((tmp_path / "cat").iterdir()), odd)
    found = read_pictures(tmp_path)
    assert len(found.images) == 5 and [p.message for p in found.problems] == ["`cat/H?user.png` has a name that is not UTF-8"]
    os.rename(tmp_path / "dog", os.fsencode(tmp_path) + b"/k\xe4fer")
    refused(tmp_path, r"the folder `k\?fer` has a name that is not UTF-8")


def test_what_holds_no_pictures(tmp_path: Path) -> None:
    refused(tmp_path / "none", "there is no file or folder")
    refused(tmp_path, "there are no folders in", "one folder of PNG or JPEG files for each class")
    (tmp_path / "empty").mkdir()
    refused(tmp_path, "there are no pictures in", "`empty`")
    (tmp_path / "a.bin").write_bytes(b"")
    refused(tmp_path / "a.bin", "cannot read pictures from", "one folder per class")
    (tmp_path / "a.npz").write_bytes(b"no zip")
    refused(tmp_path / "a.npz", "is not an `.npz` archive", "copy")


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"pixels": noise(2)}, "holds the arrays `pixels`"),
        ({"images": noise(3), "labels": [0, 1]}, "holds 3 pictures and 2 labels"),
        ({"images": noise(2)[0], "labels": [0, 1]}, "images of .* are 5 x 4 values"),
        ({"images": noise(2) - 300.0, "labels": [0, 1]}, "type float64 from -"),
        ({"images": noise(2), "labels": [[0, 1], [1, 0]]}, "labels of .* are 2 x 2 values"),
        ({"images": noise(2), "labels": [0.5, 1.5]}, "labels of .* of type float64"),
        ({"images": noise(2), "labels": np.array([{}, {}])}, "cannot read the array `labels`"),
        ({"images": noise(0), "labels": np.zeros(0, int)}, "holds no pictures"),
    ],
)
def test_arrays_that_do_not_fit(tmp_path: Path, arrays: dict[str, np.ndarray], message: str) -> None:
    np.savez(tmp_path / "a.npz", **arrays)
    refused(tmp_path / "a.npz", message)


def test_arrays_of_other_types_and_orders(tmp_path: Path) -> None:
    images = noise(3, shape=(5, 4, 3))
    for name, array in (
        ("fractions", images / 255),
        ("wide", images.astype(np.int64)),
        ("front", images.transpose(0, 3, 1, 2)),
    ):
        np.savez(tmp_path / f"{name}.npz", images=array, labels=[0, 1, 1])
        assert (read_pictures(str(tmp_path / f"{name}.npz")).images == images).all(), name


def test_damaged_idx(tmp_path: Path) -> None:
    images, labels = tmp_path / "train-images-idx3-ubyte", tmp_path / "train-labels-idx1-ubyte"
    write_idx(images, noise(2))
    refused(images, "there are no labels", "one folder")
    write_idx(labels, np.zeros(2, np.uint8))
    images.write_bytes(images.read_bytes()[:-1])
    refused(images, "announces 2 x 5 x 4 values and holds 39", "copy")
    images.write_bytes(b"\0\0\x0d\x03")
    refused(images, "does not begin like an idx file")


def pictures_of(images: np.ndarray, labels: list[int], classes: tuple[str, ...] = ("cat", "dog")) -> Pictures:
    names = tuple(f"{number}.png" for number in range(len(images)))
    return Pictures(images[..., None], np.array(labels, np.int64), classes, names, "animals")


def the(report: Report, kind: str) -> Finding:
    assert [finding.kind for finding in report.findings] == [kind], report.text()
    return report.findings[0]


def test_the_doctor() -> None:
    images, labels = noise(300), [0, 1] * 150
    good = examine_pictures(pictures_of(images, labels))
    assert (
        good.findings == ()
        and "4 x 5 pixels, grey" in good.text()
        and "2 classes: `cat` 50.0%, `dog` 50.0%" in good.text()
    )
    assert json.loads(json.dumps(good.to_json())) == good.to_json()
    copied = images.copy()
    copied[[20, 31]] = images[0]  # 20 is a cat as 0 is, 31 is a dog
    report = examine_pictures(pictures_of(copied, labels))
    found = {finding.kind: finding.lines for finding in report.findings}
    assert found == {"contradiction": (1, 21, 32), "duplicate": (21,)} and "(pictures 1, 21, 32)" in report.text()
    blank = images.copy()
    blank[7] = 255
    assert the(examine_pictures(pictures_of(blank, labels)), "blank").examples == ("dog: 7.png",)
    assert examine_pictures(pictures_of(images, [0] * 300, ("cat",))).errors[0].kind == "one-class"
    assert (
        the(examine_pictures(pictures_of(images, labels, ("cat", "dog", "emu"))), "empty-class").severity == "warning"
    )
    assert "too little data: 8 pictures" in examine_pictures(pictures_of(images[:8], labels[:8])).text()


def test_what_is_held_out_is_not_learned_from() -> None:
    images, labels = noise(300), [0, 1] * 150
    held_out = np.zeros(300, dtype=bool)
    held_out[[4, 9]] = True
    finding = the(report := examine_pictures(pictures_of(images, labels), held_out=held_out), "held-out")
    assert (finding.lines, finding.action, report.kept) == ((5, 10), "dropped", 298)
    assert "2 pictures also among the held-out pictures (pictures 5, 10): will be dropped" in report.text()
    with pytest.raises(DataError, match="nothing is left of animals: every picture is also held out"):
        examine_pictures(pictures_of(images, labels), held_out=np.ones(300, dtype=bool))


def test_the_fingerprint_knows_pixels_labels_classes_and_shape() -> None:
    images = noise(4)
    changed = images.copy()
    changed[3, 2, 1] ^= 1
    others = [
        pictures_of(images, [0, 1, 0, 1]),
        pictures_of(changed, [0, 1, 0, 1]),
        pictures_of(images, [0, 1, 1, 0]),
        pictures_of(images, [0, 1, 0, 1], ("dog", "cat")),
        pictures_of(images.reshape(4, 4, 5), [0, 1, 0, 1]),
    ]
    assert len({other.fingerprint for other in others}) == 5


@pytest.mark.skipif(not MNIST.exists(), reason="the file is not on this computer")
def test_the_real_mnist() -> None:
    train, test = (read_pictures(str(MNIST), part) for part in picture_parts(str(MNIST)))
    assert train.images.shape == (60000, 28, 28, 1) and test.images.shape == (10000, 28, 28, 1)
    assert train.labels[:10].tolist() == [5, 0, 4, 1, 9, 2, 1, 3, 1, 4]
    published = [5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949]
    assert np.bincount(train.labels).tolist() == published
    assert train.images.mean() / 255 == pytest.approx(0.1307, abs=1e-4)
