"""What exists, found by reading files: a file in a room is an entry, and its name is the file's name.

A room is a folder or a file, listed in `headway/rooms.toml`. A file `rotary.py` in a folder room that holds a class (or a function) of the
same name is the entry `rotary`: one name in three places and no list to keep. The class gives the names the lectures use (`aliases`;
a class without is not an entry), and its options are the fields of the frozen dataclass `Config` (or, for a task, `Data`) in the same file.
A room of small things is one file (`layers/activations.py`), and every class or function in it that gives its lecture names is an entry; a
function does so in its docstring: "Also called X, Y.". All of that is read from the syntax tree: nothing is imported before `load`, so
`headway list`, `headway find` and every misspelt name answer without waiting for torch.

Things of other packages are entries, too: `my_package.mixers:MyMixer` wherever a name is accepted, and whatever an installed package
announces as an entry point of the group `headway.<room>` (`headway.models`, `headway.recurrences`, `headway.tasks` ...).
"""

import ast
import dataclasses
import importlib.metadata
import importlib.util
import inspect
import re
import sys
import tomllib
import warnings
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from headway.core.entries import (
    OPTIONS,
    Entry,
    Option,
    import_module,
    other_names,
    read_entry,
    read_facts,
    read_nodes,
    slug,
)
from headway.core.errors import UnknownName, UsageError, nearest

ROOT = Path(__file__).resolve().parent.parent
ROOMS: dict[str, str] = tomllib.loads((ROOT / "rooms.toml").read_text(encoding="utf-8"))
LAB = tuple(room.removeprefix("lab/") for room in ROOMS if room.startswith("lab/"))


@cache
def _read(path: Path, room: str) -> tuple[Entry, ...]:
    """The entries of a file: whatever in it gives its lecture names, or in a folder room the one that has the name of the file.

    Kept, so that an entry is one object, whether its file was read alone or with its room.
    """
    return tuple(_entries_in(path, room))


def _entries_in(path: Path, room: str) -> Iterator[Entry]:
    text = path.read_text(encoding="utf-8")
    nodes = read_nodes(text)
    module = "headway." + ".".join(path.relative_to(ROOT).with_suffix("").parts)
    for name, node in nodes.items():
        doc = ast.get_docstring(node) or ""
        named = "aliases" in read_facts(node) or bool(other_names(doc))
        named = named or (isinstance(node, ast.FunctionDef) and "Also called" in doc)
        if not named:
            continue  # not an entry: it has no lecture name
        if not ROOMS[room].endswith(".py"):
            if slug(name) != slug(path.stem):
                continue
            name = path.stem
        yield read_entry(node, nodes, text, name.lower(), room, path, module)


# -- things of other packages --------------------------------------------------------------------------------------------

_REFERENCE = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_][\w.<>]*")
_objects: dict[
    str, Any
] = {}  # classes that were given as objects: one of a notebook has no module that could be imported


def is_reference(name: str) -> bool:
    """Whether this is `package.module:Class` rather than a name."""
    return _REFERENCE.fullmatch(name) is not None


def reference(thing: Any) -> str:
    """How a configuration writes down a class that somebody passes as an object: `my_package.mixers:MyMixer`."""
    name = f"{thing.__module__}:{thing.__qualname__}"
    _objects[name] = thing
    return name


def _referred(name: str, room: str) -> Entry:
    """The entry of `package.module:Class`, read from its file; nothing but the packages above the module is imported."""
    module, _, class_name = name.partition(":")
    if name in _objects:
        return _from_object(name, _objects[name], room)
    if "" not in sys.path:
        sys.path.insert(0, "")  # a file beside the person, as `python -m` does
    try:
        spec = importlib.util.find_spec(module)
    except (ImportError, ValueError) as problem:
        raise UsageError(
            f"`{name}`: {problem}", "write `package.module:Class`, and see that the package can be imported."
        ) from problem
    if spec is None or spec.origin is None:
        raise UsageError(
            f"`{name}`: there is no module `{module}`", "is its package installed, or is its folder on PYTHONPATH?"
        )
    path = Path(spec.origin)
    text = path.read_text(encoding="utf-8")
    nodes = read_nodes(text)
    if class_name not in nodes:
        raise UnknownName(f"class of `{module}`:", class_name, nodes)
    if any(not ast.unparse(base).endswith("Module") for base in getattr(nodes[class_name], "bases", ())):
        # what it inherits is not in its file
        return _from_object(name, getattr(import_module(module), class_name), room)
    return read_entry(nodes[class_name], nodes, text, name, room, path, module)


def _from_object(name: str, thing: Any, room: str) -> Entry:
    """The entry of a class that exists already, wherever it was written."""
    module, _, class_name = name.partition(":")
    facts = {
        key: value
        for parent in reversed(thing.__mro__)
        for key, value in vars(parent).items()
        if not key.startswith("_")
    }
    facts["methods"] = tuple(key for key, value in facts.items() if inspect.isfunction(value))
    parameters = inspect.signature(thing).parameters.values()
    facts["arguments"], facts["functions"] = [p.name for p in parameters], []
    numbers = (p for p in parameters if type(p.default) in (int, float))
    options = tuple(Option(p.name, type(p.default).__name__, p.default, "") for p in numbers)
    for holder in () if "sees" in facts else OPTIONS:
        if dataclasses.is_dataclass(found := getattr(sys.modules.get(module), holder, None)):
            options = tuple(_field(f) for f in dataclasses.fields(found))

    class Given(Entry):
        def load(self) -> Any:
            return thing

    path = Path(getattr(sys.modules.get(module), "__file__", None) or module)
    return Given(name, room, path, module, class_name, inspect.getdoc(thing) or "", (), options, facts)


