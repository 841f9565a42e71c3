"""The pages of the course: complete, offline, the same each time; and where their verdicts and figures come from."""

import hashlib
import html
import json
import os
import re
import shlex
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

from headway.cli import main, understand
from headway.core import registry
from headway.core.errors import DataError, UsageError
from headway.course import outcomes
from headway.course.cards import anchor
from headway.course.commands import commands, shown_as
from headway.course.excerpt import excerpt
from headway.course.explanation import explanation, typeset
from headway.course.markdown import write_markdown
from headway.course.outline import Lecture, lectures
from headway.course.site import lecture_page, write_site
from headway.course.syllabus import concepts
from headway.lab import catalog
from headway.lab.errata import register
from headway.lab.page import markdown
from headway.lab.runner import run

REPOSITORY = registry.ROOT.parent
sys.path.insert(0, str(REPOSITORY / "docs"))

import offline  # noqa: E402

by_key = pytest.mark.parametrize("lecture", lectures(), ids=lambda lecture: lecture.key)


@pytest.fixture(scope="module")
def found() -> dict[str, outcomes.Outcome]:
    return outcomes.stored(REPOSITORY / "docs" / "lab")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, found: dict[str, outcomes.Outcome]) -> Path:
    folder = tmp_path_factory.mktemp("course")
    write_site(folder, found)
    return folder


