"""A few lines of the code that is a concept, cut from its file along the syntax tree.

Of a class it is the method that computes, of a function its body, without the docstring. Where that only calls other functions of the
same file and there is room, these follow: the mathematics is often one call below.
"""

import ast
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from headway.core.entries import Node
from headway.course.main_part import METHODS, Part, functions, main_part

LINES = 14  # that fit on a slide


@dataclass(frozen=True)
class Excerpt:
    text: str
    path: Path
    line: int  # where it begins in its file


@cache
def excerpt(path: Path, node: Node) -> Excerpt:
    """At most `LINES` lines of a class or function; what does not fit is `...`."""
    place, chosen = main_part(Part(path, node))
    lines = place.path.read_text(encoding="utf-8").split("\n")
    parts = [_cut(lines, chosen, LINES)]
    for other in (*_called(place, chosen), *_beside(place, chosen)):
        part = _cut(lines, other, LINES)
        if part[-1].strip() != "..." and sum(map(len, parts)) + len(parts) + len(part) <= LINES:
            parts.append(part)
    text = "\n\n".join(textwrap.dedent("\n".join(part)) for part in parts)
    return Excerpt(text, place.path, _first(chosen))


def _first(node: Node) -> int:
    """Its first line, with the decorators."""
    return min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])


def _cut(lines: list[str], node: Node, most: int) -> list[str]:
    """The head of a function, then its statements as long as there is room; no docstring, checks or empty lines."""
    body = node.body[1:] if ast.get_docstring(node) is not None else node.body
    kept = lines[_first(node) - 1 : max(node.lineno, node.body[0].lineno - 1)]
    if not body or node.body[0].lineno == node.lineno:  # nothing but a docstring, or all in one line
        return kept
    start = body[0].lineno
    for statement in body:
        if isinstance(statement, ast.If) and isinstance(statement.body[-1], ast.Raise):  # a check of what came in
            start = (statement.end_lineno or statement.lineno) + 1
            continue
        own = [line for line in lines[start - 1 : statement.end_lineno] if line.strip()]  # with the comments above it
        if len(kept) + len(own) > most:
            return [*kept, *own[: max(0, most - len(kept) - 1)], " " * statement.col_offset + "..."]
        kept = [*kept, *own]
        start = (statement.end_lineno or statement.lineno) + 1
    return kept


def _called(place: Part, chosen: Node) -> Iterator[ast.FunctionDef]:
    """The functions of the same class or file that a function names, in the order of the text, each once."""
    others, seen = functions(place.tree), {chosen.name}
    named = [n for n in ast.walk(chosen) if isinstance(n, ast.Name | ast.Attribute)]
    for item in sorted(named, key=lambda n: (n.lineno, n.col_offset)):
        own = isinstance(item, ast.Attribute) and isinstance(item.value, ast.Name) and item.value.id == "self"
        name = item.attr if isinstance(item, ast.Attribute) else item.id
        found = place.methods.get(name) if own else others.get(name) if isinstance(item, ast.Name) else None
        if found and name not in seen:
            seen.add(name)
            yield found


def _beside(place: Part, chosen: Node) -> Iterator[ast.FunctionDef]:
    """The other public methods of a class that has no single one that computes."""
    if chosen.name in place.public and chosen.name not in METHODS:
        yield from (place.methods[name] for name in place.public if name != chosen.name)
