"""What a run keeps of its data: the held-out parts, so that it is judged, now and later, without the person's files.

held_out/validation.jsonl, held_out/test.jsonl        tables as JSON lines; other parts in formats of their own
"""

import json
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from pathlib import Path
from typing import Protocol, TypeVar

from headway.core.config import from_json
from headway.core.errors import ConfigError, DataError, RunError, UsageError
from headway.core.files import read_json, write_text
from headway.data.rows import Problem
from headway.data.table import Table, read_table
from headway.tasks.folder import HELD_OUT

HINT = "restore the file from a copy, or train again."
P = TypeVar("P")
T = TypeVar("T")


def write_parts(parts: Mapping[str, P], folder: Path, suffix: str, write: Callable[[Path, P], object]) -> None:
    """Each part as a file of its name."""
    (folder / HELD_OUT).mkdir(exist_ok=True)
    for name, part in parts.items():
        write(folder / HELD_OUT / f"{name}{suffix}", part)


def read_parts(folder: Path, suffix: str, read: Callable[[Path], P]) -> dict[str, P]:
    """The parts that the run keeps; what `read` cannot make sense of (a `ValueError`) is reported with its file."""
    parts: dict[str, P] = {}
    for path in sorted((folder / HELD_OUT).glob(f"*{suffix}")):
        try:
            parts[path.stem] = read(path)
        except DataError as problem:
            raise damaged(path, problem.message) from problem
        except (ValueError, KeyError, TypeError) as problem:
            raise damaged(path, str(problem)) from problem
    if "validation" not in parts:
        raise RunError(f"`{folder / HELD_OUT / f'validation{suffix}'}` is missing", HINT)
    return parts


def read_kept(kind: type[P], path: Path) -> P:
    """A dataclass that the run keeps as JSON, such as what training has seen; a damaged file is reported."""
    try:
        return from_json(kind, read_json(path), str(path))
    except ConfigError as problem:
        named = str(path) in problem.message  # a class that checks its own values does not know the file
        words = problem.message if named else f"`{path}` is damaged: {problem.message}"
        raise RunError(words, problem.hint or HINT) from problem


def damaged(path: Path, why: str) -> RunError:
    """The error that says what is wrong with a file of the run."""
    return RunError(f"`{path}` is damaged: {why}", HINT)


def once_per_folder(read: Callable[[T, Path], P]) -> Callable[[T, Path], P]:
    """For a method that reads what a run keeps: it reads each folder once."""

    @wraps(read)
    def found(self: T, folder: Path) -> P:
        known: dict[Path, P] = vars(self).setdefault(f"{read.__name__}_known", {})
        if folder not in known:
            known[folder] = read(self, folder)
        return known[folder]

    return found


def judged(parts: Mapping[str, P]) -> str:
    """The part that a run is judged by: the validation part only if the data was too small to set a test part apart."""
    return "test" if "test" in parts else "validation"


def loaded_from(folder: Path | None) -> Path:
    """The run that a task was loaded from, which keeps parts that it needs."""
    if folder is None:
        raise UsageError("the task was not loaded from a run", "open the run with `headway.load(...)`.")
    return folder


# -- rows --------------------------------------------------------------------------------------------------------------


class Rows(Protocol):
    @property
    def problems(self) -> Sequence[Problem]: ...


R = TypeVar("R", bound=Rows)


def whole(rows: R) -> R:
    """The rows, if every line could be read."""
    if rows.problems:
        raise ValueError(f"line {rows.problems[0].line} {rows.problems[0].message}")
    return rows


def write_tables(parts: Mapping[str, Table], folder: Path) -> None:
    """Each part as JSON lines."""

    def write(path: Path, part: Table) -> None:
        rows = (dict(zip(part.columns, cells, strict=True)) for cells in zip(*part.columns.values(), strict=True))
        write_text(path, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))

    write_parts(parts, folder, ".jsonl", write)


def read_tables(folder: Path, wanted: Sequence[str]) -> dict[str, Table]:
    """The tables that the run keeps, which have the columns that are `wanted`."""
    return read_parts(folder, ".jsonl", lambda path: whole(read_table(str(path), wanted)))
