"""Which function of a file is a concept: of a class the method that computes, wherever it is written."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import chain
from pathlib import Path

from headway.core.entries import Node
from headway.core.registry import ROOT

# The method that is the mathematics of a class: of a layer, an optimizer, a mask, a task, a classical model, a table.
METHODS = ("forward", "step", "allows", "loss", "fit", "rows", "measure", "__call__")


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@dataclass(frozen=True)
class Part:
    """A class or function of a file."""

    path: Path
    node: Node

    @property
    def tree(self) -> ast.Module:
        return tree_of(self.path)

    @cached_property
    def methods(self) -> dict[str, ast.FunctionDef]:
        return functions(self.node) if isinstance(self.node, ast.ClassDef) else {}

    @cached_property
    def public(self) -> list[str]:
        """Its methods for everybody, without those that only make an instance."""
        made = ("classmethod", "staticmethod")
        return [
            name
            for name, item in self.methods.items()
            if not name.startswith("_") and not any(ast.unparse(d) in made for d in item.decorator_list)
        ]


def functions(node: ast.Module | ast.ClassDef) -> dict[str, ast.FunctionDef]:
    return {item.name: item for item in node.body if isinstance(item, ast.FunctionDef)}


def main_part(part: Part) -> tuple[Part, Node]:
    """The class or function that is to be quoted, and in it the function.

    Of a class: its method that computes, else its other public methods; else the same of a class that it makes and that stands
    in its file, or of its parents; else its constructor.
    """
    if isinstance(part.node, ast.FunctionDef):
        return part, part.node
    for place in chain([part], _made(part), _parents(part)):
        for name in (*METHODS, *place.public):
            if name in place.methods:
                return place, place.methods[name]
    return part, part.methods.get("__init__", part.node)


def _made(part: Part) -> Iterator[Part]:
    """The classes of the same file that its code names."""
    named = {node.id for node in ast.walk(part.node) if isinstance(node, ast.Name)}
    for node in part.tree.body:
        if isinstance(node, ast.ClassDef) and node.name in named and functions(node).keys() & set(METHODS):
            yield Part(part.path, node)


def _parents(part: Part) -> Iterator[Part]:
    """The classes of the package that it inherits from, the nearest first."""
    bases = [ast.unparse(base) for base in part.node.bases] if isinstance(part.node, ast.ClassDef) else []
    files = {a.asname or a.name: i.module for i in part.tree.body if isinstance(i, ast.ImportFrom) for a in i.names}
    for name in bases:
        module = files.get(name) or ""
        path = (
            ROOT.parent.joinpath(*module.split(".")).with_suffix(".py") if module.startswith("headway.") else part.path
        )
        for node in tree_of(path).body:
            if isinstance(node, ast.ClassDef) and node.name == name:
                yield Part(path, node)
                yield from _parents(Part(path, node))
