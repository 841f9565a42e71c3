"""The syllabus (`syllabus.toml`): every concept of the lectures, where its code is, and what shows that it is right."""

import ast
import tomllib
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

from headway.core import registry
from headway.core.entries import Entry, Node, slug
from headway.course.main_part import tree_of

FILE = registry.ROOT / "course" / "syllabus.toml"


@dataclass(frozen=True)
class Concept:
    """One row of the syllabus."""

    name: str
    lecture: str  # keys of the lectures, "A C"
    find: str  # what a student types after `headway find`
    code: str  # its file below `headway/`, or file:name
    shown: str = ""  # a test, `lab: EXPERIMENT`, or `docs/findings.md: HEADING`
    missing: bool = False  # not built yet

    @property
    def lectures(self) -> tuple[str, ...]:
        return tuple(self.lecture.split())

    @property
    def path(self) -> Path:
        return registry.ROOT / self.code.partition(":")[0]

    @cached_property
    def nodes(self) -> tuple[ast.Module | Node, ...]:
        """The syntax tree of its file, then the class, then the function, as far as `code` names them."""
        found: list[ast.Module | Node] = [tree_of(self.path)]
        for name in (self.code.partition(":")[2] or self.path.stem).split("."):
            inner = [node for node in found[-1].body if isinstance(node, Node)]
            exact = [node for node in inner if node.name == name]
            found.append((exact or [node for node in inner if slug(node.name) == slug(name)])[0])
        return tuple(found)

    @property
    def node(self) -> Node:
        """The class or function that is the concept."""
        last = self.nodes[-1]
        if isinstance(last, ast.Module):
            raise TypeError(f"`{self.code}` names a file without a class or function of that name")
        return last

    @cached_property
    def entry(self) -> Entry | None:
        """The entry of the registry that it is, where it is one."""
        return _entries().get((self.path, self.node.name))


@cache
def _entries() -> dict[tuple[Path, str], Entry]:
    return {(e.path, e.class_name): e for room in registry.ROOMS for e in registry.entries(room).values()}


@cache
def _rows() -> dict[str, list[dict[str, object]]]:
    return tomllib.loads(FILE.read_text(encoding="utf-8"))


@cache
def concepts() -> dict[str, Concept]:
    """Every concept, by name."""
    return {str(row["name"]): Concept(**row) for row in _rows()["concept"]}  # type: ignore[arg-type]


@cache
def planned() -> frozenset[str]:
    """The experiments that are not built yet."""
    return frozenset(str(name) for row in _rows()["module"] for name in row["missing"])  # type: ignore[attr-defined]