def _field(f: "dataclasses.Field[Any]") -> Option:
    """A field of a dataclass that exists already."""
    missing = f.default is dataclasses.MISSING
    annotation = f.type if isinstance(f.type, str) else inspect.formatannotation(f.type)
    required = missing and f.default_factory is dataclasses.MISSING
    return Option(f.name, annotation, None if missing else f.default, "", required)


@cache
def _announced() -> dict[str, list[str]]:
    """References that installed packages announce as entry points, by room."""
    points = importlib.metadata.entry_points()
    groups = [group for group in points.groups if group.startswith("headway.")]
    return {
        group.removeprefix("headway."): [f"{p.name}={p.value}" for p in points.select(group=group)] for group in groups
    }


def _installed(room: str) -> Iterator[Entry]:
    for text in _announced().get(room, ()):
        name, _, value = text.partition("=")
        try:
            entry = _referred(value, room)
        except UsageError as problem:
            warnings.warn(
                f"the entry point `{name}` of the group `headway.{room}` is left out: {problem.message}", stacklevel=2
            )
            continue
        yield Entry(
            name,
            room,
            entry.path,
            entry.module_name,
            entry.class_name,
            entry.doc,
            entry.aliases,
            entry.options,
            entry.facts,
        )


# -- asking --------------------------------------------------------------------------------------------------------------


@cache
def entries(room: str) -> dict[str, Entry]:
    """Every entry of a room, by name."""
    if room not in ROOMS:
        raise UnknownName("room", room, ROOMS)
    files = sorted(ROOT.glob(ROOMS[room] if ROOMS[room].endswith(".py") else ROOMS[room] + "/[!_]*.py"))
    own = {entry.name: entry for path in files for entry in _read(path, room)}
    return own | {entry.name: entry for entry in _installed(room)}


def named(entry: Entry, name: str) -> bool:
    """Whether this is a name of the entry, however it is spelt: `Multi-Head Attention` is `multi_head_attention`."""
    return slug(name) in {slug(n) for n in (entry.name, *entry.aliases)}


def get(room: str, name: str) -> Entry:
    """The entry of that name, lecture name or reference; an unknown one raises with the nearest known."""
    return _of_file(room, name) or among(
        entries(room),
        name,
        {"scores": "attention score"}.get(room, room.removesuffix("s")),
        room,
        f"headway list {room}",
    )


def _of_file(room: str, name: str) -> Entry | None:
    """The entry that has the name of its file, read without the rest of the room: a run is opened a quarter of a second sooner.

    None where that does not decide: another spelling, a room of one file, things of other packages that may have the name.
    """
    folder = ROOMS.get(room, ".py")
    if folder.endswith(".py") or not name.isidentifier() or name.startswith("_") or any(_announced().values()):
        return None
    path = ROOT / folder / f"{name}.py"
    return next((e for e in _read(path, room) if e.name == name), None) if path.is_file() else None


def among(known: dict[str, Entry], name: str, kind: str, room: str, listing: str) -> Entry:
    """The one of these entries that has the name, or the class that a reference names; an unknown name raises with the nearest."""
    if is_reference(name):
        return _referred(name, room)
    for entry in known.values():
        if named(entry, name):
            return entry
    alias = nearest(name, [a for e in known.values() for a in e.aliases])
    raise UnknownName(kind, name, [*known, *([alias] if alias and not nearest(name, known) else [])], listing)


def declaring(*facts: str) -> dict[str, Entry]:
    """The entries of all rooms whose class declares all of these: `declaring("sees")` are the mixers."""
    return {
        n: e
        for room in ROOMS
        if not room.startswith("lab/")
        for n, e in entries(room).items()
        if set(facts) <= set(e.facts)
    }


def mixers() -> dict[str, Entry]:
    """The layers that mix the positions of a sequence, by name; each declares what it `sees`."""
    return declaring("sees", "needs_positions")


def mixer(name: str) -> Entry:
    for room in ROOMS:
        entry = None if room.startswith("lab/") else _of_file(room, name)
        if entry is not None and {"sees", "needs_positions"} <= set(entry.facts):
            return entry
    return among(mixers(), name, "mixer", "mixers", "headway list recurrences")


def models_for(reads: str, gives: str) -> dict[str, Entry]:
    """The models that read and give what a task needs, by name."""
    return {n: e for n, e in entries("models").items() if fits(e, reads, gives)}


def fits(model: Entry, reads: str, gives: str) -> bool:
    """Whether a model reads and gives what a task needs; it declares both as tuples."""
    return reads in model.facts.get("reads", ()) and gives in model.facts.get("gives", ())


def find(words: str) -> list[Entry]:
    """Entries whose name, lecture names or description contain all the words: those of that very name first, descriptions last.

    A word may stand inside a word of a name (`norm` finds DeepNorm); in a description it is the beginning of one.
    """
    needles = [slug(word) for word in words.split() if slug(word)]

    def text(*parts: str) -> str:
        return " ".join(re.findall("[a-z0-9]+", " ".join(parts).lower()))

    def begins(needle: str, description: str) -> bool:
        # `prenorm` is written "pre-norm" or "pre norm" in a text
        return re.search(r"\b" + " ?".join(needle), description) is not None

    def rank(entry: Entry) -> tuple[bool, int] | None:
        names, description = text(entry.name, *entry.aliases), text(entry.doc)
        missing = [n for n in needles if n not in names and not begins(n, names)]
        return (not named(entry, words), len(missing)) if all(begins(n, description) for n in missing) else None

    ranked = [(rank(entry), entry) for room in ROOMS for entry in entries(room).values()] if needles else []
    return [entry for _, entry in sorted(((r, e) for r, e in ranked if r is not None), key=lambda pair: pair[0])]
