"""A few lines of the code that is a concept, cut from its file along the syntax tree."""

import ast
import textwrap
from dataclasses import dataclass
from pathlib import Path

from headway.core.entries import Node

LINES = 14  # that fit on a slide
# The method that is the mathematics of a class: of a layer, an optimizer, a mask, a task, a classical model, a table.
METHODS = ("forward", "step", "allows", "loss", "fit", "rows", "measure", "__call__")


@dataclass(frozen=True)
class Excerpt:
    text: str
    line: int  # where it begins in its file


def excerpt(path: Path, node: Node) -> Excerpt:
    """The head and the first statements of a function, or of the method that matters most of a class; docstrings are left out."""
    lines = path.read_text(encoding="utf-8").split("\n")
    chosen = main_part(node)
    body = chosen.body[1:] if ast.get_docstring(chosen) is not None else chosen.body
    first = min([chosen.lineno, *(d.lineno for d in chosen.decorator_list)])
    head_end = chosen.body[0].lineno - 1  # the line above the body
    if not body or head_end < first:  # nothing but a docstring, or all in one line
        return Excerpt(_clean(lines[first - 1 : chosen.end_lineno]), first)
    kept = [lines[first - 1 : max(head_end, first)]]
    room = LINES - len(kept[0])
    start = body[0].lineno
    for statement in body:
        above = [line for line in lines[start - 1 : statement.lineno - 1] if line.strip()]  # comments before it
        own = [*above, *lines[statement.lineno - 1 : statement.end_lineno]]
        if len(own) > room:
            indent = " " * statement.col_offset
            kept.append([*own[: max(0, room - 1)], f"{indent}..."])
            break
        kept.append(own)
        room -= len(own)
        start = (statement.end_lineno or statement.lineno) + 1
    return Excerpt(_clean([line for part in kept for line in part]), first)


def main_part(node: Node) -> Node:
    """The method of a class that is its mathematics; a function, or a class of fields alone, stays as it is."""
    if isinstance(node, ast.FunctionDef):
        return node
    methods = {item.name: item for item in node.body if isinstance(item, ast.FunctionDef)}
    public = [name for name in methods if not name.startswith("_")]
    for name in (*METHODS, *public, "__init__"):
        if name in methods:
            return methods[name]
    return node


def _clean(lines: list[str]) -> str:
    return textwrap.dedent("\n".join(line for line in lines if line.strip()))
