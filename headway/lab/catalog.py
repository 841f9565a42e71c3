"""Which experiments there are, read from the files' syntax trees: nothing heavy is imported to list, show or misspell one."""

import ast
import re
from functools import cache
from typing import Any

from headway.core import registry
from headway.core.config import option_type, parse
from headway.core.entries import Entry
from headway.core.errors import ConfigError, UnknownName
from headway.lab.errata import Erratum, register
from headway.lab.kinds import FUNCTIONS, MEANINGS
from headway.lab.parameters import declared
from headway.lab.statement import Statement


def identity(entry: Entry) -> str:
    """`telgarsky-32` for the file `telgarsky_32.py`."""
    return entry.name.replace("_", "-")


def module_of(entry: Entry) -> str:
    return entry.room.removeprefix("lab/")


def modules() -> dict[str, str]:
    """The modules that exist, in the order of the lectures, with their titles."""
    found = {}
    for name in registry.LAB:
        file = registry.ROOT / "lab" / name / "__init__.py"
        if file.is_file():
            found[name] = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or name
    return found


def module(name: str) -> list[Entry]:
    """Its experiments, in the order of the lectures: that of `ORDER` in the module's `__init__.py`."""
    if name not in modules():
        raise UnknownName("module", name, modules())
    order = _order(name)
    return sorted(registry.entries(f"lab/{name}").values(), key=lambda e: order.get(identity(e), len(order)))


@cache
def _order(name: str) -> dict[str, int]:
    text = (registry.ROOT / "lab" / name / "__init__.py").read_text(encoding="utf-8")
    for node in ast.parse(text).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "ORDER":
            return {experiment: i for i, experiment in enumerate(ast.literal_eval(node.value))}
    return {}


# -- what a file says of its experiment ----------------------------------------------------------------------------------


@cache
def _statement(doc: str) -> Statement:
    return Statement.of(doc)


def statement(entry: Entry) -> Statement:
    return _statement(entry.doc)


def kinds(entry: Entry) -> tuple[str, ...]:
    """The kinds of assertion, from the functions that the file calls."""
    text = entry.path.read_text(encoding="utf-8")
    called = {kind for name, kind in FUNCTIONS.items() if re.search(rf"(?<![\w.]){name}\(", text)}
    return tuple(kind for kind in MEANINGS if kind in called)


def cost(entry: Entry) -> str:
    return str(entry.facts.get("cost", "S"))


def values(entry: Entry, size: str) -> dict[str, Any]:
    """The parameters that have another value in the test suite (`small`) or with `--full` (`full`)."""
    return {name: getattr(p, size) for name, p in declared(entry.load()).items() if getattr(p, size) is not None}


def errata(entry: Entry) -> list[Erratum]:
    """Those of the register that this experiment exposes."""
    return [erratum for erratum in register() if identity(entry) in erratum.exposed_by]


def every() -> list[Entry]:
    return [entry for name in modules() for entry in module(name)]


def find(name: str) -> Entry:
    """The experiment of that name or lecture name; an unknown one raises with the nearest known."""
    known = every()
    for entry in known:
        if registry.named(entry, name):
            return entry
    raise UnknownName("experiment", name, [n for e in known for n in (identity(e), *e.aliases)], "headway lab list")


def select(names: list[str]) -> list[Entry]:
    """Experiments by name, or all of a module by its name; each once."""
    found = [entry for name in names for entry in (module(name) if name in modules() else [find(name)])]
    return list({entry.path: entry for entry in found}.values())


def typed(entry: Entry, settings: list[str]) -> dict[str, Any]:
    """`["L=3", "widths=4,8"]` of the command line as values of the experiment's parameters."""
    kinds = {option.name: option.type for option in entry.options}
    values = {}
    for text in settings:
        name, equals, value = text.partition("=")
        if not equals:
            raise ConfigError(f"`--set {text}` does not say which value", "write `--set NAME=VALUE`, for example `--set n=3`.")
        if name.strip() not in kinds:
            raise UnknownName(f"parameter of `{identity(entry)}`:", name.strip(), kinds, f"headway lab show {identity(entry)}")
        values[name.strip()] = parse(option_type(kinds[name.strip()]), value.strip(), f"set {name.strip()}")
    return values
