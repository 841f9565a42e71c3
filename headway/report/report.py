"""`report.html` of a run: how good it is, how training went, what it looks at, what to type next. One file, offline."""

import math
from collections.abc import Mapping, Sequence

from headway.data.findings import Finding, Report
from headway.report.curves import training_charts
from headway.report.page import blank, document, escape, facts, heading, map_json, maps_section
from headway.report.panels import panels_section
from headway.tasks.panels import Panel
from headway.tasks.task import Figure, Score
from headway.tasks.uses import Map
from headway.training.metrics import Record

PARTS = ("report.css", "curves.js")


def report_page(
    *,
    title: str,
    verdict: str,
    kept: str,
    summary: Mapping[str, str],
    scores: Sequence[Score],
    base: tuple[Sequence[Score], Sequence[Score]] | None,
    metrics: Sequence[Record],
    figures: Sequence[Figure],
    loss_unit: str,
    columns: Sequence[str],
    samples: Sequence[Sequence[str]],
    worst: Sequence[Sequence[str]],
    doctor: Sequence[Report],
    maps: Sequence[Map],
    next_steps: Sequence[str],
    notes: Sequence[str] = (),
    panels: Sequence[Panel] = (),
) -> str:
    """The page, from plain values; whatever is missing yet is said to be missing."""
    drawn = [chart.draw() for chart in training_charts(metrics, figures, loss_unit)]
    curves = "".join(figure for figure, _ in drawn)
    sections = {
        "Scores": (cards(scores) or blank("Nothing has been scored yet.")) + note_list(notes),
        "Pictures": panels_section(panels),
        "What it remembers": remembered(*base) if base else "",
        "Training": f'<div class="charts">{curves}</div>'
        if drawn
        else blank("No training step has been recorded yet."),
        "Samples": sample_table(columns, samples) or blank("Nothing yet: samples come with the first validation."),
        "Where it is worst": sample_table(columns, worst),
        "Attention": maps_section(maps) if maps else "",
        "Data": "".join(examination(report) for report in doctor)
        or blank("The data of this run has not been examined."),
        "Recipe": facts(summary) if summary else "",
        "What to type next": commands(next_steps),
    }
    head = (
        heading(title)
        + f'<p class="verdict">{escape(verdict)}</p>\n<p class="soft">Weights kept: {escape(kept)}.</p>\n'
    )
    body = head + "".join(f"<h2>{name}</h2>\n{part}\n" for name, part in sections.items() if part)
    return document(title, body, {"maps": [map_json(m) for m in maps], "charts": [data for _, data in drawn]}, PARTS)


def cards(scores: Sequence[Score]) -> str:
    made = []
    for score in scores:
        low, high = score.low, score.high
        known = low is not None and high is not None and low != high
        interval = (
            f"<small>95 % interval {value_text(low, score.digits)} to {value_text(high, score.digits)}</small>"
            if known
            else ""
        )
        name = f'<b>{escape(score.name)}</b> <span class="soft">{escape(score.part)}</span>'
        signature = escape(score.signature).replace("|", "|<wbr>")
        small = f"{interval}<small><code>{signature}</code></small>"
        made.append(
            f'<div class="panel">{name}<div class="value">{value_text(score.value, score.digits)}</div>{small}</div>'
        )
    return f'<div class="cards">{"".join(made)}</div>' if made else ""


def note_list(notes: Sequence[str]) -> str:
    """What else a person should know of the scores."""
    return "".join(f'<p class="soft">Note: {escape(note)}.</p>' for note in notes)


def value_text(value: float | None, digits: int) -> str:
    """A score, or a dash where there is none."""
    return f"{value:.{digits}f}" if value is not None and math.isfinite(value) else "–"


def remembered(before: Sequence[Score], now: Sequence[Score]) -> str:
    """The scores on the held-out data of the run that this one began with, before and after."""
    then = {(s.part, s.name): s for s in before}
    rows = "".join(
        row(f"{s.name} ({s.part})", value_text(then[s.part, s.name].value, s.digits), value_text(s.value, s.digits))
        for s in now
        if (s.part, s.name) in then
    )
    note = "<p class='soft'>On the held-out data of the run that this one began with.</p>"
    return note + table(("score", "before", "now"), rows)


def row(*cells: str) -> str:
    return f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in cells)}</tr>"


def table(head: Sequence[str], body: str) -> str:
    names = "".join(f"<th>{escape(name)}</th>" for name in head)
    return f'<div class="panel"><table><thead><tr>{names}</tr></thead><tbody>{body}</tbody></table></div>'


def sample_table(columns: Sequence[str], samples: Sequence[Sequence[str]]) -> str:
    """Rows of samples under the names of the task's columns; an output that equals the last column is marked."""
    rows = []
    for sample in samples:
        marks = [""] * len(sample)
        if len(sample) > 2:
            marks[1] = ' class="exact"' if sample[1] == sample[-1] else ""
        if any("\n" in text for text in sample):
            marks[1] = ' class="text"'
        cells = zip(columns, sample, marks, strict=False)
        rows.append(
            "".join(
                f'<td dir="auto" data-label="{escape(name)}"{mark}>{escape(text)}</td>' for name, text, mark in cells
            )
        )
    if not rows:
        return ""
    return table(columns, "".join(f"<tr>{cells}</tr>" for cells in rows))


def examination(report: Report) -> str:
    """What the doctor found in one part of the data."""
    dropped = f"{report.total - report.kept:,} dropped" if report.total != report.kept else "all kept"
    head = (
        f"<b>{report.total:,} {escape(report.unit)}s, {dropped}</b> <small><code>{escape(report.origin)}</code></small>"
    )
    lines = [head, *map(escape, report.summary)]
    found = "".join(finding(item) for item in report.findings) or '<li class="nothing">Nothing odd was found.</li>'
    return f'<div class="panel">{"<br>".join(lines)}<ul class="findings">{found}</ul></div>'


def finding(item: Finding) -> str:
    lines = ", ".join(map(str, item.lines[:5])) + (", …" if item.count > 5 else "")
    where = f"line{'s' * (item.count != 1)} {lines}: " if lines else ""
    example = item.examples[0] if item.examples else ""
    shown = f"<br><small>{where}<bdi>{escape(example)}</bdi></small>" if where or example else ""
    grave = escape(item.severity)
    return f'<li class="{grave}"><b>{grave}</b>{escape(item.message)} <span class="soft">({escape(item.action)})</span>{shown}</li>'


def commands(steps: Sequence[str]) -> str:
    lines = "".join(f"<li><code>{escape(step)}</code></li>" for step in steps)
    return f'<ul class="next panel">{lines}</ul>' if lines else ""
