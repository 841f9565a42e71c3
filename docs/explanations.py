"""What is public in a file, and what each argument means, read from the syntax tree; nothing is imported.

A class or function without an underscore is public. Each argument is explained in one of three places, in this order:

    behind it            `window: int = 128  # keys on each side`   a field, or an argument on a line of its own
    in the docstring     a line `window   keys on each side`        of the function; of the class, for its constructor
    in arguments.toml    `window = "keys on each side"`             a name that means the same everywhere in its room
"""

import ast
import re
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "headway"
SHARED: dict[str, dict[str, str]] = tomllib.loads((ROOT / "docs" / "arguments.toml").read_text(encoding="utf-8"))


@dataclass(frozen=True)
class Argument:
    name: str  # with its star, if it has one
    type: str
    default: str | None  # as it is written; None: it must be given
    meaning: str  # empty if it is explained nowhere
    keyword: bool = False  # must be given by name


@dataclass(frozen=True)
class Thing:
    """A public class, function or method."""

    name: str
    path: Path
    kind: str  # "class", "function", "method", "property"
    doc: str  # without the lines that explain arguments
    arguments: tuple[Argument, ...]
    returns: str
    methods: tuple["Thing", ...] = ()

    @property
    def module(self) -> str:
        parts = self.path.relative_to(ROOT).with_suffix("").parts
        return ".".join(part for part in parts if part != "__init__")

    @property
    def call(self) -> str:
        """How it is called: `sample(model, prompt, temperature, top_k=None)`."""
        words, starred = [], False
        for a in self.arguments:
            if a.keyword and not starred:  # a lone star, unless `*rest` stands there already
                words += [] if a.name.startswith("*") else ["*"]
                starred = True
            words.append(a.name if a.default is None else f"{a.name}={a.default}")
        return f"{self.name}({', '.join(words)})"


def split_doc(doc: str, names: Sequence[str]) -> tuple[dict[str, str], str]:
    """The lines of a docstring that explain these arguments, by name, and the rest of it."""
    found: dict[str, str] = {}
    rest: list[str] = []
    current: list[str] = []  # the arguments that the lines before explain
    for line in doc.split("\n"):
        match = re.match(r"(\s*)((?:\w+, )*\w+)(?:\s{2,}(\S.*)|\s*)$", line)
        listed = match[2].split(", ") if match else []
        if match and set(listed) <= set(names) and not set(listed) & set(found):
            found |= dict.fromkeys(listed, match[3] or "")
            current = listed
        elif current and line.startswith("   ") and line.strip():  # the explanation goes on
            found |= {name: f"{found[name]} {line.strip()}".strip() for name in current}
        else:
            current = []
            rest.append(line)
    return found, re.sub(r"\n{3,}", "\n\n", "\n".join(rest)).strip()


def read_lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").split("\n")


def behind(lines: Sequence[str], node: ast.AST) -> str:
    """The comment at the end of the line on which a field or an argument stands, if it stands there alone."""
    own = lines[(getattr(node, "lineno", None) or 1) - 1 : getattr(node, "end_lineno", None)]
    line = next((text for text in own if "  # " in text), own[-1])
    alone = not line[: getattr(node, "col_offset", 0)].strip()
    return line.partition("  # ")[2].strip() if alone else ""


