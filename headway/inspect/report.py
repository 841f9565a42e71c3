"""`report.html` of a run: how good it is, how training went, what it looks at, what to type next. One file, offline."""

import math
from collections.abc import Sequence
from typing import Any

from headway.inspect.curves import number, training_charts
from headway.inspect.page import Map, blank, document, escape, facts, heading, maps_section

PARTS = ("report.css", "curves.js")
FINE = ("AER", "nats per token", "bits per byte", "perplexity")  # all other scores are between 0 and 100


def report_page(
    *,
    title: str,
    summary: dict[str, str],
    scores: Sequence[dict[str, Any]],
    metrics: list[dict[str, Any]],
    samples: list[tuple[str, str, str]],
    doctor: dict[str, Any],
    maps: Sequence[Map],
    next_steps: Sequence[str],
    words: tuple[str, str, str] = ("source", "translation", "reference"),
) -> str:
    """The page, from plain values; whatever is missing yet is said to be missing."""
    drawn = [chart.draw() for chart in training_charts(metrics)]
    figures = "".join(figure for figure, _ in drawn)
    sections = {
        "Scores": cards(scores) or blank("No test set has been scored yet."),
        "Training": f'<div class="charts">{figures}</div>' if drawn else blank("No training step has been recorded yet."),
        f"{words[1].capitalize()}s": written(samples, metrics, words) or blank("Nothing yet: samples come with the first validation."),
        "Attention": maps_section(maps),
        "Data": examination(doctor) if doctor else blank("The data of this run has not been examined."),
        "Recipe": facts(summary) if summary else "",
        "What to type next": commands(next_steps),
    }
    body = heading(title) + "".join(f"<h2>{name}</h2>\n{part}\n" for name, part in sections.items() if part)
    return document(title, body, {"maps": [m.to_json() for m in maps], "charts": [data for _, data in drawn]}, PARTS)


def cards(scores: Sequence[dict[str, Any]]) -> str:
    made = []
    for score in scores:
        value, low, high = (score.get(key) for key in ("value", "low", "high"))
        digits = 1 if score["name"] not in FINE else 3
        known = low is not None and high is not None and low != high
        interval = f"<small>95 % interval {figure(low, digits)} to {figure(high, digits)}</small>" if known else ""
        name = f'<b>{escape(score["name"])}</b> <span class="soft">{escape(score.get("split", ""))}</span>'
        signature = escape(score.get("signature", "")).replace("|", "|<wbr>")
        small = f"{interval}<small><code>{signature}</code></small>"
        made.append(f'<div class="panel">{name}<div class="value">{figure(value, digits)}</div>{small}</div>')
    return f'<div class="cards">{"".join(made)}</div>' if made else ""


def figure(value: Any, digits: int) -> str:
    """A score, or a dash where there is none."""
    return f"{value:.{digits}f}" if isinstance(value, int | float) and math.isfinite(value) else "–"


def run_facts(run: Any) -> dict[str, str]:
    """What a run is made of, for the table at the end of its report."""
    t = run.recipe.training
    return {
        "model": f"{run.recipe.model.name} " + ", ".join(f"{k} {v}" for k, v in run.recipe.model.options.items()),
        "parameters": f"{run.parameters:,}",
        "vocabulary": f"{run.recipe.tokens.kind}, {run.task.vocabularies[-1]:,} entries",
        "budget": f"{t.minutes:g} minutes = {t.steps:,} steps" if t.minutes else f"{t.steps:,} steps",
        "optimizer": f"{t.optimizer}, rate {t.rate:g}, {t.schedule} schedule, {t.warmup} steps of warm-up, batches of {t.batch:,} tokens",
        "seed": str(run.recipe.seed),
    }


def written(samples: Sequence[tuple[str, str, str]], metrics: Sequence[dict[str, Any]], words: tuple[str, str, str]) -> str:
    """The given samples, or else those of the last validation; `words` head the columns."""
    caption = ""
    if not samples:
        validated = [r for r in metrics if (r.get("validation") or {}).get("samples")]
        if not validated:
            return ""
        samples = validated[-1]["validation"]["samples"]
        caption = f"<p class='soft'>From the last validation, at step {number(validated[-1]['step'])}.</p>"
    rows = []
    for source, translation, reference in samples:
        marks = "", ' class="exact"' if translation == reference else ' class="text"' if "\n" in translation else "", ""
        cells = [c for c in zip(words, (source, translation, reference), marks, strict=True) if c[0]]
        rows.append("".join(f'<td dir="auto" data-label="{name}"{mark}>{escape(text)}</td>' for name, text, mark in cells))
    head = f"<thead><tr>{''.join(f'<th>{word}</th>' for word in words if word)}</tr></thead>"
    body = "".join(f"<tr>{row}</tr>" for row in rows)
    return f'{caption}<div class="panel"><table>{head}<tbody>{body}</tbody></table></div>'


def examination(doctor: dict[str, Any]) -> str:
    """What the doctor found; the shape is that of `headway.data.findings.Report.to_json`."""
    total, kept, statistics = doctor.get("total", 0), doctor.get("kept", 0), doctor.get("statistics") or {}
    dropped = f"{total - kept:,} dropped" if total != kept else "all kept"
    lines = [f"<b>{total:,} pairs, {dropped}</b> <small><code>{escape(doctor.get('origin', ''))}</code></small>"]
    for side in ("source", "target"):
        if numbers := statistics.get(side):
            spread = f"{numbers['mean']:.1f} on average, {number(numbers['max'])} at most"
            size = f"{numbers['words']:,} words, {numbers['vocabulary']:,} different"
            lines.append(f"{side}: {size}; {escape(statistics.get('unit', 'words'))} per line: {spread}")
    found = "".join(finding(item) for item in doctor.get("findings", ())) or '<li class="nothing">Nothing odd was found.</li>'
    return f'<div class="panel">{"<br>".join(lines)}<ul class="findings">{found}</ul></div>'


def finding(item: dict[str, Any]) -> str:
    shown = ", ".join(map(str, item.get("lines", ())[:5])) + (", …" if item.get("count", 0) > 5 else "")
    where = f"line{'s' * (item.get('count') != 1)} {shown}: " if shown else ""
    examples = item.get("examples") or [""]
    example = f"<br><small>{where}<bdi>{escape(examples[0])}</bdi></small>" if where or examples[0] else ""
    grave, done = escape(item["severity"]), escape(item["action"])
    return f'<li class="{grave}"><b>{grave}</b>{escape(item["message"])} <span class="soft">({done})</span>{example}</li>'


def commands(steps: Sequence[str]) -> str:
    lines = "".join(f"<li><code>{escape(step)}</code></li>" for step in steps)
    return f'<ul class="next panel">{lines}</ul>' if lines else ""
