"""Pictures from arrays: `.npz` (a zip of numpy arrays) and idx (LeCun et al. 1998, the format of MNIST).

    idx:  0 0 type dimensions | size of each dimension, four bytes, big-endian | values       type 8: unsigned bytes

Nothing here can run code: arrays of Python objects, which would need pickle, are refused.
"""

import struct
import zipfile
import zlib
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy

from headway.core.errors import DataError
from headway.data.input_file import InputFile
from headway.data.messages import count_noun, list_names
from headway.data.pictures import Pictures

IDX_IMAGES, IDX_LABELS = "images-idx3-ubyte", "labels-idx1-ubyte"
NAMES = {
    "train": (("x_train", "y_train"), ("train_images", "train_labels"), ("images", "labels"), ("x", "y")),
    "validation": (("x_val", "y_val"), ("val_images", "val_labels")),
    "test": (("x_test", "y_test"), ("test_images", "test_labels")),
}
Parts = dict[str, Callable[[], Pictures]]


def find_npz(path: Path) -> Parts:
    try:
        with zipfile.ZipFile(path) as archive:
            members = {name.removesuffix(".npy") for name in archive.namelist()}
    except (zipfile.BadZipFile, OSError, RuntimeError) as problem:  # a version that no program writes is not implemented
        raise DataError(
            f"`{path}` is not an `.npz` archive: {str(problem).lower()}", "copy the file again."
        ) from problem
    found = {part: pair for part, pairs in NAMES.items() for pair in reversed(pairs) if set(pair) <= members}
    if not found:
        expected = "`x_train` and `y_train`, `train_images` and `train_labels`, or `images` and `labels`"
        raise DataError(f"`{path}` holds the arrays {list_names(sorted(members))}", f"expected {expected}.")
    every = {part: read_npz(path, labels) for part, (_, labels) in found.items()}
    return {part: partial(npz_part, path, found[part][0], every, part) for part in found}


def npz_part(path: Path, images: str, every: dict[str, np.ndarray], part: str) -> Pictures:
    return as_pictures(read_npz(path, images), every, part, str(path))


def read_npz(path: Path, name: str) -> np.ndarray:
    try:
        with zipfile.ZipFile(path) as archive, archive.open(f"{name}.npy") as file:
            array: np.ndarray = npy.read_array(file, allow_pickle=False)
            return array
    except (ValueError, OSError, EOFError, RuntimeError, zlib.error, zipfile.BadZipFile) as problem:
        hint = "save numbers, not Python objects; or copy the file again."
        raise DataError(f"cannot read the array `{name}` of `{path}`: {str(problem).lower()}", hint) from problem


def find_idx(files: Sequence[Path], origin: str) -> Parts:
    """`train-images-idx3-ubyte` is the part `train`, `t10k-...` and `test-...` the part `test`."""
    parts = {"test" if file.name.startswith(("t10k", "test")) else "train": file for file in files}
    every = {}
    for part, file in parts.items():
        beside = file.with_name(file.name.replace(IDX_IMAGES, IDX_LABELS))
        if not beside.exists():
            raise DataError(f"there are no labels `{beside}` beside `{file}`", "put both files into one folder.")
        every[part] = read_idx(beside)
    return {part: partial(idx_part, parts[part], every, part, origin) for part in sorted(parts, key=list(NAMES).index)}


def idx_part(file: Path, every: dict[str, np.ndarray], part: str, origin: str) -> Pictures:
    return as_pictures(read_idx(file), every, part, origin)


def read_idx(path: Path) -> np.ndarray:
    with InputFile(str(path)).open() as file:
        data = file.read()
    hint = "copy the file again; it should be an `idx` file of unsigned bytes."
    dimensions = data[3] if len(data) > 3 else 0
    begin = 4 + 4 * dimensions
    if data[:3] != b"\0\0\x08" or not dimensions or len(data) < begin:
        raise DataError(f"`{path}` does not begin like an idx file", hint)
    shape = struct.unpack(f">{dimensions}I", data[4:begin])
    values = int(np.prod(shape, dtype=np.int64))
    if len(data) - begin != values:
        size = " x ".join(map(str, shape))
        raise DataError(f"`{path}` announces {size} values and holds {len(data) - begin:,}", hint)
    return np.frombuffer(data, np.uint8, offset=begin).reshape(shape).copy()  # torch wants arrays it may write to


def as_pictures(images: np.ndarray, every: dict[str, np.ndarray], part: str, origin: str) -> Pictures:
    """Arrays of any of the usual shapes as pictures; `every` holds the labels of all parts, which give the classes."""
    images = as_bytes(with_channels(images, origin), origin)
    flat = {name: as_column(labels, origin) for name, labels in every.items()}
    classes = np.unique(np.concatenate(list(flat.values())))
    if len(flat[part]) != len(images):
        counts = f"{count_noun(len(images), 'picture')} and {count_noun(len(flat[part]), 'label')}"
        raise DataError(f"`{origin}` holds {counts}", "every picture needs one label.")
    if not len(images):
        raise DataError(f"`{origin}` holds no pictures", "expected at least one.")
    names = tuple(f"picture {number}" for number in range(1, len(images) + 1))
    labels = np.searchsorted(classes, flat[part]).astype(np.int64)
    return Pictures(images, labels, tuple(map(str, classes.tolist())), names, origin)


def as_column(labels: np.ndarray, origin: str) -> np.ndarray:
    """One label per picture; CIFAR stores them as a column."""
    if labels.ndim == 2 and labels.shape[1] == 1:
        return labels[:, 0]
    if labels.ndim != 1 or labels.dtype.kind not in "iubU":
        expected = "expected one whole number or name per picture."
        raise DataError(f"the labels of `{origin}` are {describe(labels)}", expected)
    return labels


def with_channels(images: np.ndarray, origin: str) -> np.ndarray:
    """n y x c; grey pictures have no axis for it, and torch keeps it in front."""
    if images.ndim == 3:
        return images[..., None]
    if images.ndim == 4 and images.shape[3] in (1, 3):
        return images
    if images.ndim == 4 and images.shape[1] in (1, 3):
        return np.moveaxis(images, 1, 3)
    expected = "expected (pictures, rows, columns), with a last axis of 1 (grey) or 3 (colour)."
    raise DataError(f"the images of `{origin}` are {describe(images)}", expected)


def as_bytes(images: np.ndarray, origin: str) -> np.ndarray:
    """0 to 255; fractions from 0 to 1 are scaled."""
    if images.dtype == np.uint8:
        return np.ascontiguousarray(images)
    low, high = (float(images.min()), float(images.max())) if images.size else (0.0, 0.0)
    if images.dtype.kind == "f" and 0 <= low <= high <= 1:
        return np.rint(images * 255).astype(np.uint8)
    if images.dtype.kind in "iuf" and 0 <= low <= high <= 255:
        return np.rint(images).astype(np.uint8)
    hint = "expected bytes from 0 to 255 or fractions from 0 to 1."
    raise DataError(f"the images of `{origin}` are {describe(images)} from {low:g} to {high:g}", hint)


def describe(array: np.ndarray[Any, Any]) -> str:
    return f"{' x '.join(map(str, array.shape))} values of type {array.dtype}"
