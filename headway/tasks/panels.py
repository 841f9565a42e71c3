"""What a task shows of a judgement or of one input, as values; `report/panels.py` draws them, on every page alike.

Plot       lines, points, bands and segments over two axes: a forecast, a calibration curve, a graph, a hull
Matrix     a number for each row and column: a confusion matrix
Gallery    small pictures with a line below each: the worst examples, with boxes or a map of where the model looked
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Float, UInt8

Numbers = Sequence[float] | np.ndarray


@dataclass(frozen=True, eq=False)
class Mark:
    """One series of a plot. Marks of the same name share a colour and a place in the legend; without a name they have neither.

    kind      line: through all points; points: a dot at each; band: between `y` and `high`; segments: from each (x, y) to (x_end, high)
    """

    kind: Literal["line", "points", "band", "segments"]
    x: Numbers
    y: Numbers
    name: str = ""
    high: Numbers = ()  # the other edge of a band, or the y of a segment's end
    x_end: Numbers = ()  # the x of a segment's end
    soft: bool = False  # drawn thin and grey: a diagonal for reference, the edges of a graph
    labels: Sequence[str] = ()  # what the pointer shows at each point


@dataclass(frozen=True, eq=False)
class Plot:
    title: str
    marks: tuple[Mark, ...]
    x_label: str = ""
    y_label: str = ""
    caption: str = ""  # one or two sentences: how to read it
    equal: bool = False  # one unit is as long on both axes: for points in the plane
    bare: bool = False  # without axes: where a point stands means nothing, as in a graph
    log: bool = False  # the x axis is logarithmic: for sizes over several powers of ten


@dataclass(frozen=True, eq=False)
class Matrix:
    title: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    values: Float[np.ndarray, "r c"]
    row_label: str = ""
    column_label: str = ""
    caption: str = ""
    digits: int = 0


@dataclass(frozen=True)
class Box:
    """A rectangle on a picture, in shares of its width and height, with a name."""

    left: float
    top: float
    right: float
    bottom: float
    name: str = ""
    expected: bool = False  # what should have been found, drawn with a dashed line


@dataclass(frozen=True, eq=False)
class Picture:
    """A picture "y x c" of one or three channels, with what is drawn over it."""

    image: UInt8[np.ndarray, "y x c"]
    caption: str = ""
    boxes: tuple[Box, ...] = ()
    heat: Float[np.ndarray, "_ _"] | None = None  # from 0 to 1, stretched over the picture: where the model looked


@dataclass(frozen=True, eq=False)
class Gallery:
    title: str
    pictures: tuple[Picture, ...]
    caption: str = ""


Panel = Plot | Matrix | Gallery
