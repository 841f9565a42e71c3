"""Pictures from a folder with one folder per class: PNG and JPEG.

All are brought to one size, the most frequent one or `side` x `side`; others are resized and reported. They stay grey if all of them are
grey, otherwise all become colour; what is transparent becomes white. Headers are read first, so that memory holds the final array and
one picture.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import numpy as np
from PIL import Image, ImageOps

from headway.core.errors import DataError
from headway.data.messages import list_names
from headway.data.pictures import Pictures
from headway.data.rows import Problem, raise_unreadable

SUFFIXES = (".png", ".jpg", ".jpeg")
PARTS = {"train": ("train", "training"), "validation": ("validation", "val", "valid"), "test": ("test", "testing")}
GREY = ("1", "L", "LA", "I;16", "I")
BROKEN = (OSError, ValueError, SyntaxError, Image.DecompressionBombError)  # what Pillow raises for a damaged file
Parts = dict[str, Callable[[], Pictures]]


def find_folders(root: Path, side: int | None = None) -> Parts:
    """The folders `train`, `validation` and `test` if there are any, otherwise the whole folder as `train`."""
    there = {folder.name.lower(): folder for folder in folders_in(root)}
    parts = {part: there[name] for part, names in PARTS.items() for name in names if name in there}
    parts = parts if "train" in parts else {"train": root}
    classes = sorted({folder.name for part in parts.values() for folder in folders_in(part)})
    if not classes:
        expected = "expected one folder of PNG or JPEG files for each class, named after the class."
        raise DataError(f"there are no folders in `{root}`", expected)
    if odd := [name for name in classes if not is_text(name)]:
        raise DataError(f"the folder `{readable(odd[0])}` has a name that is not UTF-8", "rename it, then train again.")
    return {part: partial(read_folder, folder, classes, str(root), side) for part, folder in parts.items()}


def folders_in(root: Path) -> list[Path]:
    return sorted(path for path in root.iterdir() if path.is_dir() and not path.name.startswith("."))


def is_text(name: str) -> bool:
    """Whether a file name is UTF-8; the bytes of others come as halves of characters, which no file can hold."""
    return not any("\ud800" <= character <= "\udfff" for character in name)


def readable(name: str) -> str:
    return name.encode("utf-8", "replace").decode()


def read_folder(root: Path, classes: Sequence[str], origin: str, side: int | None = None) -> Pictures:
    files: list[tuple[int, Path, int]] = []
    bad: list[Problem] = []
    for path in sorted(path for name in classes for path in (root / name).rglob("*") if path.is_file()):
        relative = path.relative_to(root)
        if any(part.startswith(".") for part in relative.parts):
            continue
        number = len(files) + len(bad) + 1
        if is_text(str(relative)):
            files.append((number, path, classes.index(relative.parts[0])))
        else:
            bad.append(Problem(number, f"`{readable(str(relative))}` has a name that is not UTF-8"))
    headers: list[tuple[int, Path, int, tuple[int, int], str]] = []
    for number, path, label in files:
        try:
            headers.append((number, path, label, *read_header(path)))
        except BROKEN as problem:
            bad.append(Problem(number, explain(path, root, problem)))
    if not headers:
        raise_unreadable(bad, 0, origin, "expected PNG or JPEG files.", "file")
        raise DataError(
            f"there are no pictures in `{root}`", f"expected PNG or JPEG files in {list_names(classes[:5])}."
        )
    size = (side, side) if side else most_frequent([header[3] for header in headers])
    mode = "L" if all(header[4] in GREY for header in headers) else "RGB"
    images = np.zeros((len(headers), size[1], size[0], len(mode)), dtype=np.uint8)
    labels: list[int] = []
    names: list[str] = []
    resized: list[int] = []
    for number, path, label, own, _ in headers:
        try:
            images[len(names)] = read_picture(path, size, mode)
        except BROKEN as problem:
            bad.append(Problem(number, explain(path, root, problem)))
            continue
        resized += [len(names)] * (own != size)
        labels.append(label)
        names.append(str(path.relative_to(root)))
    raise_unreadable(bad, len(names), origin, "expected PNG or JPEG files.", "file")
    bad.sort(key=lambda problem: problem.line)
    kept = images[: len(names)]
    return Pictures(kept, np.array(labels, np.int64), tuple(classes), tuple(names), origin, tuple(bad), tuple(resized))


def read_header(path: Path) -> tuple[tuple[int, int], str]:
    """Width and height as the picture is to be seen, and the mode; the pixels are not read."""
    if path.suffix.lower() not in SUFFIXES:
        raise ValueError(f"ends in `{path.suffix}`, expected {' '.join(SUFFIXES)}")
    with Image.open(path) as picture:
        turned = picture.getexif().get(0x0112, 1) >= 5  # cameras store how they were held
        width, height = picture.size
        return ((height, width) if turned else (width, height)), picture.mode


def read_picture(path: Path, size: tuple[int, int], mode: str) -> np.ndarray:
    with Image.open(path) as picture:
        upright = ImageOps.exif_transpose(picture)
        if upright.mode in ("I;16", "I"):  # 16 bits per pixel
            upright = Image.fromarray((np.asarray(upright).astype(np.int64) >> 8).astype(np.uint8))
        if upright.has_transparency_data:  # what is transparent has some colour, often black
            white = Image.new("RGBA", upright.size, "white")
            upright = Image.alpha_composite(white, upright.convert("RGBA"))
        whole = upright.convert(mode)
        if whole.size != size:
            whole = whole.resize(size, Image.Resampling.BILINEAR)
        return np.asarray(whole).reshape(size[1], size[0], len(mode))


def most_frequent(sizes: Sequence[tuple[int, int]]) -> tuple[int, int]:
    """Of two that are as frequent, the smaller one."""
    counts = Counter(sizes)
    return min(counts, key=lambda size: (-counts[size], size))


def explain(path: Path, root: Path, problem: Exception) -> str:
    reason = str(problem).partition(" '")[0].partition(": ")[0] if isinstance(problem, OSError) else str(problem)
    return f"`{path.relative_to(root)}` {reason}"
