"""Sets from a table: rows with the same name in one column form a set, its other columns of numbers are the elements.

Dropped, reported:  rows with a missing number; sets without a target.
Kept, reported:     columns that hold no numbers, which are not read; few sets; sets of one element only.
An error:           a set with more than one target; one target for all sets, because there is nothing to learn.
"""

import math
from collections.abc import Sequence

import numpy as np

from headway.core.errors import DataError, nearest, raise_all
from headway.data.cells import to_number
from headway.data.findings import Examination, Report
from headway.data.messages import count_noun, display_name, excerpt, list_names
from headway.data.sets import LabelledSets
from headway.data.table import Table, read_table

NAMES = ("set", "id", "group")  # of the column that says which set a row belongs to, unless it is given
TARGETS = ("target", "y", "label")
FEW = 50  # sets with which a model learns little
MOST_CLASSES = 20  # different whole numbers that are taken for classes


def are_numbers(targets: Sequence[str]) -> bool:
    """Whether targets are quantities: all of them numbers, and not a few whole ones, which are classes."""
    values = [to_number(target) for target in targets]
    if any(math.isnan(value) for value in values):
        return False
    return len(set(values)) > MOST_CLASSES or not all(value.is_integer() for value in values)


def choose_column(table: Table, given: str | None, usual: Sequence[str], option: str) -> str:
    """The column that is given, or the first of the usual names."""
    if given is not None:
        table.column(given)
        return given
    found = next((name for name in usual if name in table.columns), None)
    if found is None:
        guess = nearest(usual[0], table.columns)
        hint = (f"is it `{guess}`? " if guess else "") + f"its columns are {list_names(table.columns)}."
        raise DataError(f"which column of {display_name(table.origin)}? missing: `{option}`", hint)
    return found


def read_sets(
    path: str, name: str | None, target: str | None, columns: Sequence[str] = (), with_target: bool = True
) -> tuple[LabelledSets, Report]:
    """The sets of a table, in the order of their first rows, and what was found.

    name          the column that says which set a row belongs to
    target        the column of what a set should give
    columns       those of the elements, if they are known; otherwise all that hold numbers
    with_target   whether there must be a target; without one it is empty
    """
    table = read_table(path, [column for column in (name, target if with_target else None) if column is not None])
    by = choose_column(table, name, NAMES, "--set")
    goal = choose_column(table, target, TARGETS, "--target") if with_target else None
    if by == goal:
        raise DataError(f"the column `{by}` cannot be both the set and the target", "choose two columns.")
    seen = Examination(
        table.lines, "row", lambda i: excerpt(" ".join(cells[i] for cells in table.columns.values()), 56)
    )
    seen.report_unreadable(table.problems)
    known, goals = set(TARGETS) | {target}, {goal} if goal else set()
    candidates = [c for c in table.columns if c != by and c not in goals and (with_target or c not in known)]
    numbers = {c: np.array([to_number(cell) for cell in table.column(c)]) for c in (columns or candidates)}
    chosen = list(columns) or [c for c in candidates if is_numeric(table.column(c))]
    if not chosen:
        hint = f"its columns are {list_names(table.columns)}; an element is a row of numbers."
        raise DataError(f"{display_name(path)} has no column of numbers beside the set and the target", hint)
    if left_out := [c for c in candidates if c not in chosen]:
        seen.report_all("not-read", "note", f"columns that are not read: {list_names(left_out)}", len(left_out))
    elements = np.stack([numbers[c] for c in chosen], 1)
    missing = np.isnan(elements).any(1)
    seen.drop("missing-number", missing, f"with something else than a number in {list_names(chosen[:5])}")
    targets = [cell.strip() for cell in table.column(goal)] if goal else [""] * len(table)
    if goal:
        seen.drop("empty-target", np.array([not cell for cell in targets]), f"with nothing in column `{goal}`")
    return grouped(table, seen, by, targets, elements, tuple(chosen), with_target)


def is_numeric(cells: Sequence[str]) -> bool:
    """Whether a column holds numbers: whatever is in it is one, and something is."""
    filled = [cell for cell in cells if cell.strip()]
    return bool(filled) and not any(math.isnan(to_number(cell)) for cell in filled)


def grouped(
    table: Table,
    seen: Examination,
    by: str,
    targets: Sequence[str],
    elements: np.ndarray,
    columns: tuple[str, ...],
    with_target: bool,
) -> tuple[LabelledSets, Report]:
    """The rows that are left, set by set."""
    rows_of: dict[str, list[int]] = {}
    for row in np.flatnonzero(seen.alive).tolist():
        rows_of.setdefault(table.column(by)[row], []).append(row)
    if not rows_of:
        reasons = "; ".join(finding.message for finding in seen.finish())
        raise DataError(
            f"nothing is left of {display_name(table.origin)}: {reasons}", "every row is an element of a set."
        )
    torn = []
    for name, rows in rows_of.items():
        other = next((row for row in rows if targets[row] != targets[rows[0]]), None)
        if other is not None:
            both = (
                f"`{targets[rows[0]]}` in line {table.lines[rows[0]]}, `{targets[other]}` in line {table.lines[other]}"
            )
            torn.append(f"set `{excerpt(name, 30)}` has {both}")
    hint = "a set has one target, written in each of its rows; is `--set` the right column?"
    raise_all(torn, DataError, f"{display_name(table.origin)} has sets with more than one target", hint)
    counts = np.array([len(rows) for rows in rows_of.values()])
    wanted = tuple(targets[rows[0]] for rows in rows_of.values())
    if with_target:
        examine(seen, wanted, counts)
    order = [row for rows in rows_of.values() for row in rows]
    sets = LabelledSets(elements[order], counts, wanted, tuple(rows_of), columns, table.origin)
    sizes = f"elements per set: median {np.median(counts):.0f}, {counts.min()} to {counts.max():,}"
    summary = (f"{count_noun(len(counts), 'set')} of {count_noun(len(columns), 'number')} per element", sizes)
    statistics = {"sets": len(counts), "elements": len(order), "columns": list(columns), "largest": int(counts.max())}
    total = len(table) + len(table.problems)
    return sets, Report(table.origin, total, len(order), seen.finish(), statistics, "row", summary)


def examine(seen: Examination, targets: Sequence[str], counts: np.ndarray) -> None:
    if len(set(targets)) == 1:
        seen.report_all(
            "one-target", "error", f"every set has the target `{excerpt(targets[0], 30)}`: nothing to learn"
        )
    if counts.max() == 1:
        message = "every set has one element: is `--set` the right column?"
        seen.report_all("single-elements", "warning", message, len(counts))
    if len(targets) < FEW:
        message = f"too little data: {count_noun(len(targets), 'set')}; a model needs at least about {FEW}"
        seen.report_all("little-data", "warning", message, len(targets))
