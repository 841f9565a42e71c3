"""What exists, found by reading the folders: a file in a room is an entry, and its name is the file's name.

A room is a folder (`models`, `layers/positions` ...). A file `rotary.py` in it that holds a class (or a function) of the same name is
the entry `rotary`: one name in three places and no list to keep. The class says under which names the lectures know it (`aliases`; a
class without is not an entry), and its options are the fields of the frozen dataclass `Config` in the same file. A room of small things is
a file of them (`layers/activations.py`), and every class or function in it that says its lecture names is an entry; a function does so in
its docstring: "Also called X, Y.". All of that is read from the syntax tree: nothing is imported before `load`, so `headway list`,
`headway find` and every misspelt name answer without waiting for torch.
"""

import ast
import importlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from headway.core.errors import UnknownName, nearest

ROOT = Path(__file__).resolve().parent.parent

ROOMS = {
    "models": "models",
    "attention": "layers/attention",
    "scores": "layers/scores",
    "positions": "layers/positions",
    "recurrences": "layers/recurrences",
    "convolutions": "layers/convolutions",
    "norms": "layers/norms",
    "connections": "layers/connections",
    "masks": "layers/masks.py",
    "scans": "layers/recurrences/scan.py",
    "activations": "layers/activations.py",
    "initialisations": "layers/initialisation.py",
    "layers": "layers",
    "losses": "layers/cross_entropy.py",
    "optimizers": "train/muon.py",
    "schedules": "train/schedules.py",
    "decoding": "decode/*.py",
    "judging": "evaluate/*.py",
    "tasks": "tasks",
    "recipes": "recipes",
}
LAB = ("classical", "approximation", "barron", "depth", "geometry", "optimization", "generalization", "symmetry")
ROOMS |= {f"lab/{module}": f"lab/{module}" for module in LAB}
Node = ast.ClassDef | ast.FunctionDef


@dataclass(frozen=True)
class Option:
    """One field of an entry's `Config`: `width: int = 256  # what it means`."""

    name: str
    type: str
    default: Any
    meaning: str


@dataclass(frozen=True)
class Entry:
    name: str
    room: str
    path: Path
    class_name: str
    doc: str
    aliases: tuple[str, ...]
    options: tuple[Option, ...]
    facts: dict[str, Any] = field(compare=False)  # what else the class says of itself in literals, such as the `lecture` of an experiment

    @property
    def summary(self) -> str:
        return self.doc.split("\n", 1)[0]

    @property
    def module(self) -> Any:
        return importlib.import_module("headway." + ".".join(self.path.relative_to(ROOT).with_suffix("").parts))

    def load(self) -> Any:
        """The class itself (this imports it, and with it torch)."""
        return getattr(self.module, self.class_name)


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "", text.lower())


def _options(node: ast.ClassDef, lines: list[str]) -> Iterator[Option]:
    for item in node.body:
        if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name):
            default = _literal(item.value)
            _, _, meaning = lines[(item.end_lineno or item.lineno) - 1].partition("#")
            yield Option(item.target.id, ast.unparse(item.annotation), default, meaning.strip())


def _literal(node: ast.expr | None) -> Any:
    try:
        return None if node is None else ast.literal_eval(node)
    except ValueError:
        return None  # computed, so not for reading without an import


def _arguments(node: Node) -> tuple[list[str], tuple[Option, ...]]:
    """The arguments of a class's constructor, and those of them that are numbers with a default: the options of a layer."""
    init = next((item for item in node.body if isinstance(item, ast.FunctionDef) and item.name == "__init__"), None)
    if init is None:
        return [], ()
    every = [a for a in init.args.args if a.arg != "self"]
    values = [None] * (len(every) - len(init.args.defaults)) + [_literal(value) for value in init.args.defaults]
    pairs = [*zip(every, values, strict=True), *zip(init.args.kwonlyargs, map(_literal, init.args.kw_defaults), strict=True)]
    numbers = [(a, value) for a, value in pairs if type(value) in (int, float)]
    options = tuple(Option(a.arg, ast.unparse(a.annotation) if a.annotation else "float", value, "") for a, value in numbers)
    return [a.arg for a, _ in pairs], options


def _facts(node: Node) -> dict[str, Any]:
    """Attributes of the class that are written as literals, and the names of its methods."""
    facts: dict[str, Any] = {"methods": tuple(item.name for item in node.body if isinstance(item, ast.FunctionDef))}
    for item in node.body:
        if isinstance(item, ast.Assign) and isinstance(item.targets[0], ast.Name):
            facts[item.targets[0].id] = _literal(item.value)
        elif isinstance(item, ast.Assign) and isinstance(item.targets[0], ast.Tuple) and isinstance(item.value, ast.Tuple):
            names = [name.id for name in item.targets[0].elts if isinstance(name, ast.Name)]
            facts |= dict(zip(names, map(_literal, item.value.elts), strict=False))
    return facts


