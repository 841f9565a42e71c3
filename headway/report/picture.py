"""Attention maps as one PNG: a row for each layer, a column for each head. The same maps give the same bytes."""

import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path

from headway.core.errors import DataError
from headway.core.files import write_whole
from headway.data.messages import excerpt
from headway.report.page import NO_MAPS
from headway.tasks.uses import Map

LONGEST = 14  # characters of a label
SIDE, GAP, LETTER = 2.4, 0.15, 0.065  # inches: a map, what is between maps, a letter of a label
SCALE = 0.65  # inches for the scale of colours
MOST_LABELS = 1500  # of columns in the whole picture: text takes most of the time
MOST_PIXELS = 10_000  # of the longer side


def picture(maps: Sequence[Map], path: Path, title: str) -> None:
    """Write the maps to `path`; darker is more, from 0 to 1, by the square root as on the page."""
    if not maps:
        raise DataError("there are no attention maps to draw", NO_MAPS[0].lower() + NO_MAPS[1:])
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.colors import PowerNorm
    from matplotlib.figure import Figure

    ordered = sorted(maps, key=lambda m: (Map.KINDS.index(m.kind), m.layer))
    across = max(len(m.weights) for m in ordered)
    gutter, above = room(x for m in ordered for x in m.rows), room(x for m in ordered for x in m.columns)
    most = max(6, min(26, MOST_LABELS // sum(len(m.weights) for m in ordered)))
    row = 0.3 + above + SIDE + 0.35  # the name of the layer, its columns, the maps, the number of the head
    width, height = max(6.0, gutter + across * (SIDE + GAP)), 0.6 + len(ordered) * row + SCALE
    figure = Figure(figsize=(width, height), dpi=min(130.0, MOST_PIXELS / max(width, height)))
    FigureCanvasAgg(figure)
    figure.text(
        0.1 / width, 1 - 0.35 / height, excerpt(title, int(8 * width) - 2), size=14, weight="bold", parse_math=False
    )
    for i, m in enumerate(ordered):
        top = 0.6 + i * row
        words = f"{m.kind}{'-' if m.kind == 'cross' else ' self-'}attention, layer {m.layer} ({m.name})"
        figure.text(0.1 / width, 1 - (top + 0.15) / height, words, size=10, weight="bold", parse_math=False)
        for head, weights in enumerate(m.weights):
            left, bottom = gutter + head * (SIDE + GAP), height - top - 0.3 - above - SIDE
            axes = figure.add_axes((left / width, bottom / height, SIDE / width, SIDE / height))
            image = axes.imshow(
                weights, cmap="Blues", norm=PowerNorm(0.5, 0, 1), aspect="auto", interpolation="nearest"
            )
            axes.set_xlabel(f"head {head + 1}", size=8, labelpad=2)
            axes.tick_params(length=0, pad=2, labelsize=7, top=True, labeltop=True, bottom=False, labelbottom=False)
            for axis, labels in ((axes.xaxis, m.columns), (axes.yaxis, m.rows if head == 0 else ())):
                every = -(-len(labels) // most) or 1
                axis.set_ticks(range(0, len(labels), every), [excerpt(text, LONGEST) for text in labels[::every]])
                for label in axis.get_ticklabels(which="both"):
                    label.set(parse_math=False, rotation=90 if axis is axes.xaxis else 0)
    bar = figure.add_axes((gutter / width, 0.32 / height, SIDE / width, 0.1 / height))
    figure.colorbar(image, cax=bar, orientation="horizontal", ticks=[0, 0.1, 0.25, 0.5, 1])
    bar.tick_params(labelsize=7, length=2, pad=1)
    bar.set_title("weight", size=8, pad=2)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing")  # a box in the picture says it, too
        write_whole(path, lambda part: figure.savefig(part, format="png", metadata={"Software": None}))


def room(labels: Iterable[str]) -> float:
    """Inches for the longest of these labels."""
    return 0.2 + LETTER * max(len(excerpt(text, LONGEST)) for text in labels)
