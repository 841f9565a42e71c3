"""Regions of the plane as a picture."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from headway.lab import style
from headway.lab.panel import Panel
from headway.lab.tools.regions import Cell


def mosaic(title: str, cells: Sequence[Cell], colours: Sequence[float] | None = None) -> Panel:
    """Polygons without corners at infinity, each in one colour, or coloured by a number for each."""
    values = np.arange(len(cells)) * 0.618034 % 1 if colours is None else colours  # the golden ratio: neighbours differ
    corners = [cell.polygon.points for cell in cells]

    def draw(axes: Any) -> None:
        from matplotlib.collections import PolyCollection

        shapes = PolyCollection(corners, array=values, cmap="cividis", edgecolors=style.PAPER, linewidths=0.5)
        axes.add_collection(shapes)
        axes.autoscale_view()
        axes.set_aspect("equal")
        axes.margins(0)
        axes.grid(False)
        axes.locator_params(nbins=5)

    return Panel(title, "$x_1$", "$x_2$").custom(draw)
