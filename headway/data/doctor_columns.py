"""The doctor of tables: what is to be predicted, from which columns, and what is wrong with them.

Dropped, reported:  rows without a target, rows that are held out; columns that hold nothing, one value only, or a different
                    word in every row (an identifier), unless a person asked for them.
Kept, reported:     gaps, outliers, cells that are no number, copies, rows that agree in all but the target, a column that
                    nearly determines the target, columns whose sum it is; of classes, rare ones and one that is nearly everything.
An error:           a column that equals the target; a target with one value. Dates are refused: a model cannot read them.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence, Set
from dataclasses import dataclass
from typing import Literal

import numpy as np

from headway.core.errors import DataError
from headway.data.cells import EMPTY, Column, read_as_numbers, read_column
from headway.data.doctor_labels import describe_classes, examine_balance
from headway.data.findings import Examination, Finding, Report
from headway.data.messages import count_noun, display_name, excerpt, list_names
from headway.data.table import Table

TargetKind = Literal["numbers", "classes"]
FEW_VALUES = 10  # different whole numbers that are taken for classes without being asked
LEAST_ROWS = 100
FAR = 10.0  # interquartile ranges beyond the quartiles: an outlier
LEAK = 0.999  # of the variance of the target, or of its classes, that one column explains
IDENTIFIER = 20  # rows from which on a different word in each is no accident


@dataclass(frozen=True)
class Examined:
    """The rows and columns that can be used, and what was found."""

    table: Table
    kind: TargetKind
    features: tuple[str, ...]
    report: Report


def examine_columns(
    table: Table,
    target: str,
    chosen: Sequence[str] | None = None,
    kind: TargetKind | None = None,
    held_out: Set[tuple[str, ...]] = frozenset(),
) -> Examined:
    """The rows that have a target, the features among the columns, and what was found.

    chosen     the features that a person asked for; None: all other columns that can be learned from
    held_out   cells of the features in rows that the model is to be judged by: nothing is learned from them
    """
    names = [name for name in (chosen if chosen is not None else table.columns) if name != target]
    columns = {name: read_column(name, table.column(name)) for name in names}
    refuse_dates(table.origin, read_column(target, table.column(target)), columns)
    wanted = read_target(target, table.column(target), kind)
    kind = kind or kind_of_target(wanted)
    seen = Examination(
        table.lines, "row", lambda i: ", ".join(f"{n}={excerpt(c.cells[i], 20)}" for n, c in columns.items())[:80]
    )
    examine_rows(seen, table, wanted, kind)
    rows = list(zip(*(c.cells for c in columns.values()), strict=True)) if columns else [()] * len(table)
    hidden = np.array([row in held_out for row in rows], dtype=bool)
    seen.drop("held-out", hidden, "whose features are also in the held-out tables")
    kept = np.flatnonzero(seen.alive)
    if not len(kept):
        reasons = "; ".join(finding.message for finding in seen.finish())
        raise DataError(f"nothing is left of {display_name(table.origin)}: {reasons}", "every row needs a target.")
    features = tuple(name for name, column in columns.items() if usable(seen, column, kept, chosen is not None))
    if not features:
        hint = f"its columns are {list_names(table.columns)}; name some with `--features a,b,c`."
        raise DataError(f"no column of {display_name(table.origin)} is left to learn `{target}` from", hint)
    for name in features:
        examine_cells(seen, columns[name], kept)
        examine_leak(seen, columns[name], wanted, kept, kind)
    if kind == "numbers":
        examine_sum(seen, [columns[name] for name in features], wanted, kept)
    examine_copies(seen, [rows[i] for i in kept], [wanted.cells[i] for i in kept], kept)
    statistics, summary = describe_target(seen, wanted, kept, kind)
    if len(kept) < LEAST_ROWS:
        message = f"too little data: {count_noun(len(kept), 'row')}; a model needs at least about {LEAST_ROWS:,}"
        seen.report_all("little-data", "warning", message, len(kept))
    used = Table({name: table.columns[name] for name in (*features, target)}, table.lines, table.origin)
    total = len(table) + len(table.problems)
    summary = (
        *summary,
        f"{count_noun(len(features), 'feature')}: {list_names(features[:12])}{' ...' * (len(features) > 12)}",
    )
    report = Report(table.origin, total, len(kept), seen.finish(), statistics, "row", summary)
    return Examined(used.select(kept.tolist()), kind, features, report)


def examine_given(table: Table, target: str, features: Sequence[str], kind: TargetKind) -> tuple[Table, Report]:
    """The rows that have a target, of a table that a model is judged by: only its rows are examined.

    features   those of training
    """
    used = Table({name: table.columns[name] for name in (*features, target)}, table.lines, table.origin, table.problems)
    seen = Examination(table.lines, "row", lambda i: f"{target}={excerpt(used.columns[target][i], 40)}")
    examine_rows(seen, used, read_target(target, used.column(target), kind), kind)
    kept = np.flatnonzero(seen.alive).tolist()
    if not kept:
        reasons = "; ".join(finding.message for finding in seen.finish())
        raise DataError(f"nothing is left of {display_name(table.origin)}: {reasons}", "every row needs a target.")
    total = len(table) + len(table.problems)
    return used.select(kept), Report(table.origin, total, len(kept), seen.finish(), {"rows": len(kept)}, "row")


def read_target(name: str, cells: Sequence[str], kind: TargetKind | None) -> Column:
    """The target as the kind it is known to be (None: not yet). Among words `-` and `none` are classes; among numbers they are gaps."""
    if kind == "numbers":
        return read_as_numbers(name, cells)
    found = read_column(name, cells)
    return found if found.kind == "numbers" else read_column(name, cells, EMPTY)


def examine_rows(seen: Examination, table: Table, wanted: Column, kind: TargetKind) -> None:
    """Rows that cannot be read, and rows without a target."""
    seen.report_unreadable(table.problems)
    seen.drop("empty-target", ~wanted.filled, f"with nothing in column `{wanted.name}`")
    if kind == "numbers":
        seen.drop("no-number", np.isnan(wanted.values), f"whose `{wanted.name}` is no number")


def kind_of_target(target: Column) -> TargetKind:
    """Words are classes; so are at most ten different whole numbers. All other numbers are to be predicted as such."""
    if target.kind != "numbers":
        return "classes"
    values = np.unique(target.values[np.isfinite(target.values)])
    return "classes" if len(values) <= FEW_VALUES and (values == np.round(values)).all() else "numbers"


def refuse_dates(origin: str, wanted: Column, columns: dict[str, Column]) -> None:
    dates = [name for name, column in columns.items() if column.kind == "dates"]
    others = [name for name in columns if name not in dates]
    if dates:
        hint = f"leave them out with `--features {','.join(others[:8])}`; write year, month or weekday into columns of their own; "
        hint += "or predict over time with `headway train forecasting`."
        raise DataError(
            f"{display_name(origin)} holds dates in {list_names(dates)}, which a table model cannot read", hint
        )
    if wanted.kind == "dates":
        raise DataError(
            f"the target `{wanted.name}` holds dates", "predict a number, such as the days between two dates."
        )


def usable(seen: Examination, column: Column, kept: np.ndarray, asked: bool) -> bool:
    """Whether something can be learned from the column; what is left out is reported."""
    cells = [column.cells[i] for i in kept]
    different = len(set(cells))
    if column.kind == "nothing" or different == 1:
        words = "holds nothing" if column.kind == "nothing" else f"holds only `{excerpt(cells[0], 30)}`"
        report_column(seen, "constant", "note", f"the column `{column.name}` {words}", dropped=True)
        return False
    if column.kind == "words" and different == len(cells) >= IDENTIFIER:
        message = f"the column `{column.name}` has a different word in every row: an identifier, or a text"
        report_column(seen, "identifier", "warning", message, dropped=not asked)
        return asked
    return True


def report_column(seen: Examination, kind: str, severity: str, message: str, dropped: bool = False) -> None:
    seen.findings.append(Finding(kind, 1, (), (), severity, "dropped" if dropped else "kept", message, seen.place))


def examine_cells(seen: Examination, column: Column, kept: np.ndarray) -> None:
    """Gaps, cells that are no number, numbers far from all others."""
    gaps = [i for i in kept.tolist() if not column.filled[i]]
    message = f"{count_noun(len(gaps), 'gap')} in `{column.name}` ({len(gaps) / len(kept):.1%})"
    seen.report("gap", gaps, "warning" if len(gaps) > 0.3 * len(kept) else "note", message)
    odd = [i for i in kept.tolist() if column.odd[i]]
    examples = [f"{column.name}={excerpt(column.cells[i], 40)}" for i in odd]
    message = f"{count_noun(len(odd), 'cell')} of `{column.name}` that {'is' if len(odd) == 1 else 'are'} no number: taken for a gap"
    seen.report("no-number", odd, "warning", message, examples=examples)
    if column.kind == "numbers":
        values = column.values[kept]
        low, high = np.nanquantile(values, (0.25, 0.75))
        far = (
            kept[(values < low - FAR * (high - low)) | (values > high + FAR * (high - low))] if high > low else kept[:0]
        )
        examples = [f"{column.name}={column.cells[i]}, while half of them are from {low:g} to {high:g}" for i in far]
        seen.report(
            "outlier", far.tolist(), "note", f"{count_noun(len(far), 'outlier')} in `{column.name}`", examples=examples
        )


def examine_leak(seen: Examination, column: Column, target: Column, kept: np.ndarray, kind: TargetKind) -> None:
    """A column that equals the target, or nearly determines it, is often written down after it: then it cannot help to predict."""
    both = f"`{column.name}` and the target `{target.name}`"
    if all(column.cells[i] == target.cells[i] for i in kept):
        report_column(seen, "equals-target", "error", f"{both} are the same in every row")
    elif explained(column, target, kept, kind) > LEAK:
        message = f"{both}: the one nearly determines the other; is it known when a prediction is made?"
        report_column(seen, "leak", "warning", message)


def explained(column: Column, target: Column, kept: np.ndarray, kind: TargetKind) -> float:
    """The share of the target's variance that a line in one column explains; or, of the mistakes of always answering the most
    frequent class, the share that answering by the value of the column avoids (lambda of Goodman & Kruskal 1954)."""
    if kind == "numbers":
        x, y = column.values[kept], target.values[kept]
        known = np.isfinite(x)
        if column.kind != "numbers" or known.sum() < 3 or np.ptp(x[known]) == 0 or np.ptp(y[known]) == 0:
            return 0.0
        return float(np.corrcoef(x[known], y[known])[0, 1] ** 2)
    classes: dict[str, Counter[str]] = defaultdict(Counter)
    for i in kept:
        classes[column.cells[i]][target.cells[i]] += 1
    if len(classes) > len(kept) / 5:  # values that hardly come again determine everything
        return 0.0
    right = sum(counts.most_common(1)[0][1] for counts in classes.values())
    always = Counter(target.cells[i] for i in kept).most_common(1)[0][1]
    return (right - always) / (len(kept) - always) if always < len(kept) else 0.0


def examine_sum(seen: Examination, columns: Sequence[Column], wanted: Column, kept: np.ndarray) -> None:
    """Columns of numbers that together give the target exactly, as parts whose sum it is: no model is needed for that."""
    numbers = [c for c in columns if c.kind == "numbers" and np.isfinite(c.values[kept]).all()]
    if len(numbers) < 2 or len(kept) < 10 * len(numbers):
        return
    x = np.column_stack([np.ones(len(kept)), *(c.values[kept] for c in numbers)])
    y = wanted.values[kept]
    weights = np.linalg.lstsq(x, y, rcond=None)[0]
    if np.abs(y - x @ weights).max() > 1e-9 * max(1.0, float(np.abs(y).max())):
        return
    parts = [
        c.name for c, w in zip(numbers, weights[1:], strict=True) if abs(w) * c.values[kept].std() > 1e-6 * y.std()
    ]
    if len(parts) > 1:  # a single one was reported before
        message = f"`{wanted.name}` is exactly a weighted sum of {list_names(parts)}, which may not be known before it"
        report_column(seen, "leak", "warning", message)


def examine_copies(
    seen: Examination, rows: Sequence[tuple[str, ...]], targets: Sequence[str], kept: np.ndarray
) -> None:
    """Rows that come again: with the same target, and with another one."""
    given: dict[tuple[str, ...], set[str]] = defaultdict(set)
    again = []
    for i, row, target in zip(kept.tolist(), rows, targets, strict=True):
        if target in given[row]:
            again.append(i)
        given[row].add(target)
    seen.report("duplicate", again, "note", f"{count_noun(len(again), 'row')} seen before, with the same target")
    torn = [i for i, row in zip(kept.tolist(), rows, strict=True) if len(given[row]) > 1]
    message = f"{count_noun(len(torn), 'row')} that {'agrees' if len(torn) == 1 else 'agree'} with another in all but the target"
    seen.report("contradiction", torn, "warning", message)


def describe_target(
    seen: Examination, target: Column, kept: np.ndarray, kind: TargetKind
) -> tuple[dict[str, object], tuple[str, ...]]:
    """Statistics of the target, also in words; a target that teaches nothing is an error."""
    cells = [target.cells[i] for i in kept]
    different = len(set(cells))
    if kind == "classes":
        counts = Counter(cells)
        examine_balance(seen, counts, target.cells, kept.tolist())
        other = "; `--kind regression` for numbers" if target.kind == "numbers" else ""
        words = f"`{target.name}` has {count_noun(different, 'different value')}: classification{other}"
        return {"classes": dict(counts.most_common())}, (words, describe_classes(counts))
    values = target.values[kept]
    if np.ptp(values) == 0:
        seen.report_all("one-value", "error", f"every row has the target {values[0]:g}: nothing to learn")
    spread = (
        f"mean {values.mean():.4g}, standard deviation {values.std():.4g}, {values.min():.4g} to {values.max():.4g}"
    )
    words = f"`{target.name}` has {count_noun(different, 'different value')}: regression; `--kind classification` for classes"
    statistics = {"mean": float(values.mean()), "deviation": float(values.std())}
    return dict(statistics), (words, spread)
