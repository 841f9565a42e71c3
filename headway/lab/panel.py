"""Panels of a figure, described rather than drawn: what is measured, what bounds it, what a control does.

    Panel("The error falls like 1/m", "threshold units m", "sup |f - g|", log="xy")
        .series(m, {"sin 7x": errors, "ρx": others}).bound(m, rho / m, "ρ/m").control(m, wrong, "as printed")

Lines are labelled at their ends, so that no legend covers data. Marks without an end (dots, bars, areas) are explained below
the panel. What none of the methods can draw, `custom` draws on matplotlib's axes.
"""

import textwrap
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from headway.lab import style

Draw = Callable[[Any], None]
WRAP = 17  # letters of a label in a line
GAP = 0.062  # height of a line of text, as a share of a panel
LETTERS = 9.7  # of a title, in an inch
MANY = 9  # labels beside a panel; more are a legend below it


class Panel:
    """One set of axes.

    title   what is to be seen, as a sentence
    x, y    labels of the axes, with units
    log     axes with a logarithmic scale: "", "x", "y" or "xy"
    """

    def __init__(self, title: str, x: str, y: str, log: str = "") -> None:
        self.title, self.labels, self.log = title, (x, y), log
        self._draws: list[Draw] = []
        self._colours = 0

    # -- lines -----------------------------------------------------------------------------------------------------------

    def series(self, x: Any, y: Any, label: str = "") -> "Panel":
        """What was measured: a line with markers; of a mapping one line for each name, each with its colour."""
        for name, values in (y if isinstance(y, Mapping) else {label: y}).items():
            self._line(x, values, str(name), style.series(self._next()))
        return self

    def curve(self, x: Any, y: Any, label: str = "") -> "Panel":
        """A function: a line without markers; of a mapping one for each name."""
        for name, values in (y if isinstance(y, Mapping) else {label: y}).items():
            self._line(x, values, str(name), style.series(self._next()) | {"marker": ""})
        return self

    def bound(self, x: Any, y: Any, label: str = "") -> "Panel":
        """What the theory allows."""
        return self._line(x, y, label, style.BOUND)

    def control(self, x: Any, y: Any, label: str = "") -> "Panel":
        """What happens without an assumption, or as printed."""
        return self._line(x, y, label, style.CONTROL | ({} if np.size(x) <= style.DENSE else {"marker": ""}))

    def target(self, x: Any, y: Any, label: str = "") -> "Panel":
        """The function that is approximated."""
        return self._line(x, y, label, style.TARGET)

    def level(self, y: float, label: str = "") -> "Panel":
        """A horizontal bound."""
        return self.custom(lambda axes: axes.axhline(y, **style.BOUND, label=label))

    def mark(self, x: float, label: str = "") -> "Panel":
        """A vertical line, with its label at the top."""

        def draw(axes: Any) -> None:
            axes.axvline(x, color=style.SOFT, linewidth=1, linestyle=(0, (2, 2)))
            axes.text(x, 1.0, f" {label}", transform=axes.get_xaxis_transform(), va="top", fontsize=9, color=style.SOFT)

        return self.custom(draw)

    def thin(self, x: Any, lines: Any) -> "Panel":
        """Many lines of one kind "line x", behind all others: fits to as many samples, for example."""
        look = {"color": style.BLUE, "linewidth": 0.6, "alpha": 0.6, "zorder": 1}
        return self.custom(lambda axes: axes.plot(x, np.transpose(lines), **look))

    # -- other marks -----------------------------------------------------------------------------------------------------

    def points(self, x: Any, y: Any, label: str = "", colour: str | None = None, size: float = 14) -> "Panel":
        """Dots."""
        chosen = colour or style.SERIES[self._next() % len(style.SERIES)]
        return self.custom(lambda axes: axes.scatter(x, y, s=size, color=chosen, label=label, linewidths=0, zorder=3))

    def band(self, x: Any, low: Any, high: Any, label: str = "", colour: str = style.SKY) -> "Panel":
        """An interval at each x."""
        return self.custom(lambda axes: axes.fill_between(x, low, high, color=colour, alpha=0.25, linewidth=0, label=label))

    def bars(self, names: Sequence[str], values: Any, label: str = "", errors: Any = None) -> "Panel":
        """One bar for each name."""
        colour = style.SERIES[self._next() % len(style.SERIES)]

        def draw(axes: Any) -> None:
            axes.bar(range(len(names)), values, 0.62, color=colour, label=label, yerr=errors, ecolor=style.INK)
            axes.set_xticks(range(len(names)), [textwrap.fill(str(name), 12) for name in names])
            axes.grid(False, axis="x")

        return self.custom(draw)

    def histogram(self, values: Any, label: str = "", bins: int = 30, density: bool = True) -> "Panel":
        """How often each value occurs."""
        colour = style.SERIES[self._next() % len(style.SERIES)]
        return self.custom(
            lambda axes: axes.hist(np.ravel(values), bins, density=density, color=colour, alpha=0.55, label=label)
        )

    def image(
        self,
        values: Any,
        extent: tuple[float, float, float, float] | None = None,
        colours: str = "cividis",
        scale: str = "",
        limits: tuple[float, float] | None = None,
        stretch: bool = True,
    ) -> "Panel":
        """A matrix as a picture: the first row at the top, or with `extent` (left, right, bottom, top) at the bottom.

        colours   a map of matplotlib; "Greys" for pictures, "RdBu" for signs
        scale     the label of the colour bar; none without it
        limits    the values of the darkest and of the lightest colour
        stretch   fill the panel; otherwise a cell is square
        """
        low, high = limits or (None, None)

        def draw(axes: Any) -> None:
            from matplotlib.ticker import MaxNLocator

            shown = axes.imshow(
                values, extent=extent, cmap=colours, vmin=low, vmax=high, aspect="auto" if stretch else "equal",
                interpolation="nearest", origin="upper" if extent is None else "lower",
            )  # fmt: skip
            axes.grid(False)
            if scale:
                bar = axes.inset_axes((1.03, 0, 0.05, 1), label="<colorbar>")  # as high as the picture
                axes.figure.colorbar(shown, cax=bar, label=scale).locator = MaxNLocator(5)

        return self.custom(draw)

    def cells(self, words: Any, shade: Any, size: float = 14) -> "Panel":
        """A table of words, the first row at the top; the cells where `shade` is true are blue."""

        def draw(axes: Any) -> None:
            rows, columns = np.shape(words)
            axes.imshow(np.array(shade, dtype=float), cmap="Blues", vmin=0, vmax=4.5, aspect="auto")
            axes.hlines(np.arange(rows + 1) - 0.5, -0.5, columns - 0.5, color=style.SOFT, linewidth=1)
            axes.vlines(np.arange(columns + 1) - 0.5, -0.5, rows - 0.5, color=style.SOFT, linewidth=1)
            for (y, x), word in np.ndenumerate(words):
                axes.text(x, y, word, ha="center", va="center", fontsize=size)
            axes.grid(False)
            axes.set(xticks=range(columns), yticks=range(rows))

        return self.custom(draw)

    # -- axes ------------------------------------------------------------------------------------------------------------

    def ticks(self, x: Mapping[float, str] | None = None, y: Mapping[float, str] | None = None) -> "Panel":
        """Names in place of numbers."""

        def draw(axes: Any) -> None:
            for given, put in ((x, axes.set_xticks), (y, axes.set_yticks)):
                if given is not None:
                    put(list(given), list(given.values()))

        return self.custom(draw)

    def limits(self, x: tuple[float, float] | None = None, y: tuple[float, float] | None = None) -> "Panel":
        """What is to be seen of the axes; without it, all."""

        def draw(axes: Any) -> None:
            for given, put in ((x, axes.set_xlim), (y, axes.set_ylim)):
                if given is not None:
                    put(*given)

        return self.custom(draw)

    def note(self, x: float, y: float, text: str) -> "Panel":
        """A few words at a place of the data."""
        return self.custom(lambda axes: axes.text(x, y, text, fontsize=9.5, color=style.SOFT))

    def custom(self, draw: Draw) -> "Panel":
        """Anything else, drawn on matplotlib's axes."""
        self._draws.append(draw)
        return self

    # -- drawing ---------------------------------------------------------------------------------------------------------

    def _next(self) -> int:
        self._colours += 1
        return self._colours - 1

    def _line(self, x: Any, y: Any, label: str, look: dict[str, Any]) -> "Panel":
        return self.custom(lambda axes: axes.plot(np.ravel(x), np.ravel(y), **look, label=label))

    def draw(self, axes: Any) -> None:
        columns = axes.get_subplotspec().get_gridspec().ncols
        letters = int((style.WIDTH / columns - 0.6) * LETTERS)  # beside the axis
        axes.set(title=textwrap.fill(self.title, letters), xlabel=self.labels[0], ylabel=self.labels[1])
        if "x" in self.log:
            axes.set_xscale("log")
        if "y" in self.log:
            axes.set_yscale("log")
        for draw in self._draws:
            draw(axes)
        lines = [line for line in axes.get_lines() if not line.get_label().startswith("_") and line.get_label()]
        others = [h for h in axes.get_legend_handles_labels()[0] if h not in lines and h.get_label()]
        if len(lines) > MANY:
            lines, others = [], [*lines, *others]
        if others:
            below = {"loc": "upper center", "bbox_to_anchor": (0.5, -0.17), "ncols": min(3, len(others))}
            axes.legend(handles=others, **below)
        label_ends(axes, lines)


