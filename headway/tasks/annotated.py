"""Pictures with boxes: from a person's folders, or drawn, to a part to learn from and parts that are held out, kept in the run."""

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from headway.core.files import read_arrays, write_arrays
from headway.data.annotated_files import read_annotated
from headway.data.annotated_pictures import AnnotatedPictures
from headway.data.findings import Report, drop_held_out
from headway.data.picture_frame import resize_images
from headway.tasks.held_out import read_parts, write_parts
from headway.tasks.labels import LabelledCorpus, set_apart


def collect_annotated(
    path: str, brought: Mapping[str, str], side: int | None, seed: int
) -> LabelledCorpus[AnnotatedPictures]:
    """Read, examine, set apart; all parts in the size and the channels of the training part, which holds no held-out picture."""
    parts, reports = {}, []
    for name, folder in {"train": path, **brought}.items():
        parts[name], found = read_annotated(folder, side)
        reports.append(replace(found, origin=f"{folder} ({name})") if brought else found)
    height, width, channels = parts["train"].images.shape[1:]
    fitted = {n: replace(p, images=resize_images(p.images, height, width, channels)) for n, p in parts.items()}
    train = fitted.pop("train")
    held_out = {key for part in fitted.values() for key in digests(part)}
    hidden = np.array([key in held_out for key in digests(train)], dtype=bool)
    reports[0] = drop_held_out(reports[0], train.names, hidden, "picture", int(hidden[train.owners].sum()))
    return apart(train.select(np.flatnonzero(~hidden).tolist()), fitted, tuple(reports), seed, path)


def digests(pictures: AnnotatedPictures) -> list[bytes]:
    """A short digest of the pixels of each picture: equal for copies."""
    return [hashlib.blake2b(np.ascontiguousarray(image).data, digest_size=16).digest() for image in pictures.images]


def apart(
    train: AnnotatedPictures,
    held_out: dict[str, AnnotatedPictures],
    reports: tuple[Report, ...],
    seed: int,
    origin: str,
) -> LabelledCorpus[AnnotatedPictures]:
    """What a person did not bring is split off at random; copies of a picture stay together, in training."""
    train, held_out = set_apart(train, held_out, [""] * len(train), digests(train), seed, origin)
    return LabelledCorpus(train, held_out, reports, "pictures")


# -- in the run -------------------------------------------------------------------------------------------------------


def write_held_out(parts: Mapping[str, AnnotatedPictures], folder: Path) -> None:
    def write(path: Path, part: AnnotatedPictures) -> None:
        arrays = {"images": part.images, "boxes": part.boxes, "labels": part.labels, "owners": part.owners}
        write_arrays(path, arrays, {"classes": part.classes, "names": part.names})

    write_parts(parts, folder, ".safetensors", write)


def read_held_out(folder: Path) -> dict[str, AnnotatedPictures]:
    def read(path: Path) -> AnnotatedPictures:
        arrays, note = read_arrays(path)
        images, boxes, labels, owners = (arrays[key] for key in ("images", "boxes", "labels", "owners"))
        classes, names = tuple(note["classes"]), tuple(note["names"])
        found = AnnotatedPictures(images, boxes, labels, owners, classes, names, str(path))
        fits = images.ndim == 4 and len(names) == len(found) > 0
        fits = fits and boxes.shape == (len(labels), 4) and len(labels) == len(owners)
        fits = fits and bool((owners < len(found)).all() and (np.diff(owners) >= 0).all())
        if not (fits and bool((labels < len(classes)).all())):
            raise ValueError("pictures, boxes and names do not fit together")
        return found

    return read_parts(folder, ".safetensors", read)
