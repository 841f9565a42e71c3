"""Curves over training as inline SVG: axes with units, steps and time below, values under the pointer (`curves.js`)."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from headway.report.page import escape
from headway.tasks.task import Figure
from headway.training.metrics import Record

WIDTH, HEIGHT = 460, 260
LEFT, RIGHT, TOP, BOTTOM = 46, 26, 14, 46  # room for the labels, in the same units
MOST_POINTS = 400
FEW = 30  # points that are worth a dot each
COLOURS = 8  # of `report.css`: .c0 to .c7


@dataclass(frozen=True)
class Curve:
    """One line: (step, minutes, value) in the order of the steps."""

    name: str
    points: tuple[tuple[float, float, float], ...]
    group: str = (
        ""  # curves of one group share a colour and a place in the legend; without one it is a group of its own
    )

    def thinned(self) -> "Curve":
        """At most `MOST_POINTS` points, each the mean of its neighbours, so that a noisy curve stays readable."""
        if len(self.points) <= MOST_POINTS:
            return self
        chunks = np.array_split(np.array(self.points), MOST_POINTS)
        return Curve(
            self.name, tuple((round(c[:, 0].mean()), c[:, 1].mean(), c[:, 2].mean()) for c in chunks), self.group
        )


@dataclass(frozen=True)
class Chart:
    """Curves that share a unit."""

    title: str
    unit: str
    curves: tuple[Curve, ...]
    from_zero: bool = False
    over: Literal["steps", "minutes"] = (
        "steps"  # what goes from left to right; runs of different speed are compared over minutes
    )

    def draw(self) -> tuple[str, dict[str, Any]]:
        """The figure, and what the script needs to tell values: per curve, points (x, y, step, time, value)."""
        curves = [c.thinned() for c in self.curves if c.points]
        points = np.array([p for c in curves for p in c.points])
        steps, time, values = points[np.argsort(points[:, 0], kind="stable")].T
        ys = ticks(0 if self.from_zero else values.min(), values.max())
        along = 0 if self.over == "steps" else 1  # which number of a point is its place from left to right
        end = max(points[:, along].max(), 1 if along == 0 else 1e-9)
        xs = [x for x in ticks(0, end) if x <= end and (along or x == int(x))]
        groups = list(dict.fromkeys(c.group or c.name for c in curves))
        colours = [groups.index(c.group or c.name) % COLOURS for c in curves]
        low, high = min(ys[0], values.min()), max(ys[-1], values.max())

        def x_of(place: float) -> float:
            return round(LEFT + place / end * (WIDTH - LEFT - RIGHT), 1)

        def y_of(value: float) -> float:
            return round(HEIGHT - BOTTOM - (value - low) / (high - low) * (HEIGHT - TOP - BOTTOM), 1)

        parts = []
        for y in ys:
            parts.append(f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y_of(y)}" y2="{y_of(y)}"/>')
            parts.append(f'<text class="y" x="{LEFT - 6}" y="{y_of(y) + 4}">{number(y)}</text>')
        for x in xs:
            parts.append(f'<text x="{x_of(x)}" y="{HEIGHT - BOTTOM + 17}">{duration(x) if along else number(x)}</text>')
            if not along:
                after = duration(float(np.interp(x, steps, time))) if x else "step"
                parts.append(f'<text class="time" x="{x_of(x)}" y="{HEIGHT - BOTTOM + 33}">{after}</text>')
        lines = []
        for curve, colour in zip(curves, colours, strict=True):
            shape = " ".join(f"{x_of(p[along])},{y_of(p[2])}" for p in curve.points)
            dots = "".join(f'<circle r="2.4" cx="{x_of(p[along])}" cy="{y_of(p[2])}"/>' for p in curve.points[:FEW])
            parts.append(
                f'<g class="c{colour}"><polyline points="{shape}"/>{dots if len(curve.points) < FEW else ""}</g>'
            )
            lines.append(
                [(x_of(p[along]), y_of(p[2]), number(p[0]), duration(p[1]), f"{p[2]:.2f}") for p in curve.points]
            )
        legend = [f'<span class="c{i % COLOURS}"><i></i>{escape(name)}</span>' for i, name in enumerate(groups)]
        head = f'<b>{escape(self.title)}</b> <small>{escape(self.unit)}</small><span class="names">{"".join(legend)}</span>'
        label = escape(f"{self.title}: " + "; ".join(f"{c.name} ends at {c.points[-1][2]:.2f}" for c in curves))
        svg = f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{label}">{"".join(parts)}</svg>'
        figure = f'<figure class="panel chart"><figcaption>{head}</figcaption>{svg}</figure>\n'
        return figure, {"names": [c.name for c in curves], "colours": colours, "lines": lines}


def ticks(low: float, high: float, about: int = 5) -> list[float]:
    """Round numbers from below `low` to above `high`."""
    span = max(high - low, 1e-9, abs(high) * 1e-6)
    rough = span / about
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(f * power for f in (1, 2, 5, 10) if f * power >= rough * 0.999)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [round(i * step, 10) for i in range(first, max(last, first + 1) + 1)]


def number(value: float) -> str:
    """1,200 or 3.5 or 0.02: enough digits, never more."""
    return f"{value:,.0f}" if abs(value) >= 1000 or value == int(value) else f"{value:.3g}"


def duration(minutes: float) -> str:
    if minutes < 2:
        return f"{minutes * 60:.0f} s"
    return f"{minutes:.1f} min" if minutes < 10 else f"{minutes:.0f} min" if minutes < 120 else f"{minutes / 60:.1f} h"


def training_charts(metrics: Sequence[Record], figures: Sequence[Figure], loss_unit: str) -> list[Chart]:
    """What `metrics.jsonl` can show: the loss in training and validation, and the figures of the validations, by their scale."""

    def validation(name: str) -> Curve:
        found = [r for r in metrics if r.validation and name in r.validation.figures]
        points = [(float(r.step), r.seconds / 60, r.validation.figures[name]) for r in found if r.validation]
        return Curve("validation" if name == "loss" else name, tuple(points))

    steps = [(float(r.step), r.seconds / 60, r.loss) for r in metrics if r.loss is not None and math.isfinite(r.loss)]
    training = Curve("training", tuple(steps))
    charts = [Chart("Loss", loss_unit, (training, validation("loss")))]
    scales: dict[str, list[Curve]] = {}
    for figure in figures:
        if figure.name != "loss":
            scales.setdefault(figure.scale or figure.name, []).append(validation(figure.name))
    charts += [Chart("Validation", scale, tuple(curves), from_zero=True) for scale, curves in scales.items()]
    return [chart for chart in charts if any(c.points for c in chart.curves)]
