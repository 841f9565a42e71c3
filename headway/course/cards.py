"""The parts of a lecture's page as HTML: a concept, an experiment, an erratum that stands alone."""

import re
from html import escape
from pathlib import Path

from headway.core import registry
from headway.core.entries import Entry
from headway.course.commands import commands
from headway.course.excerpt import excerpt
from headway.course.explanation import explanation, typeset
from headway.course.outcomes import Outcome
from headway.course.syllabus import Concept
from headway.lab import catalog, style
from headway.lab.errata import Erratum
from headway.lab.experiment import NOT_REPRODUCED, REFUTED, SKIPPED
from headway.lab.page import box, linked, statement

MARKS = {NOT_REPRODUCED: "bad", REFUTED: "refuted", SKIPPED: "skipped"}  # the look of a verdict; others are good


def anchor(kind: str, name: str) -> str:
    """The address of a `concept` or a `section` on its page; an experiment has its own name."""
    return f"{kind}-" + "-".join(re.findall(r"[a-z0-9]+", name.lower()))


def file_name(path: Path) -> str:
    """`headway/layers/scores/dot.py`."""
    return path.relative_to(registry.ROOT.parent).as_posix()


def code_address(path: Path) -> str:
    """Where the site keeps a file that it quotes."""
    return "code/" + path.relative_to(registry.ROOT).with_suffix(".html").as_posix()


def concept_card(concept: Concept, shown_here: frozenset[str]) -> str:
    """Sentence, equation, paper, code, commands, and what shows it; `shown_here` are the experiments of the same page."""
    words, part = explanation(concept), excerpt(concept.path, concept.node)
    parts = [
        f'<article class="panel" id="{anchor("concept", concept.name)}"><header><h3>{escape(concept.name)}</h3></header>'
    ]
    parts += [f'<p class="claim">{typeset(words.claim)}</p>'] if words.claim else []
    parts += [equation_html(block) if equation else f"<p>{typeset(block)}</p>" for equation, block in words.blocks]
    address = f"{code_address(part.path)}#L{part.line}"
    parts.append(f'<p class="file"><a href="{address}">{file_name(part.path)}</a></p>')
    parts.append(f'<pre class="code">{escape(part.text)}</pre>')
    tries = " · ".join(f"<code>{escape(command)}</code>" for command in commands(concept))
    parts.append(
        f"<footer>{f'Try: {tries}<br>' if tries else ''}Shown by: {_shown(concept, shown_here)}</footer></article>"
    )
    return "\n".join(parts)


def equation_html(block: str) -> str:
    """An equation, or a table: lines in columns keep their columns."""
    columns = sum(bool(re.search(r"\S {3,}\S", line)) for line in block.split("\n")) > 1
    return f"<pre{' class=columns' if columns else ''}>{typeset(block)}</pre>"


def _shown(concept: Concept, shown_here: frozenset[str]) -> str:
    kind, _, name = concept.shown.partition(": ")
    if kind != "lab":
        return f"<code>{escape(concept.shown)}</code>"
    return f'experiment <a href="#{name}">{name}</a>' if name in shown_here else f"experiment {name}"


def experiment_card(entry: Entry, outcome: Outcome | None) -> str:
    """Claim, equation, verdict, figure, errata, source, and the command that repeats it."""
    name, text = catalog.identity(entry), catalog.statement(entry)
    parts = [
        f'<article class="panel experiment" id="{name}"><header><h3>{name}</h3>{badge(outcome)}</header>',
        statement(text),
    ]
    if outcome and outcome.svg:
        parts.append(f'<div class="figure">{style.inline(outcome.svg)}</div>')
    parts += [box(erratum) for erratum in catalog.errata(entry)]
    source = f"Source: {linked(text.source)}<br>" if text.source else ""
    parts.append(f"<footer>{source}Try: <code>headway lab run {name}</code></footer></article>")
    return "\n".join(parts)


def badge(outcome: Outcome | None) -> str:
    if outcome is None:
        return '<span class="badge skipped">not run</span>'
    return f'<span class="badge {MARKS.get(outcome.verdict, "good")}">{escape(outcome.verdict)}</span>'


def erratum_card(erratum: Erratum) -> str:
    return f'<article class="panel" id="erratum-{erratum.id}">{box(erratum)}</article>'