def label_ends(axes: Any, lines: Sequence[Any]) -> None:
    """The label of each line beside the panel, at the height of its end; labels that would meet move apart."""
    if not lines:
        return
    axes.autoscale_view()
    axes.set(xlim=axes.get_xlim(), ylim=axes.get_ylim())
    to_share = axes.transData + axes.transAxes.inverted()
    found = []
    for line in lines:
        ends = to_share.transform(np.column_stack([line.get_xdata(orig=False), line.get_ydata(orig=False)]))
        if line.get_transform() != axes.transData:  # a level: its x is a share already
            y = to_share.transform((axes.get_xlim()[1], line.get_ydata()[-1]))[1]
            ends = np.array([[1.0, y]])
        seen = ends[np.all(np.isfinite(ends), axis=1) & (ends[:, 0] <= 1.001) & (np.abs(ends[:, 1] - 0.5) <= 0.501)]
        x, y = seen[np.argmax(seen[:, 0])] if len(seen) else (1.0, 0.5)
        found.append((float(y), float(x), textwrap.fill(line.get_label(), WRAP), line.get_color()))
    found.sort(key=lambda item: (round(item[0], 2), item[1]))  # lines that end at one height: from left to right
    sizes = [GAP * (1 + text.count("\n")) for _, _, text, _ in found]
    for (y, x, text, colour), place in zip(found, apart([item[0] for item in found], sizes), strict=True):
        if abs(place - y) > 0.02 or x < 0.97:
            axes.plot([x, 1.025], [y, place], transform=axes.transAxes, color=colour, linewidth=0.6, alpha=0.6, clip_on=False, marker="")
        axes.text(1.035, place, text, transform=axes.transAxes, va="center", fontsize=9.5, color=colour, linespacing=1.05)


def apart(places: Sequence[float], sizes: Sequence[float]) -> list[float]:
    """Sorted places moved as little as possible, so that intervals of these sizes around them do not meet and stay in [0, 1]."""
    groups: list[tuple[float, float, int]] = []  # centre, height and members of what touches
    for place, size in zip(places, sizes, strict=True):
        centre, height, members = place, size, 1
        while True:
            centre = min(max(centre, height / 2), max(1 - height / 2, height / 2))
            if not groups or groups[-1][0] + groups[-1][1] / 2 <= centre - height / 2:
                break
            other, h, n = groups.pop()
            centre, height, members = (other * n + centre * members) / (n + members), height + h, n + members
        groups.append((centre, height, members))
    found: list[float] = []
    for centre, height, members in groups:
        bottom = centre - height / 2
        for size in sizes[len(found) : len(found) + members]:
            found.append(bottom + size / 2)
            bottom += size
    return found
