"""The doctor of pictures: unreadable files, odd sizes, copies, blank pictures, doubtful labels, and the balance of the classes.

Dropped, reported:  files that could not be read; pictures that are held out.
An error:           one class only, because there is nothing to learn; nothing left.
"""

import hashlib
from collections import Counter, defaultdict

import numpy as np
from jaxtyping import Bool

from headway.core.errors import DataError
from headway.data.doctor_labels import describe_classes, examine_balance
from headway.data.doctor_neighbours import NEARLY_ALL, NEIGHBOURS, doubtful_labels
from headway.data.findings import Examination, Report
from headway.data.messages import count_noun, excerpt
from headway.data.pictures import Pictures

LEAST_PICTURES = 200  # with fewer a model learns them by heart


def examine_pictures(
    pictures: Pictures, least: int = LEAST_PICTURES, held_out: Bool[np.ndarray, "n"] | None = None
) -> Report:
    """What is odd about the pictures; `held_out` says which of them the model is to be judged by: nothing is learned from those."""
    labels = pictures.label_names
    numbers = [i + 1 for i in range(len(pictures))]
    seen = Examination(numbers, "picture", lambda i: f"{excerpt(labels[i], 20)}: {pictures.names[i]}", "picture")
    seen.report_unreadable(pictures.problems, "file")
    if held_out is not None:
        seen.drop("held-out", held_out, "also among the held-out pictures")
    kept = np.flatnonzero(seen.alive).tolist()
    if not kept:
        hint = "learn from other pictures than those that you test with."
        raise DataError(f"nothing is left of {pictures.origin}: every picture is also held out", hint)
    height, width, channels = pictures.images.shape[1:]
    message = f"{count_noun(len(pictures.resized), 'picture')} of another size, made {width} x {height}"
    seen.report("odd-size", pictures.resized, "note", message)
    examine_copies(seen, pictures, labels)
    flat = pictures.images.reshape(len(pictures), -1)
    blank = np.flatnonzero(flat.min(axis=1) == flat.max(axis=1)).tolist()
    seen.report("blank", blank, "warning", f"{count_noun(len(blank), 'picture')} of a single colour")
    examine_neighbours(seen, pictures, kept)
    counts = Counter(labels[i] for i in kept)
    examine_balance(seen, counts, labels, kept)
    missing = [name for name in pictures.classes if name not in counts]
    if missing:
        message = (
            f"{count_noun(len(missing), 'class')} without a picture: {', '.join(f'`{name}`' for name in missing[:5])}"
        )
        seen.report_all("empty-class", "warning", message, len(missing))
    if len(kept) < least:
        message = f"too little data: {count_noun(len(kept), 'picture')}; a model needs at least about {least:,}"
        seen.report_all("little-data", "warning", message, len(kept))
    statistics = {
        "pictures": len(kept),
        "size": [width, height],
        "channels": channels,
        "classes": dict(counts.most_common()),
        "majority": counts.most_common(1)[0][1] / len(kept),
        "mean": float(pictures.images.mean()),
    }
    colour = "grey" if channels == 1 else "colour"
    summary = (f"{width} x {height} pixels, {colour}", describe_classes(counts))
    total = len(pictures) + len(pictures.problems)
    return Report(pictures.origin, total, len(kept), seen.finish(), statistics, "picture", summary)


def examine_copies(seen: Examination, pictures: Pictures, labels: tuple[str, ...]) -> None:
    """Pictures that come again pixel by pixel: in the same class, and in another one."""
    keys = digests(pictures)
    given: dict[bytes, set[str]] = defaultdict(set)
    again: list[int] = []
    for i, key in enumerate(keys):
        if labels[i] in given[key]:
            again.append(i)
        given[key].add(labels[i])
    seen.report("duplicate", again, "note", f"{count_noun(len(again), 'picture')} seen before in the same class")
    torn = [i for i, key in enumerate(keys) if len(given[key]) > 1]
    message = f"{count_noun(len(torn), 'picture')} that also stand in another class: one of them is wrong"
    seen.report("contradiction", torn, "warning", message)


def examine_neighbours(seen: Examination, pictures: Pictures, kept: list[int]) -> None:
    """Pictures that look like those of another class: a wrong label, or a picture that is hard to tell."""
    found = doubtful_labels(pictures.images[kept], pictures.labels[kept])
    doubtful = {kept[i]: pictures.classes[label] for i, label in found.items()}
    message = (
        f"{count_noun(len(doubtful), 'picture')} whose label may be wrong: of the {NEIGHBOURS} most similar pictures"
    )
    message += f" at least {NEARLY_ALL} have one other label"
    examples = [f"{seen.show(i)} (its neighbours: {excerpt(label, 20)})" for i, label in doubtful.items()]
    seen.report("doubtful-label", list(doubtful), "note", message, examples=examples)


def digests(pictures: Pictures) -> list[bytes]:
    """A short digest of the pixels of each picture: equal for copies."""
    return [hashlib.blake2b(np.ascontiguousarray(image).data, digest_size=16).digest() for image in pictures.images]
