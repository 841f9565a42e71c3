"""The doctor of pictures: unreadable files, odd sizes, copies, blank pictures, and the balance of the classes.

Nothing is dropped but what could not be read. One class only is an error, because there is nothing to learn.
"""

import hashlib
from collections import Counter, defaultdict

import numpy as np

from headway.data.doctor_labels import describe_classes, examine_balance
from headway.data.findings import Examination, Report
from headway.data.messages import count_noun, excerpt
from headway.data.pictures import Pictures

LEAST_PICTURES = 200  # with fewer a model learns them by heart


def examine_pictures(pictures: Pictures, least: int = LEAST_PICTURES) -> Report:
    """What is odd about the pictures."""
    labels = pictures.label_names
    every = list(range(len(pictures)))
    numbers = [i + 1 for i in every]
    seen = Examination(numbers, "picture", lambda i: f"{excerpt(labels[i], 20)}: {pictures.names[i]}", "picture")
    seen.report_unreadable(pictures.problems, "file")
    height, width, channels = pictures.images.shape[1:]
    message = f"{count_noun(len(pictures.resized), 'picture')} of another size, made {width} x {height}"
    seen.report("odd-size", pictures.resized, "note", message)
    examine_copies(seen, pictures, labels)
    flat = pictures.images.reshape(len(pictures), -1)
    blank = np.flatnonzero(flat.min(axis=1) == flat.max(axis=1)).tolist()
    seen.report("blank", blank, "warning", f"{count_noun(len(blank), 'picture')} of a single colour")
    counts = Counter(labels)
    examine_balance(seen, counts, labels, every)
    missing = [name for name in pictures.classes if name not in counts]
    if missing:
        message = (
            f"{count_noun(len(missing), 'class')} without a picture: {', '.join(f'`{name}`' for name in missing[:5])}"
        )
        seen.report_all("empty-class", "warning", message, len(missing))
    if len(pictures) < least:
        message = f"too little data: {count_noun(len(pictures), 'picture')}; a model needs at least about {least:,}"
        seen.report_all("little-data", "warning", message, len(pictures))
    statistics = {
        "pictures": len(pictures),
        "size": [width, height],
        "channels": channels,
        "classes": dict(counts.most_common()),
        "majority": counts.most_common(1)[0][1] / len(pictures),
        "mean": float(pictures.images.mean()),
    }
    colour = "grey" if channels == 1 else "colour"
    summary = (f"{width} x {height} pixels, {colour}", describe_classes(counts))
    total = len(pictures) + len(pictures.problems)
    return Report(pictures.origin, total, len(pictures), seen.finish(), statistics, "picture", summary)


def examine_copies(seen: Examination, pictures: Pictures, labels: tuple[str, ...]) -> None:
    """Pictures that come again pixel by pixel: in the same class, and in another one."""
    keys = [hashlib.blake2b(np.ascontiguousarray(image).data, digest_size=16).digest() for image in pictures.images]
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
