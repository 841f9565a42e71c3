"""What a file says of the classes and functions in it, read from its syntax tree: nothing is imported.

A class gives its lecture names (`aliases`), declares facts as literals (`sees, needs_positions = "past", False`), and has options: the
fields of the frozen dataclass `Config` (of a task: `Data`) in the same file, each with its meaning as a comment behind it, or else the
numbers in its constructor.
"""

import ast
import importlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from headway.core.errors import UsageError

OPTIONS = ("Config", "Data")  # the dataclass of a file whose fields are options
Node = ast.ClassDef | ast.FunctionDef


@dataclass(frozen=True)
class Option:
    """One option of an entry: `width: int = 256  # what it means`."""

    name: str
    type: str
    default: Any
    meaning: str
    required: bool = False


@dataclass(frozen=True)
class Entry:
    name: str
    room: str
    path: Path
    module_name: str
    class_name: str
    doc: str
    aliases: tuple[str, ...]
    options: tuple[Option, ...]
    facts: dict[str, Any] = field(compare=False)  # what else the class declares in literals, such as `sees` of a mixer

    @property
    def summary(self) -> str:
        return self.doc.split("\n", 1)[0]

    @property
    def module(self) -> Any:
        return import_module(self.module_name)

    def load(self) -> Any:
        """The class itself (this imports it, and with it torch)."""
        return getattr(self.module, self.class_name)


def slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "", text.lower())


def _options(node: ast.ClassDef, lines: list[str]) -> Iterator[Option]:
    for item in node.body:
        if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name):
            own = lines[item.lineno - 1 : item.end_lineno]
            meaning = next((comment for line in own if (comment := line.partition("  # ")[2])), "")
            yield Option(
                item.target.id, ast.unparse(item.annotation), _literal(item.value), meaning.strip(), item.value is None
            )


def _declared(node: Node) -> Iterator[Option]:
    """Options that a class declares one by one: `rho = param(7.0, "what it means", ...)`."""
    for item in node.body:
        if isinstance(item, ast.Assign) and isinstance(item.value, ast.Call) and ast.unparse(item.value.func) == "param":
            default, about = map(_literal, item.value.args[:2])
            inner = default[0] if isinstance(default, tuple) and default else default
            kind = type(inner).__name__
            yield Option(
                ast.unparse(item.targets[0]), f"tuple[{kind}, ...]" if isinstance(default, tuple) else kind, default, about
            )


def _literal(node: ast.expr | None) -> Any:
    try:
        return None if node is None else ast.literal_eval(node)
    except ValueError:
        return None  # computed, so it cannot be read without an import


def _arguments(node: Node) -> tuple[list[str], tuple[Option, ...]]:
    """The arguments of a class's constructor, and those of them that are numbers with a default: the options of a layer."""
    init = next((item for item in node.body if isinstance(item, ast.FunctionDef) and item.name == "__init__"), None)
    if init is None:
        return [], ()
    every = [a for a in init.args.args if a.arg != "self"]
    values = [None] * (len(every) - len(init.args.defaults)) + [_literal(value) for value in init.args.defaults]
    pairs = [
        *zip(every, values, strict=True),
        *zip(init.args.kwonlyargs, map(_literal, init.args.kw_defaults), strict=True),
    ]
    numbers = [(a, value) for a, value in pairs if type(value) in (int, float)]
    options = tuple(
        Option(a.arg, ast.unparse(a.annotation) if a.annotation else "float", value, "") for a, value in numbers
    )
    return [a.arg for a, _ in pairs], options


def read_facts(node: Node) -> dict[str, Any]:
    """Attributes of the class that are written as literals, and the names of its methods."""
    facts: dict[str, Any] = {"methods": tuple(item.name for item in node.body if isinstance(item, ast.FunctionDef))}
    for item in node.body:
        if isinstance(item, ast.Assign) and isinstance(item.targets[0], ast.Name):
            facts[item.targets[0].id] = _literal(item.value)
        elif (
            isinstance(item, ast.Assign)
            and isinstance(item.targets[0], ast.Tuple)
            and isinstance(item.value, ast.Tuple)
        ):
            names = [name.id for name in item.targets[0].elts if isinstance(name, ast.Name)]
            facts |= dict(zip(names, map(_literal, item.value.elts), strict=False))
    return facts


def other_names(doc: str) -> tuple[str, ...]:
    """The names behind `Also:` at the end of a docstring, separated by semicolons: an experiment states them there."""
    found = re.search(r"\sAlso: (.+?)\.?$", " ".join(doc.split()))
    return tuple(name.strip() for name in found[1].split(";")) if found else ()


def read_entry(node: Node, nodes: dict[str, Node], text: str, name: str, room: str, path: Path, module: str) -> Entry:
    """One class or function of a file as an entry."""
    facts, doc = read_facts(node), ast.get_docstring(node) or ""
    called = re.search(r"\s*Also called ([^.]+)\.", doc) if isinstance(node, ast.FunctionDef) else None
    aliases = tuple(re.split(r",\s+", called[1])) if called else tuple(facts.pop("aliases", None) or ())
    aliases = aliases or other_names(doc)
    facts["arguments"], options = _arguments(node)
    options = tuple(_declared(node)) or options
    facts["functions"] = [n for n, other in nodes.items() if isinstance(other, ast.FunctionDef)]
    for holder in () if "sees" in facts else OPTIONS:  # a mixer may stand beside a model and its `Config`
        if isinstance(found := nodes.get(holder), ast.ClassDef):
            options = tuple(_options(found, text.split("\n")))
    doc = doc.replace(called[0], "") if called else doc
    return Entry(name, room, path, module, node.name, doc, aliases, options, facts)


def read_nodes(text: str) -> dict[str, Node]:
    return {node.name: node for node in ast.parse(text).body if isinstance(node, Node)}


@cache
def options_of(path: Path, class_name: str) -> tuple[Option, ...]:
    """The fields of a dataclass in a file, as options."""
    text = path.read_text(encoding="utf-8")
    node = read_nodes(text)[class_name]
    return tuple(_options(node, text.split("\n"))) if isinstance(node, ast.ClassDef) else ()


def import_module(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as problem:
        hint = "is its package installed, or is its folder on PYTHONPATH?"
        raise UsageError(f"cannot import `{name}`: {problem}", hint) from problem