def _read(path: Path, room: str) -> Iterator[Entry]:
    """The entries of a file: whatever in it says its lecture names, or in a folder room the one that has the name of the file."""
    text = path.read_text(encoding="utf-8")
    nodes = {node.name: node for node in ast.parse(text).body if isinstance(node, Node)}
    config = nodes.get("Config")
    for name, node in nodes.items():
        facts, doc = _facts(node), ast.get_docstring(node) or ""
        called = re.search(r"\s*Also called ([^.]+)\.", doc) if isinstance(node, ast.FunctionDef) else None
        if "aliases" not in facts and not called and room != "recipes":
            continue  # furniture of the room, not one of its exhibits
        if not ROOMS[room].endswith(".py"):
            if _slug(name) != _slug(path.stem):
                continue
            name = path.stem
        aliases, doc = (tuple(re.split(r",\s+", called[1])), doc.replace(called[0], "")) if called else (facts.pop("aliases", ()), doc)
        facts["arguments"], options = _arguments(node)
        facts["functions"] = [n for n, other in nodes.items() if isinstance(other, ast.FunctionDef)]
        if isinstance(config, ast.ClassDef):
            options = tuple(_options(config, text.split("\n")))
        yield Entry(name.lower(), room, path, node.name, doc, tuple(aliases), options, facts)


@cache
def entries(room: str) -> dict[str, Entry]:
    """Every entry of a room, by name."""
    if room not in ROOMS:
        raise UnknownName("room", room, ROOMS)
    files = sorted(ROOT.glob(ROOMS[room] if ROOMS[room].endswith(".py") else ROOMS[room] + "/[!_]*.py"))
    return {entry.name: entry for path in files for entry in _read(path, room)}


def named(entry: Entry, name: str) -> bool:
    """Whether the entry answers to this name, however it is spelt: `Multi-Head Attention` is `multi_head_attention`."""
    return _slug(name) in {_slug(n) for n in (entry.name, *entry.aliases)}


def get(room: str, name: str) -> Entry:
    """The entry of that name or lecture name; an unknown one raises with the nearest known."""
    known = entries(room)
    for entry in known.values():
        if named(entry, name):
            return entry
    kind = {"scores": "attention score"}.get(room, room.removesuffix("s"))
    alias = nearest(name, [a for e in known.values() for a in e.aliases])
    names = [*known, *([alias] if alias and not nearest(name, known) else [])]
    raise UnknownName(kind, name, names, f"headway list {room}")


def mixers() -> dict[str, Entry]:
    """The layers that mix a sequence, by name: they declare what they see. One that is made from another layer is none."""
    found = {n: e for room in ("attention", "recurrences") for n, e in entries(room).items() if "sees" in e.facts}
    return {n: e for n, e in found.items() if "cell" not in e.facts["arguments"]}


def mixer(name: str) -> Entry:
    for entry in mixers().values():
        if named(entry, name):
            return entry
    raise UnknownName("mixer", name, mixers(), "headway list recurrences")


def models_for(reads: str, gives: str) -> dict[str, Entry]:
    """The models that read this (`tokens`, `pictures`) and give that (`next token`, `target tokens`, `one vector`), by name."""
    return {n: e for n, e in entries("models").items() if (e.facts.get("reads"), e.facts.get("gives")) == (reads, gives)}


def models(task: str) -> dict[str, Entry]:
    """The models of a task, by name."""
    return models_for("tokens", {"language": "next token", "translation": "target tokens"}[task])


def find(words: str) -> list[Entry]:
    """Entries whose name, lecture names or description contain all the words: those of that very name first, descriptions last.

    A word may stand inside a word of a name (`norm` finds DeepNorm); in a description it is the beginning of one.
    """
    needles = [_slug(word) for word in words.split() if _slug(word)]

    def text(*parts: str) -> str:
        return " ".join(re.findall("[a-z0-9]+", " ".join(parts).lower()))

    def begins(needle: str, told: str) -> bool:
        return re.search(r"\b" + " ?".join(needle), told) is not None  # `prenorm` is written "pre-norm" or "pre norm" in a text

    def rank(entry: Entry) -> tuple[bool, int] | None:
        names, told = text(entry.name, *entry.aliases), text(entry.doc)
        missing = [n for n in needles if n not in names and not begins(n, names)]
        return (not named(entry, words), len(missing)) if all(begins(n, told) for n in missing) else None

    ranked = [(rank(entry), entry) for room in ROOMS for entry in entries(room).values()] if needles else []
    return [entry for _, entry in sorted(((r, e) for r, e in ranked if r is not None), key=lambda pair: pair[0])]
