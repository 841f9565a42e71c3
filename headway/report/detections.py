"""The objects that were found on pictures, as a page, as a drawn picture, and as numbers in pixels."""

import io
from collections.abc import Sequence
from pathlib import Path

from headway.core.files import write_whole
from headway.report.page import document, heading
from headway.report.panels import panels_section
from headway.tasks.panels import Box, Gallery, Picture
from headway.tasks.uses import Detected

COLOURS = ("#e6194b", "#0082c8", "#3cb44b", "#f58231", "#911eb4", "#008080", "#aa6e28", "#808000")
LEAST = 480  # pixels of the longer side of a drawn picture: smaller ones are enlarged, so that names can be read


def detection_page(found: Sequence[Detected], run: str) -> str:
    """All pictures with their boxes."""
    pictures = []
    for d in found:
        pairs = zip(d.boxes, d.confidence, strict=True)
        named = [Box(b.left, b.top, b.right, b.bottom, f"{b.name} {sure:.2f}") for b, sure in pairs]
        count = f"{len(named)} object{'s' * (len(named) != 1)}"
        words = "; ".join([f"{d.picture.caption}: {count}", *d.warnings])
        pictures.append(Picture(d.picture.image, words, tuple(named)))
    caption = "Each box has its class and the probability that the model gives it."
    gallery = Gallery(f"{len(found)} picture{'s' * (len(found) != 1)}", tuple(pictures), caption)
    title = "Objects that were found"
    return document(title, heading(title, f"by {run}") + panels_section([gallery]), {"maps": []}, ("report.css",))


def draw_boxes(found: Detected, path: Path) -> None:
    """The picture as a PNG file with boxes and names over it; every class has its colour."""
    from PIL import Image, ImageDraw, ImageFont

    image = Image.fromarray(found.picture.image)
    scale = max(1, -(-LEAST // max(image.size)))
    image = image.resize((image.width * scale, image.height * scale), Image.Resampling.NEAREST)
    pen, size = ImageDraw.Draw(image), max(12, max(image.size) // 36)
    font, names = ImageFont.load_default(size), sorted({box.name for box in found.boxes})
    for box, sure in zip(found.boxes, found.confidence, strict=True):
        colour = COLOURS[names.index(box.name) % len(COLOURS)]
        left, top = box.left * image.width, box.top * image.height
        corners = (left, top, box.right * image.width, box.bottom * image.height)
        pen.rectangle(corners, outline=colour, width=max(2, size // 6))
        words = f"{box.name} {sure:.2f}"
        place = (left, top - 1.4 * size if top >= 1.4 * size else top)
        around = pen.textbbox(place, words, font=font)
        pen.rectangle((around[0] - 2, around[1] - 2, around[2] + 2, around[3] + 2), fill=colour)
        pen.text(place, words, fill="white", font=font)
    file = io.BytesIO()
    image.save(file, format="png")
    write_whole(path, lambda part: part.write_bytes(file.getvalue()))


def in_pixels(found: Detected, number: int) -> dict[str, str | float]:
    """One of the objects: its class, its probability, and its edges in pixels of the picture."""
    height, width = found.picture.image.shape[:2]
    box = found.boxes[number]
    edges = {
        "left": box.left * width,
        "top": box.top * height,
        "right": box.right * width,
        "bottom": box.bottom * height,
    }
    rounded = {name: round(value, 1) for name, value in edges.items()}
    return {"class": box.name, "probability": round(found.confidence[number], 4), **rounded}
