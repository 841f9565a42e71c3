"""Panels of a task as figures of a page: plots and matrices as SVG, pictures as PNG inside the page."""

import base64
import io
import math
from collections.abc import Sequence
from functools import singledispatch

import numpy as np

from headway.data.messages import excerpt
from headway.report.curves import COLOURS, number, ticks
from headway.report.page import escape
from headway.tasks.panels import Box, Gallery, Mark, Matrix, Panel, Picture, Plot

WIDTH, HEIGHT = 460, 300
LEFT, RIGHT, TOP, BOTTOM = 56, 16, 12, 44  # room for the labels of a plot
MOST_TEXT = 24  # rows or columns of a matrix that still have room for numbers
MOST_LABELS = 40  # and for names
HEAT = (213, 94, 0)  # the colour of where a model looked


def panels_section(panels: Sequence[Panel]) -> str:
    """All panels side by side, as far as the page is wide."""
    return f'<div class="charts">{"".join(draw(panel) for panel in panels)}</div>' if panels else ""


@singledispatch
def draw(panel: Panel) -> str:
    raise TypeError(f"no panel: {panel!r}")


def figure(panel: Panel, body: str, legend: str = "", wide: bool = False) -> str:
    head = f'<figcaption><b dir="auto">{escape(panel.title)}</b><span class="names">{legend}</span></figcaption>'
    note = f'<p class="soft">{escape(panel.caption)}</p>' if panel.caption else ""
    return f'<figure class="panel chart{" wide" * wide}">{head}{body}{note}</figure>\n'


# -- plots -------------------------------------------------------------------------------------------------------------


@draw.register
def draw_plot(plot: Plot) -> str:
    """Marks over two axes with labels; points show their label under the pointer."""
    frame = Frame.around(plot)
    names = list(dict.fromkeys(mark.name for mark in plot.marks if mark.name))
    parts = [] if plot.bare else frame.axes(plot)
    for mark in plot.marks:
        colour = "soft" if mark.soft else f"c{names.index(mark.name) % COLOURS if mark.name else 0}"
        parts.append(f'<g class="{colour}">{frame.shape(mark)}</g>')
    legend = "".join(f'<span class="c{i % COLOURS}"><i></i>{escape(name)}</span>' for i, name in enumerate(names))
    label = escape(f"{plot.title}: {plot.y_label} over {plot.x_label}" if plot.x_label else plot.title)
    svg = f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{label}">{"".join(parts)}</svg>'
    return figure(plot, svg, legend)


