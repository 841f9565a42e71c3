"""Pictures with classes: from a person's files to a part to learn from and parts that are held out, kept in the run."""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch

from headway.core.errors import RunError
from headway.core.files import read_note, read_tensors, write_tensors
from headway.data.doctor_pictures import digests, examine_pictures
from headway.data.picture_arrays import as_pictures, read_idx
from headway.data.picture_files import find_parts
from headway.data.picture_frame import resize
from headway.data.pictures import Pictures
from headway.tasks.labels import LabelledCorpus, set_apart


def collect_pictures(
    path: str, labels: str | None, brought: Mapping[str, str], side: int | None, seed: int
) -> LabelledCorpus[Pictures]:
    """Read, examine, set apart; all parts in the size and the channels of the training part."""
    parts = read_parts(path, labels, side)
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


def read_parts(path: str, labels: str | None, side: int | None = None) -> dict[str, Pictures]:
    """What a path holds; the labels of an idx file are found beside it unless they are given."""
    if labels is not None:
        return {"train": as_pictures(read_idx(Path(path)), {"train": read_idx(Path(labels))}, "train", path)}
    return {name: read() for name, read in find_parts(path, side).items()}


def read_evaluated(path: str, labels: str | None, side: int | None = None) -> Pictures:
    """Pictures to be judged by: the part `test` if there is one, otherwise all."""
    parts = read_parts(path, labels, side)
    return parts["test"] if "test" in parts else next(iter(parts.values()))


# -- in the run -------------------------------------------------------------------------------------------------------


def write_held_out(parts: Mapping[str, Pictures], folder: Path) -> None:
    """The held-out parts, with the names of classes and files: the run is judged without the person's files."""
    (folder / "held_out").mkdir(exist_ok=True)
    for name, part in parts.items():
        tensors = {"images": torch.from_numpy(part.images), "labels": torch.from_numpy(part.labels)}
        note = json.dumps({"classes": part.classes, "names": part.names}, ensure_ascii=False)
        write_tensors(folder / "held_out" / f"{name}.safetensors", tensors, note)


def read_held_out(folder: Path) -> dict[str, Pictures]:
    """The parts that the run keeps; a damaged file is reported."""
    hint = "restore the file from a copy, or train again."
    parts: dict[str, Pictures] = {}
    for path in sorted((folder / "held_out").glob("*.safetensors")):
        tensors = read_tensors(path)
        try:
            note = json.loads(read_note(path))
            images, labels = tensors["images"].numpy(), tensors["labels"].numpy()
            found = Pictures(images, labels, tuple(note["classes"]), tuple(note["names"]), str(path))
            whole = images.ndim == 4 and len(images) == len(labels) == len(found.names) > 0
            whole = whole and 0 <= labels.min() <= labels.max() < len(found.classes)
        except (ValueError, KeyError, TypeError) as problem:
            raise RunError(f"`{path}` is damaged: {problem}", hint) from problem
        if not whole:
            raise RunError(f"`{path}` is damaged: pictures, labels and names do not fit together", hint)
        parts[path.stem] = found
    if "validation" not in parts:
        raise RunError(f"`{folder / 'held_out' / 'validation.safetensors'}` is missing", hint)
    return parts
