"""Pictures of circles, squares and triangles on noise, with their boxes: data for detection that needs no download.

    write(folder, count, seed)      pictures and `boxes.csv`, as `headway train detection --folder` reads them

Picture i is a function of (seed, i). Shapes may overlap a little; a later one that would hide much of an earlier one is left out.
"""

from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw

from headway.core.files import write_text
from headway.core.seeds import derive
from headway.data.annotated_pictures import BOXES, AnnotatedPictures

CLASSES = ("circle", "square", "triangle")
COLOURS = ((230, 60, 60), (60, 190, 75), (70, 100, 240), (240, 200, 40), (190, 70, 220), (60, 210, 220))
MOST = 4  # shapes on a picture
SCALE = 4  # drawn so many times larger, then shrunk: smooth edges
NOISE = 25.0  # standard deviation of the grey noise in the background
CLEAR = 0.1  # share of a box that another one may cover


def draw(count: int, seed: int, side: int = 48) -> AnnotatedPictures:
    """So many pictures of `side` x `side` pixels in memory, named like those that `write` writes."""
    images = np.zeros((count, side, side, 3), dtype=np.uint8)
    found: list[tuple[int, int, np.ndarray]] = []
    for i in range(count):
        random = np.random.default_rng(derive(seed, "shapes", i))
        images[i], shapes = draw_one(random, side)
        found += [(i, label, box) for label, box in shapes]
    owners, labels = (np.array([row[k] for row in found], dtype=np.int64) for k in (0, 1))
    boxes = np.array([row[2] for row in found], dtype=np.float64).reshape(-1, 4)
    names = tuple(f"{i:05d}.png" for i in range(count))
    return AnnotatedPictures(images, boxes / side, labels, owners, CLASSES, names, "drawn shapes")


def draw_one(random: np.random.Generator, side: int) -> tuple[np.ndarray, list[tuple[int, np.ndarray]]]:
    """One picture "y x c", and the class and the box (in pixels) of each shape on it."""
    noise = random.normal(110, NOISE, (side, side, 1)).clip(0, 255).astype(np.uint8).repeat(3, 2)
    large = Image.fromarray(noise).resize((side * SCALE, side * SCALE), Image.Resampling.NEAREST)
    pen, shapes = ImageDraw.Draw(large), list[tuple[int, np.ndarray]]()
    for _ in range(random.integers(1, MOST + 1)):
        size = int(random.integers(side // 6, 5 * side // 12))
        left, top = random.integers(0, side - size, 2).tolist()
        label, colour = int(random.integers(len(CLASSES))), COLOURS[random.integers(len(COLOURS))]
        box = np.array([left, top, left + size, top + size])
        if any(shared(box, other) > CLEAR for _, other in shapes):
            continue
        a, b, c, d = ((box * SCALE) - (0, 0, 1, 1)).tolist()  # Pillow draws the last pixel, too
        if CLASSES[label] == "circle":
            pen.ellipse((a, b, c, d), fill=colour)
        elif CLASSES[label] == "square":
            pen.rectangle((a, b, c, d), fill=colour)
        else:
            pen.polygon(((a, d), (c, d), ((a + c) / 2, b)), fill=colour)
        shapes.append((label, box))
    return np.asarray(large.resize((side, side), Image.Resampling.BOX)), shapes


def shared(a: np.ndarray, b: np.ndarray) -> float:
    """The area that both cover, as a share of the smaller one."""
    both = np.minimum(a[2:], b[2:]) - np.maximum(a[:2], b[:2])
    return float(both.clip(0).prod() / min((a[2:] - a[:2]).prod(), (b[2:] - b[:2]).prod()))


def write(folder: str | Path, count: int, seed: int, side: int = 48) -> None:
    """A folder of pictures with a table of their boxes in pixels."""
    root, drawn = Path(folder), draw(count, seed, side)
    root.mkdir(parents=True, exist_ok=True)
    rows = ["file,class,left,top,right,bottom"]
    for name, image in zip(drawn.names, drawn.images, strict=True):
        Image.fromarray(image).save(root / name)
    for owner, label, box in zip(drawn.owners, drawn.labels, np.rint(drawn.boxes * side).astype(int), strict=True):
        rows.append(",".join((drawn.names[owner], CLASSES[label], *map(str, box.tolist()))))
    write_text(root / BOXES, "\n".join(rows) + "\n")