def room_of(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def meaning(name: str, path: Path, comment: str, doc: dict[str, str]) -> str:
    return comment or doc.get(name) or SHARED.get(room_of(path), {}).get(name, "")


def signature(node: ast.FunctionDef, path: Path, doc: dict[str, str]) -> tuple[Argument, ...]:
    a, lines = node.args, read_lines(path)
    static = any(ast.unparse(d) == "staticmethod" for d in node.decorator_list)
    plain = [*a.posonlyargs, *a.args]
    pairs = list(zip(plain, [None] * (len(plain) - len(a.defaults)) + list(a.defaults), strict=True))
    if plain and not static and plain[0].arg in ("self", "cls"):
        pairs = pairs[1:]
    one = [(arg, value, "", False) for arg, value in pairs]
    one += [(a.vararg, None, "*", True)] if a.vararg else []
    one += [(arg, value, "", True) for arg, value in zip(a.kwonlyargs, a.kw_defaults, strict=True)]
    one += [(a.kwarg, None, "**", True)] if a.kwarg else []
    return tuple(
        Argument(
            star + arg.arg,
            ast.unparse(arg.annotation) if arg.annotation else "",
            None if value is None else ast.unparse(value),
            meaning(arg.arg, path, behind(lines, arg), doc),
            keyword,
        )
        for arg, value, star, keyword in one
    )


def fields(node: ast.ClassDef, path: Path, doc: dict[str, str]) -> tuple[Argument, ...]:
    """The fields of a dataclass or of a named tuple: the arguments of its constructor."""
    found, lines = [], read_lines(path)
    for item in node.body:
        if (
            isinstance(item, ast.AnnAssign)
            and isinstance(item.target, ast.Name)
            and "ClassVar" not in ast.unparse(item.annotation)
        ):
            name = item.target.id
            default = (
                None
                if item.value is None
                else re.sub(r"field\(default_factory=(\w+)\)", r"\1()", ast.unparse(item.value))
            )
            found.append(
                Argument(name, ast.unparse(item.annotation), default, meaning(name, path, behind(lines, item), doc))
            )
    return tuple(found)


def has_fields(node: ast.ClassDef) -> bool:
    return any("dataclass" in ast.unparse(d) for d in node.decorator_list) or any(
        ast.unparse(b) == "NamedTuple" for b in node.bases
    )


@cache
def classes() -> dict[str, tuple[ast.ClassDef, Path]]:
    """The classes of the package by name, to look up the constructor of a parent."""
    found: dict[str, tuple[ast.ClassDef, Path]] = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef):
                found.setdefault(node.name, (node, path))
    return found


def constructor(node: ast.ClassDef, path: Path) -> tuple[ast.FunctionDef, Path] | None:
    """The `__init__` of a class, or of the first of its parents in the package that has one."""
    for item in node.body:
        if isinstance(item, ast.FunctionDef) and item.name == "__init__":
            return item, path
    for parent in node.bases:
        if ast.unparse(parent) in classes() and (found := constructor(*classes()[ast.unparse(parent)])):
            return found
    return None


def names_of(node: ast.FunctionDef) -> list[str]:
    a = node.args
    return [arg.arg for arg in (*a.posonlyargs, *a.args, *a.kwonlyargs, *filter(None, (a.vararg, a.kwarg)))]


def read_function(node: ast.FunctionDef, path: Path, kind: str = "function") -> Thing:
    doc, rest = split_doc(ast.get_docstring(node) or "", names_of(node))
    if any("property" in ast.unparse(d) for d in node.decorator_list):
        kind = "property"
    return Thing(
        node.name, path, kind, rest, signature(node, path, doc), ast.unparse(node.returns) if node.returns else ""
    )


def read_class(node: ast.ClassDef, path: Path) -> Thing:
    init = None if has_fields(node) else constructor(node, path)
    text = ast.get_docstring(node) or ""
    if init:
        doc, rest = split_doc(text, names_of(init[0]))
        parents = [split_doc(ast.get_docstring(classes()[b][0]) or "", names_of(init[0]))[0] for b in _parents(node)]
        inherited = {name: words for parent in reversed(parents) for name, words in parent.items()}
        arguments = signature(*init, inherited | doc)
    else:
        names = [i.target.id for i in node.body if isinstance(i, ast.AnnAssign) and isinstance(i.target, ast.Name)]
        doc, rest = split_doc(text, names)
        arguments = fields(node, path, doc) if has_fields(node) else ()
    methods = [item for item in node.body if isinstance(item, ast.FunctionDef) and not item.name.startswith("_")]
    overloads = [m for m in methods if any("overload" in ast.unparse(d) for d in m.decorator_list)]
    listed = tuple(read_function(m, path, "method") for m in methods if m not in overloads)
    return Thing(node.name, path, "class", rest, arguments, "", listed)


def _parents(node: ast.ClassDef) -> Iterator[str]:
    for base in map(ast.unparse, node.bases):
        if base in classes():
            yield base
            yield from _parents(classes()[base][0])


def public(path: Path) -> list[Thing]:
    """The public classes and functions of a file, in the order in which they stand there."""
    found = []
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef) and not node.name.startswith("_"):
            found.append(read_class(node, path) if isinstance(node, ast.ClassDef) else read_function(node, path))
    return found
