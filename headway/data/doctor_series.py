"""The doctor of series: is there an order of time, is it complete, and are the values numbers?

Dropped, reported:  rows without a time, rows whose time was seen before, rows before the first value of each channel.
Changed, reported:  rows that are not in the order of time are sorted; a gap in the values is filled by the last one before it,
                    and one in the target is never taken for the truth.
Kept, reported:     gaps in time, since lags count rows; constant channels; a test part whose level differs from training.
An error:           more rows with the same time than a slip explains (several series in one table); too few rows.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from jaxtyping import Bool, Float

from headway.core.errors import DataError
from headway.data.cells import Column, read_column
from headway.data.findings import Examination
from headway.data.messages import count_noun, display_name, excerpt, list_names
from headway.data.table import Table

LONG = 5.0  # usual steps: a longer one is a gap in time, and weekends and holidays of a daily series are none
SLIP = 0.1  # of the rows with a time that was seen before
APART = 1.0  # standard deviations between the means of training and test


@dataclass(frozen=True, eq=False)
class Ordered:
    """The rows that can be used, in the order of time, and the values of the channels there.

    given   where the first channel had a value; elsewhere it was filled
    """

    rows: list[int]
    values: Float[np.ndarray, "t c"]
    given: Bool[np.ndarray, "t"]


def find_time(table: Table, asked: str | None, taken: Sequence[str]) -> str | None:
    """The column of times: the one that was asked for, else the first of dates, else the first of numbers that only grow."""
    if asked is not None:
        table.column(asked)
        return asked
    columns = [read_column(name, cells) for name, cells in table.columns.items() if name not in taken]
    dates = [column.name for column in columns if column.kind == "dates"]
    growing = [c.name for c in columns if c.kind == "numbers" and c.filled.all() and (np.diff(c.values) > 0).all()]
    return next(iter([*dates, *growing]), None)


def examine_order(seen: Examination, table: Table, time: str | None, channels: Sequence[str], target: str) -> Ordered:
    """Rows in the order of time without repetitions, and the numbers of the channels without gaps."""
    order = np.arange(len(table))
    if time is not None:
        moments = read_column(time, table.column(time))
        if moments.kind not in ("dates", "numbers"):
            hint = "write times like 2024-05-31, 2024-05-31T12:00 or as growing numbers; without a column of times leave out `--time`."
            example = excerpt(table.column(time)[0], 30)
            raise DataError(f"`{time}` of {display_name(table.origin)} holds no times, such as `{example}`", hint)
        order = examine_times(seen, moments, table.origin)
    columns = [read_numbers(table, name, target) for name in channels]
    for column in columns:
        examine_channel(seen, column, order, target)
    values = np.stack([column.values[order] for column in columns], 1)
    known = np.isfinite(values).cumsum(0).all(1)  # from here on every channel has had a value
    if (~known).any():
        early = np.zeros(len(table), dtype=bool)
        early[order[~known]] = True
        seen.drop("before-first", early, "before the first value of each channel")
    return Ordered(order[known].tolist(), fill_forward(values)[known], np.isfinite(values[known, 0]))


def read_numbers(table: Table, name: str, target: str) -> Column:
    """A channel; one that holds no numbers is refused."""
    column = read_column(name, table.column(name))
    if column.kind != "numbers":
        what = "target" if name == target else "feature"
        hint = (
            f"choose another `--{what}`; words belong into `--categories`."
            if what == "feature"
            else "choose another `--target`."
        )
        raise DataError(f"the {what} `{name}` of {display_name(table.origin)} holds {column.kind}, not numbers", hint)
    return column


def examine_times(seen: Examination, moments: Column, origin: str) -> np.ndarray:
    """The rows in the order of time."""
    seen.drop("no-time", np.isnan(moments.values), f"without a time in `{moments.name}`")
    alive = np.flatnonzero(seen.alive)
    if not len(alive):
        raise DataError(f"no row of {display_name(origin)} has a time in `{moments.name}`", "choose another `--time`.")
    order = alive[np.argsort(moments.values[alive], kind="stable")]
    back = alive[1:][np.diff(moments.values[alive]) < 0].tolist()
    seen.report(
        "out-of-order",
        back,
        "warning",
        f"{count_noun(len(back), 'row')} earlier than the one before: sorted by `{moments.name}`",
        examples=[moments.cells[i] for i in back[:3]],
    )
    again = np.zeros(len(moments.cells), dtype=bool)
    again[order[1:][np.diff(moments.values[order]) == 0]] = True
    if again.sum() > SLIP * len(order):
        message = f"{again.sum():,} of {count_noun(len(order), 'row')} have a time that was seen before: is that more than one series?"
        seen.report_all("several-series", "error", message, int(again.sum()))
    seen.drop("same-time", again, f"whose `{moments.name}` was seen before")
    order = order[~again[order]]
    steps = np.diff(moments.values[order])
    usual = float(np.median(steps)) if len(steps) else 0.0
    late = order[1:][steps > LONG * usual].tolist() if usual else []
    message = f"{count_noun(len(late), 'gap')} in time of more than {LONG:g} usual steps; lags count rows, not time"
    before = {int(b): int(a) for a, b in pairwise(order)}
    examples = [f"{moments.cells[before[i]]} to {moments.cells[i]}" for i in late[:3]]
    seen.report("time-gap", late, "warning", message, examples=examples)
    return order


def examine_channel(seen: Examination, column: Column, order: np.ndarray, target: str) -> None:
    gaps = [int(i) for i in order if np.isnan(column.values[i])]
    examples = [f"{column.name}={excerpt(column.cells[i], 40)}" for i in gaps[:3]]
    message = f"{count_noun(len(gaps), 'gap')} in `{column.name}`: filled by the last value before"
    message += ", and never taken for the truth" if column.name == target else ""
    seen.report("gap", gaps, "warning", message, examples=examples)
    values = column.values[order]
    if np.isfinite(values).any() and np.nanmax(values) == np.nanmin(values):
        seen.report_all("constant", "warning", f"`{column.name}` is {np.nanmax(values):g} in every row")


def fill_forward(values: Float[np.ndarray, "t c"]) -> Float[np.ndarray, "t c"]:
    """Each gap filled by the last value before it; nan where there is none."""
    last = np.where(np.isfinite(values), np.arange(len(values))[:, None], 0)
    return np.take_along_axis(values, np.maximum.accumulate(last, 0), 0)


def examine_level(seen: Examination, name: str, before: np.ndarray, after: np.ndarray) -> None:
    """Whether the series has left the range that training knows.

    before, after   values of the target in training and in the test part
    """
    deviation = float(before.std())
    if deviation and abs(after.mean() - before.mean()) > APART * deviation:
        message = f"`{name}` has the mean {after.mean():.4g} in the test part and {before.mean():.4g} before it: "
        seen.report_all(
            "level", "warning", message + "what was learned may not hold any more; differences may be easier"
        )


def refuse_short(origin: str, rows: int, lags: int, horizon: int, least: int) -> None:
    """A series must have some windows for each part."""
    if rows < least:
        words = f"{display_name(origin)} has {count_noun(rows, 'row')}; {lags} lags and {horizon} steps ahead need at least {least:,}"
        raise DataError(words, "bring a longer series, or fewer `--lags`.")


def list_unused(table: Table, used: Sequence[str]) -> str:
    """The columns that are not read, in words."""
    rest = [name for name in table.columns if name not in used]
    return f"not read: {list_names(rest)}" if rest else ""
