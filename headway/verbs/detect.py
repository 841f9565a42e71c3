"""`headway detect`: the objects on pictures, with their boxes; as text, as JSON, or drawn."""

import argparse
import json
from pathlib import Path

from headway.core.errors import UsageError
from headway.core.files import require_writable, write_text
from headway.verbs.options import add_run, open_run

SUMMARY = "the objects on pictures, with boxes; drawn as a picture (.png) or a page (.html)"
EXAMPLES = """\
examples:
  headway detect runs/shapes picture.png
  headway detect runs/shapes picture.png --out boxes.png
  headway detect runs/shapes a.png b.png c.png --out found.html
  headway detect runs/shapes picture.png --json          boxes in pixels"""
MANY = "pictures"


def add_arguments(p: argparse.ArgumentParser, words: list[str]) -> None:
    add_run(p)
    p.add_argument("pictures", nargs="+", help="paths of pictures")
    p.add_argument("--out", metavar="FILE", help="draw the boxes: a page (.html), or for one picture also .png")
    p.add_argument("--json", action="store_true", help="print JSON: class, probability and box of each object")


def run(a: argparse.Namespace) -> None:
    suffix = Path(a.out).suffix.lower() if a.out else ""
    if a.out and suffix not in (".html", ".png"):
        raise UsageError(f"`--out {a.out}` should end in .html or .png")
    if suffix == ".png" and len(a.pictures) > 1:
        raise UsageError(
            f"`--out {a.out}` is one picture, and {len(a.pictures)} were given", "choose `--out found.html`."
        )
    if a.out:
        if any(Path(path).exists() and Path(a.out).exists() and Path(path).samefile(a.out) for path in a.pictures):
            raise UsageError(f"`{a.out}` is the picture itself; it would be lost", "name another file for `--out`.")
        require_writable(Path(a.out))
    opened = open_run(a)
    found = opened.detect(a.pictures)
    from headway.report.detections import detection_page, draw_boxes, in_pixels

    if suffix == ".png":
        draw_boxes(found[0], Path(a.out))
    elif suffix == ".html":
        write_text(Path(a.out), detection_page(found, str(opened.folder)))
    listed = [
        {"picture": path, "objects": [in_pixels(d, i) for i in range(len(d.boxes))]}
        for path, d in zip(a.pictures, found, strict=True)
    ]
    if a.json:
        print(json.dumps(listed, indent=2, ensure_ascii=False))
        return
    for value, d in zip(listed, found, strict=True):
        print(f"{value['picture']}: {len(d.boxes)} object{'s' * (len(d.boxes) != 1)}")
        for box, sure in zip(value["objects"], d.confidence, strict=True):
            edges = "  ".join(f"{edge} {box[edge]}" for edge in ("left", "top", "right", "bottom"))
            print(f"  {box['class']:12} {sure:.3f}    {edges}")
        for warning in d.warnings:
            print(f"  note: {warning}")
    if a.out:
        print(f"drawn: {a.out}")
