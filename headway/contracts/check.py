"""Run the contracts on something by its name: what holds, what fails and why, as a value that prints as a table."""

import html
import inspect
import traceback
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any, Literal

import torch

from headway.contracts import causal, mixers, models, writers
from headway.contracts.contract import Broken, Contract, default_dtype, title
from headway.contracts.examples import KINDS, Kind
from headway.core import registry
from headway.core.errors import UnknownName, UsageError
from headway.core.registry import Entry

Verdict = Literal["ok", "fails", "does not apply"]
MARKS: dict[Verdict, str] = {"ok": "ok", "fails": "FAILS", "does not apply": "-"}
NOT_MADE = "it cannot be made"
DECLARE = (
    'a mixer declares `sees` ("past", "mask" or "all") and `needs_positions`; a model declares `reads` and `gives` '
    "and has a frozen dataclass `Config` beside it. See docs/own_layers.md."
)


@dataclass(frozen=True)
class Result:
    """One contract: what it says, whether it holds, and if not, what was found."""

    title: str
    verdict: Verdict
    message: str = ""
    problem: BaseException | None = field(default=None, repr=False, compare=False)  # what the layer itself raised

    @property
    def ok(self) -> bool:
        return self.verdict != "fails"


@dataclass(frozen=True)
class Contracts:
    """The results of all contracts for one layer or model."""

    name: str
    results: tuple[Result, ...]

    @property
    def ok(self) -> bool:
        return not self.failures

    @property
    def failures(self) -> tuple[Result, ...]:
        return tuple(result for result in self.results if not result.ok)

    def verdict(self) -> str:
        asked, failed = sum(r.verdict != "does not apply" for r in self.results), len(self.failures)
        return (
            f"{failed} of {asked} contracts fail{'s' if failed == 1 else ''}"
            if failed
            else f"all {asked} contracts hold"
        )

    def text(self) -> str:
        lines = [f"  {MARKS[r.verdict]:5}  {r.title}{': ' if r.message else ''}{r.message}" for r in self.results]
        return "\n".join([self.name, *lines, f"  {self.verdict()}"])

    def __repr__(self) -> str:
        return self.text()

    def _repr_html_(self) -> str:
        """A table, for notebooks."""
        cells = ((MARKS[r.verdict], r.title, r.message) for r in self.results)
        rows = "".join("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in cells)
        return f"<table><caption>{html.escape(self.name)}: {self.verdict()}</caption>{rows}</table>"


def check_name(name: str) -> Contracts:
    """The contracts of a mixer or a model, registered or given as `package.module:Class`, computed in float64."""
    entry = find(name)
    thing = entry.load()
    with default_dtype(torch.float64), torch.random.fork_rng(devices=[]):
        if hasattr(thing, "sees"):
            results = tuple(check_mixer(thing))
        elif hasattr(thing, "reads") and hasattr(thing, "gives"):
            kinds = kinds_of(thing)
            results = tuple(result for kind in kinds for result in check_model(entry, kind, many=len(kinds) > 1))
        else:
            raise UsageError(f"`{name}` is neither a mixer nor a model", DECLARE)
    return Contracts(f"{entry.class_name} ({entry.module_name})", results)


def find(name: str) -> Entry:
    """The mixer or the model of this name."""
    if ":" in name:
        return registry.get("models", name)
    known = registry.mixers() | registry.entries("models")
    for entry in known.values():
        if registry.named(entry, name):
            return entry
    other = next((e for r in registry.ROOMS for e in registry.entries(r).values() if registry.named(e, name)), None)
    if other is not None:
        raise UsageError(
            f"`{other.name}` ({other.room}) is neither a mixer nor a model", "contracts exist for these two only."
        )
    names = [n for entry in known.values() for n in (entry.name, *entry.aliases)]
    raise UnknownName("mixer or model", name, names, "headway list")


def check_mixer(make: Any) -> Iterator[Result]:
    """What the class declares first; if that holds, everything else in each of the ways in which models make it."""
    declared = [run(contract, [make], make) for contract in mixers.DECLARATIONS]
    yield from declared
    made = all(result.ok for result in declared)
    cases = mixers.cases(make) if made else []
    stepped = [case for case in cases if case.causal]
    yield from (run(contract, cases, make, NOT_MADE) for contract in mixers.EVERY)
    reason = "it sees both sides" if made else NOT_MADE
    yield from (run(contract, stepped, make, reason) for contract in causal.CONTRACTS)


def kinds_of(thing: Any) -> list[Kind]:
    """Every pair of what a model reads and gives that some task trains."""
    if not (isinstance(thing.reads, tuple) and isinstance(thing.gives, tuple)):
        words = f"`reads` and `gives` should be tuples, not {thing.reads!r} and {thing.gives!r}"
        raise UsageError(words, 'write `reads, gives = ("tokens",), ("one vector",)`.')
    kinds = [kind for kind in product(thing.reads, thing.gives) if kind in KINDS]
    if not kinds:
        known = "; ".join(f"reads {reads!r}, gives {gives!r}" for reads, gives in KINDS)
        words = f"no task trains a model that reads {' or '.join(thing.reads)} and gives {' or '.join(thing.gives)}"
        raise UsageError(words, f"known: {known}.")
    return kinds


def check_model(entry: Entry, kind: Kind, many: bool = False) -> Iterator[Result]:
    """The model as it comes, in a small size; the titles name the kind if it is of several."""
    make, case = entry.load(), models.Case(entry, kind)
    first = run(models.constructor_takes_sizes_by_name, [case], make)
    results = [first]
    for contracts, reason in contracts_for(kind):
        cases = [case] if first.ok and not reason else []
        results += (run(contract, cases, make, reason or NOT_MADE) for contract in contracts)
    suffix = f" ({kind[0]}, {kind[1]})" if many else ""
    yield from (replace(result, title=result.title + suffix) for result in results)


def contracts_for(kind: Kind) -> list[tuple[tuple[Contract, ...], str]]:
    """The contracts of models, and for each group why it does not apply to this kind, if it does not."""
    padded = KINDS[kind].examples().lengths is not None
    return [
        (models.EVERY, ""),
        (models.PADDED, "" if padded else "its examples are never padded"),
        (writers.WRITERS, "" if kind[1] in ("next token", "target tokens") else "it does not write token by token"),
        (writers.LANGUAGE, "" if kind[1] == "next token" else "it is not a language model"),
    ]


def run(contract: Contract, cases: list[Any], make: Any, otherwise: str = "") -> Result:
    """One contract on each case: the first failure, or that it holds; without a case, why it does not apply."""
    for case in cases:
        where = f"under {case.label}, " if len(cases) > 1 else ""
        try:
            contract(case)
        except Broken as broken:
            return Result(title(contract), "fails", where + str(broken))
        except Exception as problem:
            return Result(title(contract), "fails", where + describe(problem, make), problem)
    return (
        Result(title(contract), "ok")
        if cases
        else Result(title(contract), "does not apply", f"does not apply, {otherwise}")
    )


def describe(problem: Exception, make: Any) -> str:
    """What the layer raised, and in which of its own lines."""
    lines = str(problem).strip().split("\n")
    file = inspect.getsourcefile(make)
    own = [frame.lineno for frame in traceback.extract_tb(problem.__traceback__) if frame.filename == file]
    return f"{type(problem).__name__}: {lines[0][:200]}" + (f" (line {own[-1]})" if own else "")
