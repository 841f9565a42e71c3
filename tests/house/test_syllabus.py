"""The syllabus tells the truth: what it lists is there, found and shown; what it calls missing is missing; nothing is left out."""

import ast
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from headway.core import registry
from headway.lab import catalog

REPOSITORY = registry.ROOT.parent
SYLLABUS = tomllib.loads((registry.ROOT / "course" / "syllabus.toml").read_text(encoding="utf-8"))
CONCEPTS: list[dict[str, Any]] = SYLLABUS["concept"]
THERE = [c for c in CONCEPTS if not c.get("missing")]
MISSING = [c for c in CONCEPTS if c.get("missing")]
FIELDS = {"name", "lecture", "find", "code"}
LISTED = [room for room in registry.ROOMS if room != "recipes" and not room.startswith("lab/")]


@cache
def names(path: Path) -> list[str]:
    """What a file defines, with the methods of its classes: `Loop`, `Loop.run`."""
    found = []
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            inner = [f"{node.name}.{n.name}" for n in node.body if isinstance(n, ast.FunctionDef)]
            found += [node.name, *inner] if isinstance(node, ast.ClassDef) else [node.name]
    return found


def resolved(code: str) -> tuple[Path, str] | None:
    """File and name of `layers/masks.py:Causal`, or of `positions/rotary.py`, which means what is called like the file."""
    file, _, name = code.partition(":")
    path = registry.ROOT / file
    if not path.is_file():
        return None
    own = [n for n in names(path) if n == name or (not name and n.lower() == path.stem.replace("_", ""))]
    return (path, own[0]) if own else None


def entry_of(concept: dict[str, Any]) -> registry.Entry | None:
    where = resolved(concept["code"])
    return next((e for room in LISTED for e in registry.entries(room).values() if (e.path, e.class_name) == where), None)


def is_shown(shown: str) -> bool:
    kind, _, name = shown.partition(": ")
    if kind == "lab":
        return name in {catalog.identity(entry) for entry in catalog.every()}
    if kind == "docs/findings.md":
        headings = [line for line in (REPOSITORY / kind).read_text(encoding="utf-8").split("\n") if line.startswith("## ")]
        return any(line.endswith(": " + name) for line in headings)
    file, _, test = shown.partition("::")
    return (REPOSITORY / file).is_file() and test in names(REPOSITORY / file)


def test_every_row_is_whole() -> None:
    for concept in CONCEPTS:
        expected = FIELDS | ({"missing"} if "missing" in concept else {"shown"})
        assert set(concept) == expected, concept["name"]
        assert all(concept[key] for key in expected) and set(concept["lecture"].split()) <= set("ABCDE"), concept["name"]
    known = [c["name"] for c in CONCEPTS]
    assert len(set(known)) == len(known)


@pytest.mark.parametrize("concept", THERE, ids=lambda c: c["name"])
def test_what_is_listed_is_there_and_shown(concept: dict[str, Any]) -> None:
    assert resolved(concept["code"]), f"`{concept['code']}` does not exist"
    assert is_shown(concept["shown"]), f"`{concept['shown']}` does not exist"


@pytest.mark.parametrize("concept", [c for c in THERE if entry_of(c)], ids=lambda c: c["name"])
def test_what_a_student_types_finds_it(concept: dict[str, Any]) -> None:
    found = registry.find(concept["find"])[:3]
    assert entry_of(concept) in found, f"`headway find {concept['find']}` answers {[f'{e.room}/{e.name}' for e in found]}"


@pytest.mark.parametrize("concept", MISSING, ids=lambda c: c["name"])
def test_what_is_called_missing_is_missing(concept: dict[str, Any]) -> None:
    assert not resolved(concept["code"]), f"`{concept['code']}` exists: say in the syllabus what shows it, and remove `missing`"


@pytest.mark.parametrize("room", LISTED)
def test_nothing_is_left_out(room: str) -> None:
    listed = {where for c in THERE if (where := resolved(c["code"]))}
    left = [e.name for e in registry.entries(room).values() if (e.path, e.class_name) not in listed]
    assert not left, f"headway/course/syllabus.toml does not list {left} of `{room}`"


def test_every_experiment_is_there_or_missing() -> None:
    modules = {m["name"]: m for m in SYLLABUS["module"]}
    assert list(modules) == list(registry.LAB)
    every: list[str] = []
    for name, module in modules.items():
        there = {entry.name.replace("_", "-") for entry in registry.entries(f"lab/{name}").values()}
        assert not there & set(module["missing"]), f"no longer missing in `{name}`"
        every += [*there, *module["missing"]]
    assert len(set(every)) == len(every) == 149
