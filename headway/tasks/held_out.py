"""Tables that a run keeps: its held-out parts, so that it is judged, now and later, without the person's files."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from headway.core.errors import DataError, RunError
from headway.core.files import write_text
from headway.data.table import Table, read_table

HINT = "restore the file from a copy, or train again."


def write_tables(parts: Mapping[str, Table], folder: Path) -> None:
    """Each part as JSON lines."""
    (folder / "held_out").mkdir(exist_ok=True)
    for name, part in parts.items():
        rows = (dict(zip(part.columns, cells, strict=True)) for cells in zip(*part.columns.values(), strict=True))
        lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        write_text(folder / "held_out" / f"{name}.jsonl", lines)


def read_tables(folder: Path, wanted: Sequence[str]) -> dict[str, Table]:
    """The parts that the run keeps, which have the columns that are `wanted`; a damaged line is reported with its file."""
    parts: dict[str, Table] = {}
    for path in sorted((folder / "held_out").glob("*.jsonl")):
        try:
            parts[path.stem] = part = read_table(str(path), wanted)
        except DataError as problem:
            raise RunError(f"`{path}` is damaged: {problem.message}", HINT) from problem
        if part.problems:
            line = part.problems[0]
            raise RunError(f"`{path}` is damaged: line {line.line} {line.message}", HINT)
    if "validation" not in parts:
        raise RunError(f"`{folder / 'held_out' / 'validation.jsonl'}` is missing", HINT)
    return parts
