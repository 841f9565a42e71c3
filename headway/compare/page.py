"""`comparison.html`: scores, which differences are real, cost, curves, samples, and a link to each run's report."""

import dataclasses
from collections.abc import Mapping, Sequence
from urllib.parse import quote

from headway.compare.outcome import Outcome
from headway.compare.table import Table, by_model, cost_table, score_table, sentences
from headway.core.config import to_json
from headway.report.curves import Chart, Curve
from headway.report.page import document, escape, facts, heading
from headway.report.report import PARTS, sample_table
from headway.tasks.recipe import Recipe
from headway.training.plan import budget_of

SHOWN = 3  # samples of each model


def comparison_page(title: str, recipe: Recipe[object], found: Mapping[str, Outcome]) -> str:
    """The page. `found` are the outcomes by the directories of their runs, which lie beside the page."""
    outcomes = list(found.values())
    drawn = [chart.draw() for chart in charts(outcomes)]
    curves = "".join(figure for figure, _ in drawn)
    sections = {
        "Scores": html_table(score_table(outcomes)),
        "Which differences are real": html_list(sentences(outcomes)),
        "Cost": html_table(cost_table(outcomes)),
        "Learning": f'<div class="charts">{curves}</div>',
        "Samples": samples(outcomes),
        "Runs": run_table(found),
    }
    names = ", ".join(by_model(outcomes))
    head = heading(title, f"{names}: as many parameters and as much training each; ± is the 95 % interval over seeds.")
    body = "".join(f"<h2>{name}</h2>\n{part}\n" for name, part in sections.items())
    body = head + facts(described(recipe, outcomes)) + body
    return document(title, body, {"maps": [], "charts": [data for _, data in drawn]}, PARTS)


def described(recipe: Recipe[object], outcomes: Sequence[Outcome]) -> dict[str, str]:
    """What was compared, in a few facts."""
    blank = {f.name: f.default for f in dataclasses.fields(recipe.data)}  # type: ignore[arg-type]
    chosen = {name: value for name, value in to_json(recipe.data).items() if value != blank[name]}
    training = to_json(budget_of(recipe.training))
    budget = next(f"{training[name]:g} {name}" for name in ("minutes", "steps", "epochs") if training[name] is not None)
    return {
        "task": recipe.task,
        "data": ", ".join(f"{name} {value}" for name, value in chosen.items()),
        "budget of each run": budget,
        "seeds": str(len({o.seed for o in outcomes})),
    }


def charts(outcomes: Sequence[Outcome]) -> list[Chart]:
    """One chart for each curve, over minutes; the runs of one model have one colour."""
    made = []
    for name in dict.fromkeys(name for o in outcomes for name in o.curves):
        runs = [o for mine in by_model(outcomes).values() for o in mine if name in o.curves]
        curves = [Curve(f"{o.model}, seed {o.seed}", tuple(o.curves[name]), o.model) for o in runs]
        made.append(Chart(name, outcomes[0].units[name], tuple(curves), over="minutes"))
    return made


def html_table(table: Table) -> str:
    head, rows = table
    return _table(head, [[escape(cell) for cell in row] for row in rows])


def run_table(found: Mapping[str, Outcome]) -> str:
    """Every run with its own scores and a link to its report."""
    first = next(iter(found.values()))
    head = ["run", "model", "seed", f"{first.scores[0].name} ({first.scores[0].part})", "steps", "minutes"]
    rows = []
    for folder, o in found.items():
        link = f'<a href="{quote(folder)}/report.html">{escape(folder)}</a>'
        score = f"{o.scores[0].value:.{o.scores[0].digits}f}"
        rows.append([link, escape(o.model), str(o.seed), score, f"{o.steps:,}", f"{o.minutes:.1f}"])
    return _table(head, rows)


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table whose cells are HTML already; narrow screens show the names of the columns beside the cells."""
    names = "".join(f"<th>{escape(name)}</th>" for name in head)
    labels = [f'<td data-label="{escape(name)}">' for name in head]
    cells = ([label + cell + "</td>" for label, cell in zip(labels, row, strict=True)] for row in rows)
    body = "".join(f"<tr>{''.join(row)}</tr>" for row in cells)
    return f'<div class="panel"><table><thead><tr>{names}</tr></thead><tbody>{body}</tbody></table></div>'


def html_list(items: Sequence[str]) -> str:
    return '<div class="panel"><ul>' + "".join(f"<li>{escape(item)}</li>" for item in items) + "</ul></div>"


def samples(outcomes: Sequence[Outcome]) -> str:
    """What the first run of each model gives."""
    parts = []
    for model, mine in by_model(outcomes).items():
        rows = sample_table(mine[0].columns, mine[0].samples[:SHOWN])
        parts.append(f"<h3>{escape(model)}</h3>{rows}" if rows else "")
    return "".join(parts)
