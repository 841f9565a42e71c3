"""The results as pages: one self-contained HTML report, and one Markdown page for each module."""

import re
from collections.abc import Sequence
from importlib.resources import files

from headway.core.entries import Entry
from headway.lab import catalog, errata, style
from headway.lab.experiment import NOT_REPRODUCED, REFUTED, SKIPPED
from headway.lab.kinds import MEANINGS
from headway.lab.result import Result
from headway.lab.statement import Statement
from headway.report.equations import to_html
from headway.report.page import document, escape, heading

CONTROLS = "The headline is bold. Grey rows are controls: the claim with an assumption broken, or as it was printed; they must fail."
INTRO = "Each experiment measures what a statement of the lecture notes says, compares, and breaks an assumption to see the claim fail."


def report_page(results: Sequence[Result]) -> str:
    """Every figure, table, verdict and erratum, by module."""
    entries = {catalog.identity(entry): entry for entry in catalog.every()}
    by_module = {name: _ordered(results, name) for name in catalog.modules()}
    contents, body = "", ""
    for name, mine in by_module.items():
        if mine:
            links = "".join(f'<li><a href="#{r.id}">{r.id}</a> {badge(r, short=True)}</li>' for r in mine)
            title = escape(catalog.modules()[name])
            contents += f'<section><h3><a href="#module-{name}">{name}</a></h3><ul>{links}</ul></section>'
            body += f'<h2 id="module-{name}">{title}</h2>\n' + "".join(section(r, entries[r.id]) for r in mine)
    good = sum(result.ok for result in results)
    head = heading("The lab", INTRO) + f'<p class="soft">{good} of {len(results)} experiments reproduced or skipped with a reason.</p>'
    key = "".join(f"<dt>{kind}</dt><dd>{escape(meaning)}</dd>" for kind, meaning in MEANINGS.items())
    key = f"<details class='key'><summary>How to read the tables</summary><p>{CONTROLS}</p><dl>{key}</dl></details>"
    style_sheet = files("headway.lab").joinpath("lab.css").read_text(encoding="utf-8")
    return document("The lab", f'<style>{style_sheet}</style>{head}{key}<nav class="panel">{contents}</nav>\n{body}', {"maps": []})


def section(result: Result, entry: Entry) -> str:
    text = catalog.statement(entry)
    meta = f"notes {', '.join(text.notes)} · {' + '.join(catalog.kinds(entry))} · seed {', '.join(map(str, result.seeds))}"
    settings = ", ".join(f"{k} = {v}" for k, v in result.config.items())
    parts = [f'<article class="panel" id="{result.id}"><header><h3>{result.id}</h3>{badge(result)}<small>{meta}</small></header>']
    parts += [statement(text)]
    if result.reasons:
        parts.append('<ul class="reasons">' + "".join(f"<li>{escape(reason)}</li>" for reason in result.reasons) + "</ul>")
    if result.svg:
        parts.append(f'<div class="figure">{style.inline(result.svg)}</div>')
    parts += [box(erratum) for erratum in catalog.errata(entry)]
    if result.checks:
        count = f"{len(result.checks)} checks, {len(result.controls)} controls"
        parts.append(f"<details open><summary>Measured against theory: {count}</summary>{result.table_html()}</details>")
    assumptions = "; ".join(map(to_html, text.assumptions))
    command = f"headway lab run {result.id}" + (f" --seed {result.seed}" if result.seed else "")
    tail = [f"Assumes: {assumptions}" if assumptions else "", f"Source: {linked(text.source)}", escape(settings)]
    tail += [f"Deviates: {to_html(text.deviates)}" if text.deviates else ""]
    parts.append("<footer>" + "<br>".join(t for t in [*tail, f"<code>{command}</code>"] if t) + "</footer></article>\n")
    return "\n".join(parts)


def badge(result: Result, short: bool = False) -> str:
    kind = {NOT_REPRODUCED: "bad", REFUTED: "refuted", SKIPPED: "skipped"}.get(result.verdict, "good")
    brief = {"good": "✓", "bad": "✗", "refuted": "✓ corrected", "skipped": "skipped"}[kind]
    return f'<span class="badge {kind}" title="{escape(result.verdict)}">{brief if short else escape(result.verdict)}</span>'


def statement(text: Statement) -> str:
    """The claim, its equations and the words between them."""
    parts = [f'<p class="claim">{to_html(text.claim)}</p>']
    parts += [f"<pre>{to_html(block)}</pre>" if equation else f"<p>{to_html(block)}</p>" for equation, block in text.blocks]
    return "\n".join(parts)


def box(erratum: errata.Erratum) -> str:
    source = f"<br><small>{escape(erratum.source)}</small>" if erratum.source else ""
    words = f"<b>Printed:</b> {emphasised(erratum.printed)}<br><b>Correct:</b> {emphasised(erratum.correct)}{source}"
    return f'<aside class="erratum"><b class="id">Erratum {erratum.id}</b>{words}</aside>'


def emphasised(text: str) -> str:
    """Typeset text in which `*word*` is emphasis; the star of a convolution or of an optimum is not."""
    return re.sub(r"(?<!\w)\*([A-Za-z][A-Za-z ]*)\*(?!\w)", r"<em>\1</em>", to_html(text))


def linked(text: str) -> str:
    """Escaped text whose addresses are links."""
    return re.sub(r"https://[^\s,;]+", lambda m: f'<a href="{m[0]}">{m[0]}</a>', escape(text))


def _ordered(results: Sequence[Result], module: str) -> list[Result]:
    order = [catalog.identity(entry) for entry in catalog.module(module)]
    return sorted((r for r in results if r.module == module), key=lambda r: order.index(r.id))


def markdown(module: str, results: Sequence[Result]) -> str:
    """A page of the documentation: statement, figure and verdict of each experiment of a module."""
    entries = {catalog.identity(entry): entry for entry in catalog.module(module)}
    lines = [f"# {catalog.modules()[module]}", "", f"Made by `headway lab docs`; `headway lab run {module}` repeats it.", ""]
    for result in _ordered(results, module):
        entry = entries[result.id]
        text = catalog.statement(entry)
        lines += [f"## {result.id}", "", f"**{result.verdict}** · notes {', '.join(text.notes)} · {text.source}", "", statement(text), ""]
        lines += [f"![{text.claim}]({result.id}.svg)", ""] if result.svg else []
        for erratum in catalog.errata(entry):
            lines += [f"> **Erratum {erratum.id}.** Printed: {erratum.printed}. Correct: {erratum.correct}.", ""]
        lines += [f"Deviates: {text.deviates}", ""] if text.deviates else []
    return "\n".join(lines)
