"""Reading pictures with boxes: a folder of PNG or JPEG files with a table `boxes.csv` beside them, in pixels.

    file,class,left,top,right,bottom
    street.png,car,12,40,88,97
    street.png,dog,101,60,120,97

What is odd is reported as it is read. Boxes that reach beyond the edge are cut; boxes without an area, copies, and boxes of files that
cannot be read are dropped. A picture without a box is kept: on it there is nothing to be found.
"""

import hashlib
from collections import Counter
from pathlib import Path

import numpy as np

from headway.core.errors import DataError
from headway.data.annotated_pictures import BOXES, HEADER, AnnotatedPictures
from headway.data.cells import to_number
from headway.data.findings import Examination, Report
from headway.data.messages import count_noun
from headway.data.picture_folders import BROKEN, GREY, SUFFIXES, explain, most_frequent, read_header, read_picture
from headway.data.rows import Problem, raise_unreadable
from headway.data.table import Table, read_table

LEAST_PICTURES = 200  # with fewer a model learns them by heart


def read_annotated(path: str, side: int | None = None) -> tuple[AnnotatedPictures, Report]:
    """The pictures and boxes of a folder, and what is odd about them; pictures are `side` x `side` if that is given."""
    root = Path(path)
    if not root.is_dir():
        raise DataError(f"there is no folder `{path}`", f"looked in `{root.resolve().parent}`.")
    if not (root / BOXES).exists():
        hint = f"its first line is `{','.join(HEADER)}`; each further line is one object, in pixels."
        raise DataError(f"there is no table `{BOXES}` in `{path}`", hint)
    table = read_table(str(root / BOXES), HEADER)
    pictures = read_files(root, side)
    sizes: dict[str, tuple[int, int]] = {}
    for name in pictures.names:
        sizes[name] = read_header(root / name)[0]
    shown = [f"{table.column('file')[i]}: {table.column('class')[i]}" for i in range(len(table))]
    seen = Examination(table.lines, "object", lambda i: shown[i])
    seen.report_unreadable(pictures.problems, "file")
    seen.report_unreadable(table.problems)
    boxes = examine_boxes(seen, table, sizes)
    rows = np.flatnonzero(seen.alive)
    if not len(rows):
        raise DataError(
            f"`{root / BOXES}` holds no usable box: {seen.findings[0].message}", "see `headway data check`."
        )
    number = {name: i for i, name in enumerate(pictures.names)}
    owners = np.array([number[table.column("file")[row]] for row in rows])
    order = np.argsort(owners, kind="stable")
    classes = tuple(sorted({table.column("class")[row] for row in rows}))
    labels = np.array([classes.index(table.column("class")[row]) for row in rows])
    examine_pictures(seen, pictures, owners)
    placed = (boxes[rows][order], labels[order], owners[order], classes)
    found = AnnotatedPictures(pictures.images, *placed, pictures.names, path, pictures.problems, pictures.resized)
    return found, report(found, seen, len(table))


def read_files(root: Path, side: int | None) -> AnnotatedPictures:
    """All pictures in the folder, without boxes yet, in one size; grey if all are."""
    paths = [file for file in sorted(root.rglob("*")) if file.suffix.lower() in SUFFIXES and file.is_file()]
    headers: list[tuple[int, Path, tuple[int, int], str]] = []
    bad: list[Problem] = []
    for number, file in enumerate(paths, 1):
        try:
            headers.append((number, file, *read_header(file)))
        except BROKEN as problem:
            bad.append(Problem(number, explain(file, root, problem)))
    raise_unreadable(bad, len(headers), str(root), "expected PNG or JPEG files.", "file")
    if not headers:
        raise DataError(f"there are no pictures in `{root}`", f"expected files that end in {' '.join(SUFFIXES)}.")
    size = (side, side) if side else most_frequent([header[2] for header in headers])
    mode = "L" if all(header[3] in GREY for header in headers) else "RGB"
    images, names, resized = [], list[str](), list[int]()
    for number, file, own, _ in headers:
        try:
            images.append(read_picture(file, size, mode))
        except BROKEN as problem:
            bad.append(Problem(number, explain(file, root, problem)))
            continue
        resized += [len(names)] * (own != size)
        names.append(file.relative_to(root).as_posix())
    raise_unreadable(bad, len(names), str(root), "expected PNG or JPEG files.", "file")
    none = (np.empty((0, 4)), np.empty(0, np.int64), np.empty(0, np.int64), ())
    return AnnotatedPictures(np.stack(images), *none, tuple(names), str(root), tuple(bad), tuple(resized))


