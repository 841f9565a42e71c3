"""The documentation: every argument is explained, every link leads somewhere, every snippet and command runs."""

import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from headway.cli import understand
from headway.data.grammar.corpus import generate
from headway.verbs import ORDER

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
sys.path.insert(0, str(DOCS))

import assemble  # noqa: E402
import explanations  # noqa: E402
import offline  # noqa: E402
import reference  # noqa: E402

GUIDES = sorted(
    p for p in [*DOCS.glob("*.md"), ROOT / "CONTRIBUTING.md"] if p.name not in ("findings.md", "contracts.md")
)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sources of the site."""
    folder = tmp_path_factory.mktemp("site")
    assemble.assemble(folder)
    return folder


# -- the reference -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("page", reference.PAGES)
def test_every_argument_is_explained(page: str) -> None:
    missing = reference.unexplained(reference.PAGES[page][1]())
    rule = "write a line `name   meaning` into the docstring, or a comment behind it (CONTRIBUTING.md explains)"
    assert not missing, f"{rule}:\n" + "\n".join(missing)


SAMPLE = '''
from dataclasses import dataclass

@dataclass
class Box:
    """A box.

    height   from the floor
    """

    long: int  # along the wall
    height: float = 2.5
    secret: str = ""

class Parent:
    """What a parent explains.

    size   how large
    """
    def __init__(self, size: int, nothing: int) -> None: ...

class Child(Parent):
    """Inherits its constructor."""

def cut(
    thing: Box,  # what is cut
    *more: int,
    deep: int = 3,
    **rest: str,
) -> Box:
    """Cut it.

    more, rest
            two at once,
            over two lines
    """

def _private(unknown): ...
'''


def test_explanations_are_found_where_they_may_stand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "headway" / "layers").mkdir(parents=True)
    path = tmp_path / "headway" / "layers" / "sample.py"
    path.write_text(SAMPLE, encoding="utf-8")
    monkeypatch.setattr(explanations, "ROOT", tmp_path)
    monkeypatch.setattr(explanations, "PACKAGE", tmp_path / "headway")
    explanations.classes.cache_clear()
    try:
        box, parent, child, cut = explanations.public(path)
    finally:
        explanations.classes.cache_clear()
    assert {a.name: a.meaning for a in box.arguments} == {
        "long": "along the wall",
        "height": "from the floor",
        "secret": "",
    }
    assert {a.name: a.meaning for a in parent.arguments} == {"size": "how large", "nothing": ""}
    assert child.arguments == parent.arguments and child.doc == "Inherits its constructor."
    assert {a.name: a.meaning for a in cut.arguments} == {
        "thing": "what is cut",
        "*more": "two at once, over two lines",
        "deep": "",
        "**rest": "two at once, over two lines",
    }
    assert cut.call == "cut(thing, *more, deep=3, **rest)" and cut.doc == "Cut it."
    page = "\n\n".join(reference.section(thing) for thing in (box, parent, child, cut))
    assert reference.unexplained(page) == ["Box: `secret`", "Parent: `nothing`", "Child: `nothing`", "cut: `deep`"]


def test_shared_explanations_are_used() -> None:
    shown = "\n".join(page() for _, page in reference.PAGES.values())
    unused = [f"[{room}] {name}" for room, words in explanations.SHARED.items() for name, meaning in words.items()
              if reference.escaped(meaning) not in shown]  # fmt: skip
    assert not unused, "explanations that no page shows"


def test_the_reference_knows_what_the_registry_knows(site: Path) -> None:
    from headway.core import registry

    for room, page in (("tasks", "tasks"), ("models", "models")):
        headings = re.findall(
            r"^## (\w+)$", (site / "reference" / f"{page}.md").read_text(encoding="utf-8"), re.MULTILINE
        )
        assert set(registry.entries(room)) <= set(headings)
    layers = re.findall(r"^### (\w+)$", (site / "reference" / "layers.md").read_text(encoding="utf-8"), re.MULTILINE)
    for room, place in registry.ROOMS.items():
        if place.startswith("layers"):
            assert {e.class_name for e in registry.entries(room).values()} <= set(layers)


# -- links ---------------------------------------------------------------------------------------------------


def without_code(text: str) -> str:
    text = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    return re.sub(r"`[^`\n]*`", lambda m: m[0] if "](" not in m[0] else "", text)


def anchors(text: str) -> set[str]:
    """The anchors of a page's headings, as the generator makes them."""
    headings = re.findall(r"^#+ (.+)$", re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL), re.MULTILINE)
    return {re.sub(r"[\s-]+", "-", re.sub(r"[^\w\s-]", "", h).strip().lower()) for h in headings}


def broken_links(page: Path, root: Path) -> list[str]:
    """Relative links of a page that lead nowhere, or out of the root; addresses of other sites are not followed."""
    found = []
    for target in re.findall(r"\]\(([^)\s]+)\)", without_code(page.read_text(encoding="utf-8"))):
        if re.match(r"[a-z]+:", target):
            continue
        name, _, anchor = target.partition("#")
        path = (page.parent / name).resolve() if name else page
        if not path.is_relative_to(root.resolve()) or not path.exists():
            found.append(f"{page.relative_to(root)}: there is no `{target}`")
        elif anchor and anchor not in anchors(path.read_text(encoding="utf-8")):
            found.append(f"{page.relative_to(root)}: `{name or page.name}` has no heading `{anchor}`")
    return found