class Frame:
    """Where a value stands on the drawing."""

    def __init__(self, x: tuple[float, float], y: tuple[float, float], margins: tuple[int, int, int, int], log: bool) -> None:
        self.x, self.y, self.log = x, y, log  # of a logarithmic axis `x` are the logarithms
        self.left, self.right, self.top, self.bottom = margins

    @classmethod
    def around(cls, plot: Plot) -> "Frame":
        """Round numbers around all values; on a drawing of equal units the shorter side gets more room."""
        xs = np.concatenate([np.asarray(v, dtype=float) for m in plot.marks for v in (m.x, m.x_end)])
        ys = np.concatenate([np.asarray(v, dtype=float) for m in plot.marks for v in (m.y, m.high)])
        xs = np.log10(xs) if plot.log else xs
        xs, ys = xs[np.isfinite(xs)], ys[np.isfinite(ys)]
        if not len(xs) or not len(ys):
            xs = ys = np.array([0.0, 1.0])
        if plot.bare:
            low, high = (float(xs.min()), float(xs.max())), (float(ys.min()), float(ys.max()))
            margins = (16, 16, 12, 12)
        else:
            across, up = ticks(float(xs.min()), float(xs.max())), ticks(float(ys.min()), float(ys.max()))
            wide = (float(xs.min()), float(xs.max())) if xs.min() < xs.max() else (across[0], across[-1])
            low, high = wide, (up[0], up[-1])
            margins = (LEFT, RIGHT, TOP, BOTTOM)
        frame = cls(widened(low), widened(high), margins, plot.log)
        if plot.equal:
            unit = max((frame.x[1] - frame.x[0]) / frame.width, (frame.y[1] - frame.y[0]) / frame.height)
            frame.x, frame.y = stretched(frame.x, unit * frame.width), stretched(frame.y, unit * frame.height)
        return frame

    @property
    def width(self) -> int:
        return WIDTH - self.left - self.right

    @property
    def height(self) -> int:
        return HEIGHT - self.top - self.bottom

    def at(self, x: float, y: float) -> tuple[float, float]:
        return self.place(math.log10(x) if self.log else x, y)

    def place(self, x: float, y: float) -> tuple[float, float]:
        across = self.left + (x - self.x[0]) / (self.x[1] - self.x[0]) * self.width
        down = HEIGHT - self.bottom - (y - self.y[0]) / (self.y[1] - self.y[0]) * self.height
        return round(across, 1), round(down, 1)

    def axes(self, plot: Plot) -> list[str]:
        parts = []
        for y in (t for t in ticks(*self.y) if self.y[0] - 1e-9 <= t <= self.y[1] + 1e-9):
            down = self.place(self.x[0], y)[1]
            parts.append(f'<line x1="{self.left}" x2="{WIDTH - self.right}" y1="{down}" y2="{down}"/>')
            parts.append(f'<text class="y" x="{self.left - 6}" y="{down + 4}">{number(y)}</text>')
        for x, text in self.labels():
            parts.append(f'<text x="{self.place(x, 0)[0]}" y="{HEIGHT - self.bottom + 16}">{text}</text>')
        middle = self.left + self.width / 2
        parts.append(f'<text x="{middle}" y="{HEIGHT - 8}">{escape(plot.x_label)}</text>')
        up = self.top + self.height / 2
        parts.append(f'<text transform="translate(12 {up}) rotate(-90)">{escape(plot.y_label)}</text>')
        return parts

    def labels(self) -> list[tuple[float, str]]:
        """The numbers below the x axis: round ones, or 1, 2 and 5 times the powers of ten, the latter alone where these are many."""
        if not self.log:
            return [(t, number(t)) for t in ticks(*self.x) if self.x[0] - 1e-9 <= t <= self.x[1] + 1e-9]
        several = (1, 2, 5) if self.x[1] - self.x[0] < 2 else (1,)
        powers = range(math.floor(self.x[0]), math.ceil(self.x[1]) + 1)
        found = [(power + math.log10(digit), f"{digit:g}e{power}") for power in powers for digit in several]
        return [(t, text) for t, text in found if self.x[0] - 1e-9 <= t <= self.x[1] + 1e-9]

    def shape(self, mark: Mark) -> str:
        points = [self.at(x, y) for x, y in zip(mark.x, mark.y, strict=True) if np.isfinite(x) and np.isfinite(y)]
        path = " ".join(f"{x},{y}" for x, y in points)
        if mark.kind == "line":
            return f'<polyline points="{path}"/>'
        if mark.kind == "band":
            back = [self.at(x, y) for x, y in zip(mark.x, mark.high, strict=True)][::-1]
            return f'<polygon points="{path} {" ".join(f"{x},{y}" for x, y in back)}"/>'
        if mark.kind == "segments":
            ends = [self.at(x, y) for x, y in zip(mark.x_end, mark.high, strict=True)]
            both = zip(points, ends, strict=True)
            return "".join(f'<path d="M{a} {b}L{c} {d}"/>' for (a, b), (c, d) in both)
        radius = 3 if len(points) <= 300 else 1.5
        titles = [f"<title>{escape(text)}</title>" for text in mark.labels] or [""] * len(points)
        both_ = zip(points, titles, strict=False)
        return "".join(f'<circle r="{radius}" cx="{x}" cy="{y}">{title}</circle>' for (x, y), title in both_)


def widened(span: tuple[float, float]) -> tuple[float, float]:
    return span if span[1] - span[0] > 1e-12 else (span[0] - 0.5, span[1] + 0.5)


def stretched(span: tuple[float, float], length: float) -> tuple[float, float]:
    """The span with the same middle and another length."""
    middle = (span[0] + span[1]) / 2
    return middle - length / 2, middle + length / 2


# -- matrices ----------------------------------------------------------------------------------------------------------


