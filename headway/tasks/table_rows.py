"""Rows of a table with a target: from a person's file to a part to learn from and parts that are held out."""

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from headway.core.errors import DataError
from headway.data.cells import kinds_of, read_column
from headway.data.doctor_columns import Examined, TargetKind, examine_columns, examine_given
from headway.data.findings import Report
from headway.data.messages import display_name, list_names
from headway.data.table import Table, glance, read_table
from headway.tasks.labels import LabelledCorpus, set_apart

PARTS = 10  # a split of numbers has the same share of each tenth of them
LEAST = 20  # rows of such a part
REPEATED = "most rows come again: equal ones are not taken for copies, and may be both learned from and held out"
TARGETS = ("target", "label", "class", "y")  # what the column to be predicted is usually called


@dataclass(frozen=True)
class TableCorpus(LabelledCorpus[Table]):
    """Rows to learn from and to be judged by, what the target is, and the columns that it is learned from."""

    kind: TargetKind
    features: tuple[str, ...]


def collect_rows(
    path: str,
    target: str | None,
    features: Sequence[str] | None,
    kind: TargetKind | None,
    brought: Mapping[str, str],
    seed: int,
) -> TableCorpus:
    """Read, examine, set apart. The same files and seed give the same corpus; whatever is dropped is in the reports."""
    table = read_table(path, [*([target] if target else []), *(features or ())])
    if target is None:
        hint = f"name one with `--target`; its columns are {list_names(table.columns)}."
        raise DataError(f"which column of {display_name(path)} should be predicted?", hint)
    if features is not None and target in features:
        raise DataError(
            f"the column `{target}` cannot be both a feature and the target", "leave it out of `--features`."
        )
    found = examine_columns(table, target, features, kind)
    held_out, reports = {}, []
    for name, other in brought.items():
        held_out[name], report = read_given(other, target, found.features, found.kind)
        reports.append(report)
    copies = are_copies(rows_of(found.table, found.features))
    if held_out and copies:
        hidden = {row for part in held_out.values() for row in rows_of(part, found.features)}
        found = examine_columns(table, target, found.features, found.kind, hidden)
    keys: Sequence[Hashable] = rows_of(found.table, found.features) if copies else range(len(found.table))
    train, held_out = set_apart(found.table, held_out, groups(found, target), keys, seed, path)
    report = found.report if copies else replace(found.report, summary=(*found.report.summary, REPEATED))
    return TableCorpus(train, held_out, (report, *reports), "rows", found.kind, found.features)


def are_copies(rows: Sequence[Hashable]) -> bool:
    """Whether equal rows are copies: most rows come once. Of a few columns of words most come again, by chance."""
    return 2 * sum(times == 1 for times in Counter(rows).values()) >= len(rows)


def guess_target(path: str) -> str | None:
    """The column to be predicted, if its name says so and the rest can be learned from: numbers are among it, and no dates of a series."""
    kinds = kinds_of(glance(path))
    named = [name for name in kinds if name.lower() in TARGETS]
    others = [kind for name, kind in kinds.items() if name not in named]
    return named[0] if len(named) == 1 and "numbers" in others and "dates" not in others else None


def read_given(path: str, target: str, features: Sequence[str], kind: TargetKind) -> tuple[Table, Report]:
    """A table that the model is judged by: its columns are those of training, its rows those that have a target."""
    return examine_given(read_table(path, [*features, target]), target, features, kind)


def rows_of(table: Table, features: Sequence[str]) -> list[tuple[str, ...]]:
    """The cells of the features, row by row."""
    return list(zip(*([cell.strip() for cell in table.column(name)] for name in features), strict=True))


def groups(found: Examined, target: str) -> list[str]:
    """What a split has the same share of: each class, or each tenth of the numbers (of few rows, larger parts)."""
    cells = [cell.strip() for cell in found.table.column(target)]
    if found.kind == "classes":
        return cells
    values = read_column(target, cells).values
    parts = max(1, min(PARTS, len(values) // LEAST))
    edges = np.quantile(values, np.linspace(0, 1, parts + 1)[1:-1])
    return [f"{number:02d}" for number in np.searchsorted(edges, values)]
