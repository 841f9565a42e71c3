"""The page of a scaling law: the loss against parameters, tokens and FLOPs with the law and its band, the held-back run, tables, notes."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from headway.compare.page import html_list, html_table
from headway.compare.scaling.forecast import Prediction, Scaling
from headway.compare.scaling.points import SAME, Point
from headway.compare.scaling.tables import EQUATIONS, held_back_text, law_table, next_table, notes, run_table, short
from headway.report.equations import to_html
from headway.report.page import document, escape, heading, html_facts
from headway.report.panels import panels_section
from headway.report.report import PARTS
from headway.tasks.panels import Mark, Plot

DRAWN = 40  # points of a curve
BEYOND = 3.0  # times the largest value that a curve goes on for


def scaling_page(found: Scaling, predictions: list[Prediction]) -> str:
    points = found.points
    shown = {
        "runs": str(len(points.each)),
        "task": escape(points.task),
        "loss": escape(points.loss),
        "law": to_html(EQUATIONS[found.variables]),
        "FLOPs": to_html(f"C = {found.cost.factor:.3g} N^{{{found.cost.power:.2f}}} D"),
    }
    sections = {
        "The law": html_table(law_table(found)),
        "What more would bring": html_table(next_table(predictions, points.unit)),
        "The largest run, held back": html_list([plain(held_back_text(found).removeprefix("held back: "))]),
        "What to know": html_list([plain(note) for note in notes(found, predictions)]),
        "Pictures": panels_section(plots(found)),
        "Runs": html_table(run_table(found)),
    }
    head = heading(
        "Scaling law",
        "How the loss falls with the size of the model and the length of training; intervals of 90 % by bootstrap over runs.",
    )
    body = head + html_facts(shown) + "".join(f"<h2>{name}</h2>\n{part}\n" for name, part in sections.items())
    return document("Scaling law", body, {"maps": [], "charts": []}, PARTS)


def plots(found: Scaling) -> list[Plot]:
    """One for each variable of the law, and the loss against FLOPs."""
    unit = found.points.unit
    if found.variables == ("flops",):
        return [flops_plot(found)]
    made = [slice_plot(found, "parameters", "units", unit)]
    if len(found.variables) == 2:
        made.append(slice_plot(found, "units", "parameters", "parameters"))
    return [*made, flops_plot(found)]


def slice_plot(found: Scaling, variable: str, other: str, other_name: str) -> Plot:
    """The loss against one variable, a colour for each value of the other; the band is that of the largest."""
    name = found.points.unit if variable == "units" else variable
    marks: list[Mark] = []
    groups = grouped(found.points.each, other)
    across = curve_range([float(getattr(p, variable)) for p in found.points.each])
    for number, group in enumerate(groups):
        value = float(np.mean([getattr(p, other) for p in group]))
        x = np.stack([across if v == variable else np.full(DRAWN, value) for v in found.variables], -1)
        legend = f"{short(value)} {other_name}"
        if number == len(groups) - 1:
            marks.append(band(found, across, x, legend))
        marks.append(Mark("line", across, found.law(x), legend))
        marks.append(points_mark(group, variable, legend))
    caption = f"Points are runs, lines the law with {other_name} fixed; the band is its 90 % interval for the most {other_name}."
    return Plot(f"Loss against {name}", (*marks, *held_back_mark(found, variable)), name, "loss", caption, log=True)


def flops_plot(found: Scaling) -> Plot:
    """The loss against FLOPs: the runs, and the law at the best use of each budget."""
    across = curve_range([p.flops for p in found.points.each])
    marks = [points_mark(found.points.each, "flops", "runs")]
    caption = "Points are runs."
    if found.variables == ("flops",):
        marks += [Mark("line", across, found.law(across[:, None]), "law"), band(found, across, across[:, None], "law")]
    elif len(found.variables) == 2:
        sizes = np.array([float(found.cost.best_size(found.law, c)) for c in across])
        units = np.array([c / found.cost(n, 1) for c, n in zip(across, sizes, strict=True)])
        x = np.stack([sizes, units], -1)
        marks += [
            Mark("line", across, found.law(x), "best use of the FLOPs"),
            band(found, across, x, "best use of the FLOPs"),
        ]
        caption = "Points are runs; the line is the law at the best size and length for each number of FLOPs, with its 90 % interval."
    return Plot(
        "Loss against FLOPs", (*marks, *held_back_mark(found, "flops")), "FLOPs of training", "loss", caption, log=True
    )


def band(found: Scaling, across: Float[np.ndarray, "n"], x: Float[np.ndarray, "n k"], name: str) -> Mark:
    low, high = np.quantile(found.refits.laws(x[:, None]), [0.05, 0.95], axis=1)
    return Mark("band", across, low, name, high=high)


def points_mark(points: Sequence[Point], variable: str, name: str) -> Mark:
    labels = [f"{p.folder}: loss {p.loss:.4f}" for p in points]
    return Mark("points", [float(getattr(p, variable)) for p in points], [p.loss for p in points], name, labels=labels)


def held_back_mark(found: Scaling, variable: str) -> list[Mark]:
    """What was predicted for the largest run without it: the interval as a line, the value as a point."""
    held = found.held_back
    if held is None:
        return []
    x, name = [float(getattr(found.largest, variable))], "predicted for the held-back run"
    interval = Mark("segments", x, [held.predicted.low], name, high=[held.predicted.high], x_end=x)
    return [
        interval,
        Mark("points", x, [held.predicted.value], name, labels=[f"predicted: {held.predicted.value:.4f}"]),
    ]


def grouped(points: Sequence[Point], name: str) -> list[list[Point]]:
    """The points by one value, which may differ by a few percent within a group."""
    groups: list[list[Point]] = []
    for point in sorted(points, key=lambda p: float(getattr(p, name))):
        if groups and getattr(point, name) <= SAME * getattr(groups[-1][-1], name):
            groups[-1].append(point)
        else:
            groups.append([point])
    return groups


def curve_range(values: Sequence[float]) -> Float[np.ndarray, "n"]:
    return np.geomspace(min(values), BEYOND * max(values), DRAWN)


def plain(text: str) -> str:
    """Without the marks that names have in a terminal."""
    return text.replace("`", "")