@draw.register
def draw_matrix(matrix: Matrix) -> str:
    """A square for each number, the darker the larger; the numbers are written where there is room."""
    values = np.asarray(matrix.values, dtype=float)
    left = 24 + 6.5 * max(len(excerpt(name, 14)) for name in matrix.rows)
    top = 24 + 6.5 * max(len(excerpt(name, 14)) for name in matrix.columns)
    side = max(8.0, min(42.0, 560 / max(values.shape)))
    width, height = left + side * values.shape[1] + 4, top + side * values.shape[0] + 4
    most = float(np.nanmax(np.abs(values), initial=0.0)) or 1.0
    parts = []
    for i, j in np.ndindex(values.shape):
        x, y, value = left + side * j, top + side * i, values[i, j]
        share = 0.0 if not np.isfinite(value) else abs(value) / most
        text = f"{value:.{matrix.digits}f}"
        title = f"<title>{escape(matrix.rows[i])} → {escape(matrix.columns[j])}: {text}</title>"
        box = f'x="{x:.1f}" y="{y:.1f}" width="{side - 1:.1f}" height="{side - 1:.1f}"'
        parts.append(f'<rect {box} fill-opacity="{share**0.5:.3f}">{title}</rect>')
        if max(values.shape) <= MOST_TEXT and value:
            light = ' class="light"' if share**0.5 > 0.55 else ""
            size = min(12.0, 1.5 * side / max(2, len(text)))
            place = f'x="{x + side / 2:.1f}" y="{y + side / 2 + size / 3:.1f}" font-size="{size:.1f}"'
            parts.append(f'<text{light} style="font-size:{size:.1f}px" {place}>{text}</text>')
    if max(values.shape) <= MOST_LABELS:
        for i, name in enumerate(matrix.rows):
            y = top + side * (i + 0.5) + 4
            parts.append(f'<text class="y" x="{left - 5:.1f}" y="{y:.1f}">{escape(excerpt(name, 14))}</text>')
        for j, name in enumerate(matrix.columns):
            turn = f"translate({left + side * (j + 0.5) + 4:.1f} {top - 5:.1f}) rotate(-90)"
            parts.append(f'<text class="start" transform="{turn}">{escape(excerpt(name, 14))}</text>')
    middle = f"translate(11 {top + side * values.shape[0] / 2:.1f}) rotate(-90)"
    parts.append(f'<text transform="{middle}">{escape(matrix.row_label)}</text>')
    parts.append(f'<text x="{left + side * values.shape[1] / 2:.1f}" y="13">{escape(matrix.column_label)}</text>')
    style = f'style="max-width:{width:.0f}px"'
    head = f'<svg class="matrix" viewBox="0 0 {width:.0f} {height:.0f}" {style} role="img"'
    return figure(matrix, f'{head} aria-label="{escape(matrix.title)}">{"".join(parts)}</svg>')


# -- pictures ----------------------------------------------------------------------------------------------------------


@draw.register
def draw_gallery(gallery: Gallery) -> str:
    cells = "".join(f"<div>{picture_svg(p)}<small>{escape(p.caption)}</small></div>" for p in gallery.pictures)
    large = " large" * any(p.boxes for p in gallery.pictures)  # boxes and their names need room
    return figure(gallery, f'<div class="gallery{large}">{cells}</div>', wide=True)


def picture_svg(picture: Picture) -> str:
    """The picture with its boxes and its heat map, enlarged without smoothing if it is small."""
    height, width = picture.image.shape[:2]
    parts = [image_tag(png(picture.image), width, height)]
    if picture.heat is not None:
        parts.append(image_tag(png(coloured(picture.heat)), width, height, smooth=True))
    parts += [box_tag(box, width, height) for box in picture.boxes]
    label = escape(picture.caption or "picture")
    return f'<svg viewBox="0 0 {width} {height}" role="img" aria-label="{label}">{"".join(parts)}</svg>'


def image_tag(data: bytes, width: int, height: int, smooth: bool = False) -> str:
    address = base64.b64encode(data).decode("ascii")
    way = "auto" if smooth or min(width, height) >= 96 else "pixelated"
    size = f'width="{width}" height="{height}" preserveAspectRatio="none"'
    return f'<image {size} style="image-rendering:{way}" href="data:image/png;base64,{address}"/>'


def box_tag(box: Box, width: int, height: int) -> str:
    left, top = box.left * width, box.top * height
    size = f'width="{(box.right - box.left) * width:.2f}" height="{(box.bottom - box.top) * height:.2f}"'
    line, letter = max(width, height) / 120, max(width, height) / 16
    kind = "expected" if box.expected else "found"
    text = ""
    if box.name:
        below = max(letter, top - 2 * line)
        text = f'<text x="{left:.2f}" y="{below:.2f}" style="font-size:{letter:.2f}px">{escape(box.name)}</text>'
    return f'<g class="{kind}"><rect x="{left:.2f}" y="{top:.2f}" {size} stroke-width="{line:.2f}"/>{text}</g>'


def coloured(heat: np.ndarray) -> np.ndarray:
    """A map from 0 to 1 as one colour that hides more of the picture where the map is higher."""
    image = np.empty((*heat.shape, 4), dtype=np.uint8)
    image[..., :3] = HEAT
    image[..., 3] = np.rint(np.clip(np.nan_to_num(heat), 0, 1) * 190).astype(np.uint8)
    return image


def png(image: np.ndarray) -> bytes:
    from PIL import Image

    file = io.BytesIO()
    Image.fromarray(image[..., 0] if image.shape[-1] == 1 else image).save(file, format="png")
    return file.getvalue()
