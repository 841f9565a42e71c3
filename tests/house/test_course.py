"""The outline of the course: every concept, experiment and erratum of a lecture is in it once, and nothing unknown."""

import ast
import re
from collections import Counter

import pytest

from headway.core import registry
from headway.course.excerpt import LINES, excerpt
from headway.course.main_part import Part, main_part
from headway.course.markdown import page_name
from headway.course.outline import Lecture, lectures
from headway.course.syllabus import Concept, concepts, planned
from headway.lab import catalog
from headway.lab.errata import NOTES, register

EXPERIMENTS = {catalog.identity(entry): entry for entry in catalog.every()}
by_key = pytest.mark.parametrize("lecture", lectures(), ids=lambda lecture: lecture.key)


def listed(lecture: Lecture, what: str) -> Counter[str]:
    return Counter(name for section in lecture.sections for name in getattr(section, what))


def test_there_is_an_outline_for_every_lecture() -> None:
    assert [lecture.key for lecture in lectures()] == list(NOTES)


@by_key
def test_every_concept_of_the_lecture_is_there_once(lecture: Lecture) -> None:
    found = listed(lecture, "concepts")
    assert set(found) == {c.name for c in concepts().values() if lecture.key in c.lectures}
    assert [name for name, count in found.items() if count > 1] == []


@by_key
def test_every_experiment_that_names_the_lecture_is_there_once(lecture: Lecture) -> None:
    found = listed(lecture, "experiments")
    assert {name for name, entry in EXPERIMENTS.items() if lecture.key in catalog.statement(entry).notes} <= set(found)
    assert set(found) <= {*EXPERIMENTS, *planned()}, "an experiment that nobody plans"
    assert [name for name, count in found.items() if count > 1] == []


@by_key
def test_every_erratum_of_the_lecture_is_there(lecture: Lecture) -> None:
    """By itself if nothing can show it, else through one of its experiments."""
    experiments, alone = set(listed(lecture, "experiments")), listed(lecture, "errata")
    mine = [erratum for erratum in register() if erratum.id[0] == lecture.key]
    assert [e.id for e in mine if not (alone[e.id] or experiments & set(e.exposed_by))] == []
    assert sorted(alone) == [e.id for e in mine if not e.exposed_by]


@by_key
def test_sections_have_titles_of_their_own(lecture: Lecture) -> None:
    titles = [section.title for section in lecture.sections]
    assert len(set(titles)) == len(titles) and all(section.about.endswith((".", "?")) for section in lecture.sections)


@pytest.mark.parametrize("concept", concepts().values(), ids=lambda c: c.name)
def test_the_code_of_a_concept_is_quoted_from_its_file(concept: Concept) -> None:
    part = excerpt(concept.path, concept.node)
    whole = part.path.read_text(encoding="utf-8").split("\n")
    quoted = [line.strip() for line in part.text.split("\n") if line.strip() not in ("", "...")]
    assert 1 <= len(quoted) <= LINES + 1 and quoted[0] == whole[part.line - 1].strip()
    assert set(quoted) <= {line.strip() for line in whole}
    doc = ast.get_docstring(main_part(Part(concept.path, concept.node))[1])
    assert not doc or doc.split("\n")[0] not in part.text, "the docstring is shown above the code"


def test_the_files_of_the_course_are_in_the_package() -> None:
    for name in ("syllabus.toml", "lectures.toml", "course.css", "course.js"):
        assert (registry.ROOT / "course" / name).is_file()


@by_key
def test_docs_lectures_follows_the_outline(lecture: Lecture) -> None:
    """`make lectures` was run since an item was added; changes inside an item need no new run, the site makes one."""
    page = (registry.ROOT.parent / "docs" / "lectures" / page_name(lecture)).read_text(encoding="utf-8")
    shown = re.sub(r"^```.*?^```", "", page, flags=re.MULTILINE | re.DOTALL)
    expected = []
    for section in lecture.sections:
        expected += [f"## {section.title}", *(f"### {concept.name}" for concept in section.explained())]
        expected += [f"### Experiment: {catalog.identity(entry)}" for entry in section.built()]
    assert re.findall(r"^##+ .+$", shown, re.MULTILINE) == expected, "run `make lectures`"