def test_links_of_the_site(site: Path) -> None:
    assert not [problem for page in sorted(site.rglob("*.md")) for problem in broken_links(page, site)]


def test_links_of_the_repository() -> None:
    """Pages of the root, as they are read without the site: they may not lead to generated pages."""
    assert not [
        problem
        for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")
        for problem in broken_links(ROOT / name, ROOT)
    ]


def test_a_broken_link_would_be_noticed(tmp_path: Path) -> None:
    (tmp_path / "other.md").write_text("# A heading, with `code`\n", encoding="utf-8")
    page = tmp_path / "page.md"
    page.write_text(
        "[a](other.md#a-heading-with-code) [b](other.md#none) [c](gone.md) [d](https://x.y) [e](../out.md) `[f](g.md)`",
        encoding="utf-8",
    )
    assert broken_links(page, tmp_path) == [
        "page.md: `other.md` has no heading `none`",
        "page.md: there is no `gone.md`",
        "page.md: there is no `../out.md`",
    ]


def test_the_navigation_lists_every_page(site: Path) -> None:
    def pages(item: Any) -> list[str]:
        if isinstance(item, str):
            return [item]
        return [page for value in (item.values() if isinstance(item, dict) else item) for page in pages(value)]

    listed = pages(tomllib.loads((ROOT / "zensical.toml").read_text(encoding="utf-8"))["project"]["nav"])
    assert sorted(listed) == sorted(p.relative_to(site).as_posix() for p in site.rglob("*.md"))


def test_a_page_that_needs_a_network_would_be_noticed(tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text(
        '<link rel=stylesheet href=https://f.x/a.css><link rel="canonical" href="https://y/"><a href="https://z">z</a>'
        '<script src="https://unpkg.com/shim"></script><script src="own.js"></script><img src="//w/p.png">',
        encoding="utf-8",
    )
    (tmp_path / "style.css").write_text('@import "https://v/b.css"; a { background: url(own.png) }', encoding="utf-8")
    found = offline.loads(tmp_path)
    assert sorted(line.split(": ")[1] for line in found) == [
        "//w/p.png",
        "https://f.x/a.css",
        "https://unpkg.com/shim",
        "https://v/b.css",
    ]


# -- what can be run -----------------------------------------------------------------------------------------


def commands(page: Path) -> list[str]:
    """The lines of a page's indented blocks, and the code in its text, that begin with `headway`."""
    text = page.read_text(encoding="utf-8")
    found = re.findall(r"^    (?:\$ )?(headway .*)$", text, re.MULTILINE) + re.findall(r"`(headway \w[^`]*)`", text)
    return [part for line in found for part in line.split(" && ") if not re.search(r"<|\.\.\.|TASK|NAME|DIR\b", part)]


@pytest.mark.parametrize("page", GUIDES, ids=lambda p: p.name)
def test_every_command_is_understood(page: Path) -> None:
    for line in commands(page):
        words = shlex.split(line, comments=True)[1:]
        if len(words) == 1 and words[0] in ORDER:
            continue  # a verb that is spoken of
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                understand(words)
        except SystemExit as end:  # `--help` prints and ends
            assert not end.code and "--help" in words, line


def test_there_are_commands_and_snippets_to_run() -> None:
    assert sum(len(commands(page)) for page in GUIDES) > 30 and len(snippets(DOCS / "python.md")) >= 8


def snippets(page: Path) -> list[str]:
    return re.findall(r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


def run_python(code: str, folder: Path) -> str:
    """What a person's Python prints: a process of its own, in that folder."""
    environment = os.environ | {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, env=environment, capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("page", [p for p in GUIDES if snippets(p) and p.name != "own_layers.md"], ids=lambda p: p.name)
def test_snippets_run(page: Path, tmp_path: Path) -> None:
    """One after the other, in one folder that holds the files they name (own_layers.md has a test of its own)."""
    for name, split, count in (("train", "train", 300), ("test", "test", 20)):
        pairs = generate(count, split, 3)
        (tmp_path / f"{name}.en").write_text("".join(p.source + "\n" for p in pairs), encoding="utf-8")
        (tmp_path / f"{name}.de").write_text("".join(p.target + "\n" for p in pairs), encoding="utf-8")
    (tmp_path / "input.txt").write_text((DOCS / "findings.md").read_text(encoding="utf-8"), encoding="utf-8")
    run_python("\n".join(snippets(page)), tmp_path)


def test_the_tour_runs(tmp_path: Path) -> None:
    printed = run_python(f"import runpy; runpy.run_path({str(DOCS / 'tour.py')!r}, run_name='__main__')", tmp_path)
    assert "perplexity" in printed and "blocks.0.mixer" in printed
    before, after = map(float, re.findall(r"^loss ([\d.]+) -> ([\d.]+)$", printed, re.MULTILINE)[0])
    assert after < 0.5 < before, "the last cell learns its batch by heart"