# -- the doctor --------------------------------------------------------------------------------------------------------


def examine_boxes(seen: Examination, table: Table, sizes: dict[str, tuple[int, int]]) -> np.ndarray:
    """The boxes in shares of their pictures, cut at the edges; what cannot be used is dropped."""
    files, classes = table.column("file"), table.column("class")
    pixels = np.array([[to_number(cell) for cell in table.column(name)] for name in HEADER[2:]]).T
    scale = np.array([sizes.get(name, (1, 1)) * 2 for name in files], dtype=np.float64)
    shares = pixels / scale
    inside = shares.clip(0, 1)
    seen.drop("no-number", ~np.isfinite(pixels).all(1), "with an edge of the box that is no number")
    seen.drop("no-class", np.array([not name.strip() for name in classes]), "without a class")
    seen.drop(
        "no-picture", np.array([name not in sizes for name in files]), "of a picture that is missing or unreadable"
    )
    seen.drop("empty", np.any(pixels[:, 2:] <= pixels[:, :2], axis=1), "whose box has no area")
    seen.drop("outside", np.any(inside[:, 2:] <= inside[:, :2], axis=1), "whose box is outside of the picture")
    cut = np.flatnonzero((inside != shares).any(1) & seen.alive).tolist()
    seen.report("cut", cut, "warning", f"{count_noun(len(cut), 'object')} cut at the edge of the picture")
    first: dict[tuple[str, str, bytes], int] = {}
    keys = [(name, label, row.tobytes()) for name, label, row in zip(files, classes, inside, strict=True)]
    again = np.array([first.setdefault(key, row) != row for row, key in enumerate(keys)])
    seen.drop("duplicate", again, "given before with the same class")
    return inside


def examine_pictures(seen: Examination, pictures: AnnotatedPictures, owners: np.ndarray) -> None:
    """Pictures without boxes, of another size, copies, and too few of them."""
    bare = len(pictures) - len(set(owners.tolist()))
    if bare:
        seen.report_all("no-box", "note", f"{count_noun(bare, 'picture')} without a box", bare)
    height, width = pictures.images.shape[1:3]
    if count := len(pictures.resized):
        words = f"{count_noun(count, 'picture')} of another size, made {width} x {height}"
        seen.report_all("odd-size", "note", words, count)
    times = Counter(hashlib.blake2b(np.ascontiguousarray(image).data).digest() for image in pictures.images)
    if copies := len(pictures) - len(times):
        words = f"{count_noun(copies, 'picture')} seen before, pixel by pixel"
        seen.report_all("copied-picture", "warning", words, copies)
    if len(pictures) < LEAST_PICTURES:
        words = (
            f"too little data: {count_noun(len(pictures), 'picture')}; a model needs at least about {LEAST_PICTURES}"
        )
        seen.report_all("little-data", "warning", words, len(pictures))


def report(found: AnnotatedPictures, seen: Examination, total: int) -> Report:
    height, width, channels = found.images.shape[1:]
    counts = Counter(found.label_names)
    colour = "grey" if channels == 1 else "colour"
    named = ", ".join(f"{name} {count:,}" for name, count in counts.most_common(8))
    summary = (f"{count_noun(len(found), 'picture')} of {width} x {height} pixels, {colour}", f"classes: {named}")
    statistics = {"pictures": len(found), "size": [width, height], "channels": channels, "classes": dict(counts)}
    return Report(found.origin, total, len(found.labels), seen.finish(), statistics, "object", summary)
