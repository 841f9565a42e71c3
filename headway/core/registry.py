"""What exists, found by reading the folders: a file in a room is an entry, and its name is the file's name.

A room is a folder (`models`, `layers/positions` ...). A file `rotary.py` in it that holds a class (or a function) of the same name is
the entry `rotary`: one name in three places and no list to keep. The class says under which names the lectures know it (`aliases`; a
class without is not an entry), and its options are the fields of the frozen dataclass `Config` in the same file. All of that is read
from the syntax tree: nothing is imported before `load`, so `headway list`, `headway find` and every misspelt name answer without
waiting for torch.
"""

import ast
import importlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
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
    "tasks": "tasks",
    "recipes": "recipes",
}


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
    for field in node.body:
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name):
            default = ast.literal_eval(field.value) if field.value is not None else None
            _, _, meaning = lines[(field.end_lineno or field.lineno) - 1].partition("#")
            yield Option(field.target.id, ast.unparse(field.annotation), default, meaning.strip())


def _read(path: Path, room: str) -> Entry | None:
    text = path.read_text(encoding="utf-8")
    nodes = {node.name: node for node in ast.parse(text).body if isinstance(node, ast.ClassDef | ast.FunctionDef)}
    node = next((n for name, n in nodes.items() if _slug(name) == _slug(path.stem)), None)
    if node is None:
        return None
    assigned = [item.value for item in node.body if isinstance(item, ast.Assign) and ast.unparse(item.targets[0]) == "aliases"]
    if isinstance(node, ast.ClassDef) and not assigned:
        return None  # furniture of the room, not one of its exhibits
    aliases = tuple(ast.literal_eval(assigned[0])) if assigned else ()
    config = nodes.get("Config")
    options = tuple(_options(config, text.split("\n"))) if isinstance(config, ast.ClassDef) else ()
    return Entry(path.stem, room, path, node.name, ast.get_docstring(node) or "", aliases, options)


@cache
def entries(room: str) -> dict[str, Entry]:
    """Every entry of a room, by name."""
    if room not in ROOMS:
        raise UnknownName("room", room, ROOMS)
    found = (_read(path, room) for path in sorted((ROOT / ROOMS[room]).glob("[!_]*.py")))
    return {entry.name: entry for entry in found if entry}


def named(entry: Entry, name: str) -> bool:
    """Whether the entry answers to this name, however it is spelt: `Multi-Head Attention` is `multi_head_attention`."""
    return _slug(name) in {_slug(n) for n in (entry.name, *entry.aliases)}


def get(room: str, name: str) -> Entry:
    """The entry of that name or lecture name; an unknown one raises with the nearest known."""
    known = entries(room)
    for entry in known.values():
        if named(entry, name):
            return entry
    kind = {"recipes": "recipe", "scores": "attention score"}.get(room, room.removesuffix("s"))
    alias = nearest(name, [a for e in known.values() for a in e.aliases])
    names = [*known, *([alias] if alias and not nearest(name, known) else [])]
    raise UnknownName(kind, name, names, f"headway list {room}")


def find(words: str) -> list[Entry]:
    """Entries whose name, lecture names or description contain all the words; names count more than descriptions."""
    needles = [_slug(word) for word in words.split() if _slug(word)]

    def rank(entry: Entry) -> int | None:
        names, text = _slug(" ".join((entry.name, *entry.aliases))), _slug(entry.doc)
        if not needles or not all(n in names or n in text for n in needles):
            return None
        return sum(n not in names for n in needles)

    ranked = [(rank(entry), entry) for room in ROOMS for entry in entries(room).values()]
    return [entry for r, entry in sorted((p for p in ranked if p[0] is not None), key=lambda p: p[0] or 0)]