class Reader(HTMLParser):
    """What a browser makes of a page: addresses, and the text of each `pre` of code."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.code: list[str] = []
        self.open = False
        self.figures = 0  # how deep inside of an SVG, whose own ids are no addresses
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.figures += tag == "svg"
        self.ids += [given["id"]] if given.get("id") and not self.figures else []
        self.links += [given["href"]] if tag == "a" and given.get("href") else []
        if tag == "pre" and given.get("class") == "code":
            self.open = True
            self.code.append("")

    def handle_endtag(self, tag: str) -> None:
        self.open = self.open and tag != "pre"
        self.figures -= tag == "svg"

    def handle_data(self, data: str) -> None:
        if self.open:
            self.code[-1] += data


# -- the site ------------------------------------------------------------------------------------------------


@by_key
def test_a_page_is_complete(lecture: Lecture, site: Path, found: dict[str, outcomes.Outcome]) -> None:
    text = (site / f"lecture_{lecture.key.lower()}.html").read_text(encoding="utf-8")
    read = Reader(text)
    for section in lecture.sections:
        assert f'<section id="{anchor("section", section.title)}">' in text
        for name in section.concepts:
            assert f'id="{anchor("concept", name)}"' in text and typeset(explanation(concepts()[name]).claim) in text, name
        for entry in section.built():
            name = catalog.identity(entry)
            card = text[text.index(f'id="{name}"') :].split("</article>")[0]
            assert ("<svg" in card) == bool(found[name].svg) and found[name].verdict.split(" (")[0] in card
    assert [e.id for e in register() if e.id[0] == lecture.key and f"Erratum {e.id}<" not in text] == []
    quoted = [excerpt(c.path, c.node).text for s in lecture.sections for c in s.explained()]
    assert read.code == quoted and all(f'<pre class="code">{html.escape(code)}</pre>' in text for code in quoted)


def test_every_link_leads_somewhere_and_nothing_is_loaded(site: Path) -> None:
    pages = {path.relative_to(site).as_posix(): Reader(path.read_text(encoding="utf-8")) for path in site.rglob("*.html")}
    assert {"index.html", *(f"lecture_{key}.html" for key in "abcde")} <= set(pages)
    for name, page in pages.items():
        assert len(set(page.ids)) == len(page.ids), name
        for link in page.links:
            if not link.startswith("https://"):
                file, _, place = link.partition("#")
                target = (Path(name).parent / file).as_posix() if file else name
                assert target in pages and (not place or place in pages[target].ids), f"{name}: {link}"
    assert offline.loads(site) == []


def test_the_same_page_each_time() -> None:
    """Also in another process, where sets are in another order."""
    code = (
        "import hashlib, pathlib; from headway.course import outcomes, outline, site; "
        "found = outcomes.stored(pathlib.Path('docs/lab')); "
        "print(hashlib.sha256(site.lecture_page(outline.lectures()[4], found).encode()).hexdigest())"
    )
    environment = os.environ | {"PYTHONHASHSEED": "7", "PYTHONPATH": str(REPOSITORY)}
    done = subprocess.run([sys.executable, "-c", code], cwd=REPOSITORY, env=environment, capture_output=True, text=True)
    page = lecture_page(lectures()[4], outcomes.stored(REPOSITORY / "docs" / "lab"))
    assert done.stdout.strip() == hashlib.sha256(page.encode()).hexdigest(), done.stderr


def test_an_experiment_that_was_not_run_has_no_verdict() -> None:
    page = lecture_page(lectures()[4], {})
    built = sum(len(section.built()) for section in lectures()[4].sections)
    assert page.count(">not run<") == built > 5 and "<svg" not in page


def test_markdown_links_figures_that_are_kept_and_writes_the_others(tmp_path: Path, found: dict[str, outcomes.Outcome]) -> None:
    drawn = outcomes.Outcome("CONFIRMED", "<svg>one</svg>")
    write_markdown(tmp_path / "docs" / "lectures", found | {"softmax-nll": drawn})
    page = (tmp_path / "docs" / "lectures" / "lecture_e.md").read_text(encoding="utf-8")
    assert "![softmax-nll](softmax-nll.svg)" in page
    assert (tmp_path / "docs" / "lectures" / "softmax-nll.svg").read_text(encoding="utf-8") == drawn.svg
    target = re.search(r"!\[relu-bump\]\((.+)\)", page)
    assert target and (tmp_path / "docs" / "lectures" / target[1]).resolve() == REPOSITORY / "docs" / "lab" / "relu-bump.svg"


# -- commands ------------------------------------------------------------------------------------------------


def test_every_command_is_understood(capsys: pytest.CaptureFixture[str]) -> None:
    typed = {command for concept in concepts().values() for command in commands(concept)}
    assert len(typed) > 150
    for command in sorted(typed):
        words = shlex.split(command)[1:]
        try:
            understand(words)
        except SystemExit as end:
            assert not end.code and "--help" in words, command


def test_a_name_of_two_things_is_written_out() -> None:
    assert shown_as(registry.get("schedules", "step")) == '"step schedule"'
    assert shown_as(registry.get("activations", "step")) == "step"


# -- the excerpt ---------------------------------------------------------------------------------------------

SAMPLE = '''
class Parent:
    def forward(self, x):
        """Twice."""
        return 2 * x


class Child(Parent):
    """Inherits what it computes."""


class Own:
    def forward(self, x):
        """Long."""
        if x is None:
            raise ValueError("nothing")
        y = scale(x)

        # the sum
        return y + self._shift(x)

    def _shift(self, x):
        """One more."""
        return x + 1

    def other(self):
        return 0


def scale(x):
    return 3 * x


def long(x):
    """Many lines."""
''' + "".join(f"    x = x + {n}\n" for n in range(20)) + "    return x\n"


@pytest.fixture
def sample(tmp_path: Path) -> dict[str, str]:
    import ast

    path = tmp_path / "sample.py"
    path.write_text(SAMPLE, encoding="utf-8")
    nodes = [node for node in ast.parse(SAMPLE).body if isinstance(node, ast.ClassDef | ast.FunctionDef)]
    return {node.name: excerpt(path, node).text for node in nodes}


def test_an_excerpt_is_what_computes(sample: dict[str, str]) -> None:
    assert sample["Child"] == "def forward(self, x):\n    return 2 * x"
    assert sample["Own"] == (
        "def forward(self, x):\n    y = scale(x)\n    # the sum\n    return y + self._shift(x)\n\n"
        "def scale(x):\n    return 3 * x\n\ndef _shift(self, x):\n    return x + 1"
    )
    lines = sample["long"].split("\n")
    assert len(lines) == 15 and lines[-1] == "    ..." and "Many lines" not in sample["long"]


def test_what_is_inherited_is_quoted_from_the_parent() -> None:
    concept = concepts()["gradient descent"]
    found = excerpt(concept.path, concept.node)
    assert found.path.name == "sgd.py" and found.text.startswith("def update(")


# -- where verdicts come from --------------------------------------------------------------------------------


def test_results_are_read_as_the_lab_writes_them(tmp_path: Path) -> None:
    result = run("mp-gates")
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "classical.md").write_text(markdown("classical", [result]), encoding="utf-8")
    (tmp_path / "docs" / "mp-gates.svg").write_text(result.svg, encoding="utf-8")
    assert main(["lab", "run", "mp-gates", "--out", str(tmp_path / "run")]) == 0
    for folder in ("docs", "run"):
        found = outcomes.stored(tmp_path / folder)
        assert list(found) == ["mp-gates"] and found["mp-gates"].verdict == result.verdict
        assert found["mp-gates"].svg == result.svg and found["mp-gates"].file == tmp_path / folder / "mp-gates.svg"


def test_only_what_is_not_known_is_run(found: dict[str, outcomes.Outcome]) -> None:
    lines: list[str] = []
    known = {catalog.identity(e): outcomes.Outcome("CONFIRMED") for e in catalog.every()}
    del known["mp-gates"]
    every = outcomes.complete(known, 1, lines.append)
    assert len(lines) == 1 and "mp-gates" in lines[0] and every["mp-gates"].verdict == found["mp-gates"].verdict
    assert every["mp-gates"].svg.count("<svg") == 1 and every.keys() - known.keys() == {"mp-gates"}


def test_mistakes_are_told(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="there is no folder"):
        outcomes.stored(tmp_path / "none")
    with pytest.raises(DataError, match="holds no results of the lab"):
        outcomes.stored(tmp_path)
    (tmp_path / "ols.json").write_text(json.dumps(["no result"]), encoding="utf-8")
    with pytest.raises(DataError, match="`.*ols.json` is not a result of the lab") as told:
        outcomes.stored(tmp_path)
    assert "headway lab run ols" in told.value.hint
    from headway.verbs.course import run as do_course

    for words, message in (
        ([], "where should the course go"),
        (["--out", str(tmp_path / "ols.json")], "is a file, not a folder"),
        (["--out", str(tmp_path / "site"), "--jobs", "0"], "should be at least 1"),
    ):
        with pytest.raises(UsageError, match=message):
            do_course(understand(["course", *words]))
    assert not (tmp_path / "site").exists()
