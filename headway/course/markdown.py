"""The course as Markdown, one page for each lecture: docs/lectures, which the documentation shows."""

import os
from collections.abc import Mapping
from pathlib import Path

from headway.core.entries import Entry
from headway.core.files import disk_errors, write_text
from headway.course.cards import file_name
from headway.course.commands import commands
from headway.course.excerpt import excerpt
from headway.course.explanation import explanation, typeset
from headway.course.outcomes import Outcome
from headway.course.outline import Lecture, lectures
from headway.course.site import INTRO, TITLE, summary
from headway.course.syllabus import Concept
from headway.lab import catalog
from headway.lab.errata import Erratum
from headway.lab.page import emphasised, linked, statement

MADE = "Made by `headway course`; `make lectures` repeats it."


def write_markdown(folder: Path, outcomes: Mapping[str, Outcome]) -> list[Path]:
    """Write the pages, the index first. A figure that is kept in a file already is linked, others are written beside the pages."""
    used = {catalog.identity(entry) for item in lectures() for section in item.sections for entry in section.built()}
    with disk_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
    figures = {}
    for name in sorted(used & set(outcomes)):
        outcome = outcomes[name]
        if outcome.svg and outcome.file is None:
            write_text(folder / f"{name}.svg", outcome.svg)
        if outcome.svg:
            figures[name] = Path(os.path.relpath(outcome.file or folder / f"{name}.svg", folder)).as_posix()
    pages = {"index.md": index(), **{page_name(item): page(item, outcomes, figures) for item in lectures()}}
    for name, text in pages.items():
        write_text(folder / name, text)
    return [folder / name for name in pages]


def page_name(item: Lecture) -> str:
    return f"lecture_{item.key.lower()}.md"


def index() -> str:
    lines = [
        f"# {TITLE}",
        "",
        INTRO,
        "",
        "`headway course --out course` writes the same as a site that needs no network.",
        "",
    ]
    for item in lectures():
        lines += [
            f"## {item.key}. {item.title}",
            "",
            f"{summary(item)}. {item.about}",
            "",
            f"[Read it]({page_name(item)})",
            "",
        ]
    return "\n".join([*lines, MADE, ""])


def page(item: Lecture, outcomes: Mapping[str, Outcome], figures: Mapping[str, str]) -> str:
    lines = [f"# {item.key}. {item.title}", "", f"{summary(item)}. {item.about}", "", MADE, ""]
    for section in item.sections:
        lines += [f"## {section.title}", "", section.about, ""]
        for concept in section.explained():
            lines += concept_lines(concept)
        for entry in section.built():
            name = catalog.identity(entry)
            lines += experiment_lines(entry, outcomes.get(name), figures.get(name, ""))
        for erratum in section.corrections(item.key):
            lines += erratum_lines(erratum)
    return "\n".join(lines)


def concept_lines(concept: Concept) -> list[str]:
    words, part = explanation(concept), excerpt(concept.path, concept.node)
    lines = [f"### {concept.name}", ""]
    lines += [f"<p><strong>{typeset(words.claim)}</strong></p>", ""] if words.claim else []
    for equation, block in words.blocks:
        lines += [f"<pre>{typeset(block)}</pre>" if equation else f"<p>{typeset(block)}</p>", ""]
    lines += [f"`{file_name(part.path)}`, line {part.line}:", "", "```python", part.text, "```", ""]
    tries = ", ".join(f"`{command}`" for command in commands(concept))
    return [*lines, (f"Try: {tries}. " if tries else "") + f"Shown by: `{concept.shown}`.", ""]


def experiment_lines(entry: Entry, outcome: Outcome | None, figure: str) -> list[str]:
    name, text = catalog.identity(entry), catalog.statement(entry)
    lines = [f"### Experiment: {name}", "", f"**{outcome.verdict if outcome else 'not run'}**", "", statement(text), ""]
    lines += [f"![{name}]({figure})", ""] if figure else []
    for erratum in catalog.errata(entry):
        lines += erratum_lines(erratum)
    source = f"<p>Source: {linked(text.source)}</p>" if text.source else ""
    return [*lines, *([source, ""] if source else []), f"Try: `headway lab run {name}`.", ""]


def erratum_lines(erratum: Erratum) -> list[str]:
    words = f"Printed: {emphasised(erratum.printed)}.<br>Correct: {emphasised(erratum.correct)}."
    return [f"<blockquote><strong>Erratum {erratum.id}.</strong> {words}</blockquote>", ""]
