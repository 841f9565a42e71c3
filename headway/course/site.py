"""The course as an offline site: an index, a page for each lecture, and the files that the pages quote."""

from collections.abc import Mapping
from html import escape
from importlib.resources import files
from pathlib import Path

from headway.core.files import disk_errors, write_text
from headway.course.cards import anchor, code_address, concept_card, erratum_card, experiment_card, file_name
from headway.course.excerpt import excerpt
from headway.course.outcomes import Outcome
from headway.course.outline import Lecture, Section, lectures
from headway.course.syllabus import concepts
from headway.lab import catalog
from headway.report.page import document, heading

TITLE = "The lectures, from the code"
INTRO = (
    "One page for each lecture, in its own order: every concept with its equation and the code that is it, every experiment with its "
    "figure and verdict, and what is printed wrong."
)
STYLES = (("headway.lab", "lab.css"), ("headway.course", "course.css"))
KEYS = "→ and ← go to the next and the previous item; p makes the page fit for projection."


def write_site(folder: Path, outcomes: Mapping[str, Outcome]) -> list[Path]:
    """Write the whole site; the pages, the index first."""
    pages = {"index.html": index_page(), **{page_name(item): lecture_page(item, outcomes) for item in lectures()}}
    quoted = {excerpt(concept.path, concept.node).path for concept in concepts().values() if not concept.missing}
    pages |= {code_address(path): code_page(path) for path in sorted(quoted)}
    for name, text in pages.items():
        with disk_errors(folder):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
        write_text(folder / name, text)
    return [folder / name for name in pages]


def page_name(lecture: Lecture) -> str:
    return f"lecture_{lecture.key.lower()}.html"


def index_page() -> str:
    """The five lectures with their sections."""
    parts = []
    for item in lectures():
        links = "".join(
            f'<li><a href="{page_name(item)}#{anchor("section", s.title)}">{escape(s.title)}</a></li>'
            for s in item.sections
        )
        head = f'<h2><a href="{page_name(item)}">{item.key}. {escape(item.title)}</a></h2>'
        words = f'<p class="soft">{escape(summary(item))}</p><p>{escape(item.about)}</p>'
        parts.append(f'<section class="panel">{head}{words}<ul>{links}</ul></section>')
    return _document(TITLE, heading(TITLE, INTRO) + f'<div class="lectures">{"".join(parts)}</div>')


def summary(item: Lecture) -> str:
    """`UW slides ...: 86 concepts, 42 experiments`."""
    count = sum(len(section.explained()) for section in item.sections)
    runs = sum(len(section.built()) for section in item.sections)
    return f"{item.source}: {count} concepts, {runs} experiments"


def lecture_page(item: Lecture, outcomes: Mapping[str, Outcome]) -> str:
    """Contents at the side, then section after section."""
    every = lectures()
    here = frozenset(name for section in item.sections for name in section.experiments)
    others = "".join(
        f'<a href="{page_name(other)}"{" aria-current=page" if other is item else ""}>{other.key}</a>'
        for other in every
    )
    links = "".join(f'<li><a href="#{anchor("section", s.title)}">{escape(s.title)}</a></li>' for s in item.sections)
    contents = (
        f'<nav class="contents"><p><a href="index.html">All lectures</a> <span class="others">{others}</span></p>'
        f"<details open><summary>Sections</summary><ul>{links}</ul></details><p class='soft keys'>{KEYS}</p></nav>"
    )
    body = "".join(section_html(item.key, section, here, outcomes) for section in item.sections)
    head = heading(f"{item.key}. {item.title}", summary(item)) + f"<p>{escape(item.about)}</p>"
    return _document(
        f"{item.key}. {item.title}", f'<div class="course">{contents}<div class="lecture">{head}{body}</div></div>'
    )


def section_html(key: str, section: Section, here: frozenset[str], outcomes: Mapping[str, Outcome]) -> str:
    words = f"<header><h2>{escape(section.title)}</h2><p>{escape(section.about)}</p></header>"
    parts = [f'<section id="{anchor("section", section.title)}">{words}']
    parts += [concept_card(concept, here) for concept in section.explained()]
    parts += [experiment_card(entry, outcomes.get(catalog.identity(entry))) for entry in section.built()]
    parts += [erratum_card(erratum) for erratum in section.corrections(key)]
    return "\n".join([*parts, "</section>\n"])


def code_page(path: Path) -> str:
    """A whole file with numbered lines, so that a quotation can be read where it stands."""
    lines = path.read_text(encoding="utf-8").rstrip("\n").split("\n")
    numbered = "\n".join(f'<span id="L{n}">{escape(line)}</span>' for n, line in enumerate(lines, 1))
    return _document(file_name(path), f'{heading(file_name(path))}<pre class="panel source">{numbered}</pre>')


def _document(title: str, body: str) -> str:
    style = "".join(files(package).joinpath(name).read_text(encoding="utf-8") for package, name in STYLES)
    script = files("headway.course").joinpath("course.js").read_text(encoding="utf-8")
    return document(title, f"<style>{style}</style>{body}<script>{script}</script>", {"maps": []})
