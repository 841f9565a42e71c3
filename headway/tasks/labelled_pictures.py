"""Pictures with classes: from a person's files to a part to learn from and parts that are held out, kept in the run."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from headway.core.files import read_arrays, write_arrays
from headway.data.doctor_pictures import digests, examine_pictures
from headway.data.picture_arrays import as_pictures, read_idx
from headway.data.picture_files import find_parts
from headway.data.picture_frame import resize
from headway.data.pictures import Pictures
from headway.tasks.held_out import read_parts, write_parts
from headway.tasks.labels import LabelledCorpus, set_apart


def collect_pictures(
    path: str, labels: str | None, brought: Mapping[str, str], side: int | None, seed: int
) -> LabelledCorpus[Pictures]:
    """Read, examine, set apart; all parts in the size and the channels of the training part."""
    parts = picture_parts(path, labels, side)
    first = "train" if "train" in parts else next(iter(parts))  # one idx file is to learn from, whatever its name says
    parts = {"train": parts[first]} | {name: part for name, part in parts.items() if name != first}
    for name, folder in brought.items():
        parts[name] = read_evaluated(folder, None, side)
    if len(parts) > 1:  # reports and messages name the part
        parts = {name: replace(part, origin=f"{part.origin} ({name})") for name, part in parts.items()}
    height, width, channels = parts["train"].images.shape[1:]
    shape = (side, side, channels) if side else (height, width, channels)
    fitted = {name: resize(part, *shape) for name, part in parts.items()}
    train = fitted.pop("train")
    keys, hidden = digests(train), {key for part in fitted.values() for key in digests(part)}
    also_held_out = np.array([key in hidden for key in keys], dtype=bool)
    reports = tuple(
        examine_pictures(part, held_out=also_held_out if name == "train" else None) for name, part in parts.items()
    )
    kept = np.flatnonzero(~also_held_out).tolist()
    train, keys = train.select(kept), [keys[i] for i in kept]
    train, held_out = set_apart(train, fitted, train.label_names, keys, seed, path)
    return LabelledCorpus(train, held_out, reports, "pictures")


def picture_parts(path: str, labels: str | None, side: int | None = None) -> dict[str, Pictures]:
    """What a path holds; the labels of an idx file are found beside it unless they are given."""
    if labels is not None:
        return {"train": as_pictures(read_idx(Path(path)), {"train": read_idx(Path(labels))}, "train", path)}
    return {name: read() for name, read in find_parts(path, side).items()}


def read_evaluated(path: str, labels: str | None, side: int | None = None) -> Pictures:
    """Pictures to be judged by: the part `test` if there is one, otherwise all."""
    parts = picture_parts(path, labels, side)
    return parts["test"] if "test" in parts else next(iter(parts.values()))


# -- in the run -------------------------------------------------------------------------------------------------------


def write_held_out(parts: Mapping[str, Pictures], folder: Path) -> None:
    """The held-out parts, with the names of classes and files."""

    def write(path: Path, part: Pictures) -> None:
        note = {"classes": part.classes, "names": part.names}
        write_arrays(path, {"images": part.images, "labels": part.labels}, note)

    write_parts(parts, folder, ".safetensors", write)


def read_held_out(folder: Path) -> dict[str, Pictures]:
    def read(path: Path) -> Pictures:
        arrays, note = read_arrays(path)
        images, labels = arrays["images"], arrays["labels"]
        found = Pictures(images, labels, tuple(note["classes"]), tuple(note["names"]), str(path))
        fits = images.ndim == 4 and len(images) == len(labels) == len(found.names) > 0
        if not (fits and 0 <= labels.min() <= labels.max() < len(found.classes)):
            raise ValueError("pictures, labels and names do not fit together")
        return found

    return read_parts(folder, ".safetensors", read)
