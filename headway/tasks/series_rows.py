"""Series: from a person's table to windows to learn from and windows that are held out, later in time, kept in the run."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from jaxtyping import Bool

from headway.core.errors import DataError, nearest
from headway.core.files import read_arrays, write_arrays
from headway.core.folds import current_fold, current_turn, take_block
from headway.data.cells import read_column
from headway.data.doctor_series import (
    examine_level,
    examine_order,
    find_time,
    list_unused,
    refuse_short,
)
from headway.data.findings import Examination, Report
from headway.data.messages import count_noun, display_name, list_names
from headway.data.series import Series, Windows
from headway.data.table import Table, read_table
from headway.tasks.held_out import damaged

VALIDATION, TEST = 0.1, 0.2  # shares of the rows: the last before the test part, and the last of all
LEAST = 10  # windows of each part
YES, NO = ("true", "yes", "1", "t", "train"), ("false", "no", "0", "f", "test")


@dataclass(frozen=True, eq=False)
class SeriesCorpus:
    """A series and its windows, part by part: "train", "validation", "test"."""

    series: Series
    parts: dict[str, Windows]
    first: int  # the row that the validation part begins with
    time: str | None  # the column of times
    reports: tuple[Report, ...]

    @cached_property
    def fingerprint(self) -> dict[str, str]:
        return {"series": f"{len(self.series):,} rows, sha256 {self.series.fingerprint[:16]}"}

    def describe(self) -> str:
        train, *held_out = self.parts.items()
        first = [f"{len(part):,} for {name} (from {self.series.times[part.rows[0]]})" for name, part in held_out]
        learning = f"learning from {len(train[1]):,} windows; held out, later in time: {', '.join(first)}"
        return "\n".join([*(report.text() for report in self.reports), learning])


def collect_series(
    path: str,
    target: str | None,
    time: str | None,
    features: Sequence[str],
    categories: Sequence[str],
    split: str | None,
    lags: int,
    horizon: int,
) -> SeriesCorpus:
    """Read, examine, order by time, cut into windows and split. Whatever is dropped or filled is in the report."""
    named = [name for name in (target, time, *features, *categories, split) if name]
    table = read_table(path, named)
    if target is None:
        hint = f"name one with `--target`; its columns are {list_names(table.columns)}."
        raise DataError(f"which column of {display_name(path)} should be predicted?", hint)
    time = find_time(table, time, [target, *features, *categories, *([split] if split else [])])
    channels = choose_channels(table, target, features, [*categories, *filter(None, (time, split))])
    seen = Examination(table.lines, "row", lambda i: table.column(time)[i] if time else f"row {i + 1}")
    seen.report_unreadable(table.problems)
    ordered = examine_order(seen, table, time, channels, target)
    refuse_short(path, len(ordered.rows), lags, horizon, lags + horizon + 10 * LEAST)
    times = table.column(time) if time else tuple(f"row {i}" for i in range(1, len(table) + 1))
    cells = {name: tuple(table.column(name)[i].strip() for i in ordered.rows) for name in categories}
    test = read_split(table, split, ordered.rows)
    series = Series(channels, ordered.values, tuple(times[i] for i in ordered.rows), cells, test, ordered.given)
    parts, first = split_windows(series.windows(lags, horizon), test, horizon, path)
    examine_level(seen, target, ordered.values[~test, 0], ordered.values[test, 0])
    span = f"{series.times[0]} to {series.times[-1]}" + (
        f" (column `{time}`)" if time else ", in the order of the file"
    )
    used = [*channels, *categories, *filter(None, (time, split))]
    summary = (span, f"{count_noun(len(channels), 'channel')}: {list_names(channels)}", list_unused(table, used))
    total = len(table) + len(table.problems)
    report = Report(path, total, len(series), seen.finish(), {"rows": len(series)}, "row", tuple(filter(None, summary)))
    return SeriesCorpus(series, parts, first, time, (report,))


def choose_channels(table: Table, target: str, features: Sequence[str], taken: Sequence[str]) -> tuple[str, ...]:
    """The columns whose past is read: the target first, then the features, or all columns of numbers."""
    if features:
        return tuple(dict.fromkeys((target, *features)))
    rest = [name for name in table.columns if name not in (target, *taken)]
    return (target, *(name for name in rest if read_column(name, table.column(name)).kind == "numbers"))


def read_split(table: Table, split: str | None, rows: Sequence[int]) -> Bool[np.ndarray, "t"]:
    """Which rows are the test part: those whose column `split` says no (or test), or the last fifth."""
    if split is None:
        return np.arange(len(rows)) >= round((1 - TEST) * len(rows))
    cells = [table.column(split)[i].strip().lower() for i in rows]
    wrong = next((cell for cell in cells if cell not in (*YES, *NO)), None)
    if wrong is not None:
        hint = "it says for each row whether it is for training: true or false."
        raise DataError(f"`{split}` of {display_name(table.origin)} is `{wrong}` in a row", hint)
    test = np.array([cell in NO for cell in cells], dtype=bool)
    if (test[:-1] & ~test[1:]).any():
        raise DataError(
            f"`{split}` of {display_name(table.origin)} has training rows after test rows",
            "a forecast is judged by what comes later.",
        )
    return test


def split_windows(
    every: Windows, test: Bool[np.ndarray, "t"], horizon: int, origin: str
) -> tuple[dict[str, Windows], int]:
    """Windows by the part that all of their predicted rows are in, and the first row of validation.

    Their past may reach into the part before.

    In cross-validation not even that: training ends `lags` rows before the fold, so that no row is in windows of both.
    Racine 2000, "Consistent cross-validatory model-selection for dependent data: hv-block cross-validation".

    Each member of an ensemble validates by an earlier tenth, and learns from the days after it as well, but for windows whose past is
    in it. Of a regression on the past that is a fair validation as long as its errors are not correlated: Bergmeir et al. 2018, "A note
    on the validity of cross-validation for evaluating autoregressive time series prediction". The test part is later than all.
    """
    fold, before, lags = current_fold(), int((~test).sum()), every.series.shape[1]
    share = max(1, round(VALIDATION * before))
    stop = before - current_turn() % max(1, (before - lags) // share) * share
    first, stop = take_block(before, fold) if fold else (stop - share, stop)
    number = np.where(test, 2, 3)  # 3: in no part
    number[: max(0, first - lags) if fold else first], number[first:stop] = 0, 1
    if not fold:
        number[stop + lags : before] = 0
    ends = number[every.rows[:, None] + np.arange(horizon)]
    inside = (ends == ends[:, :1]).all(1)
    parts = {name: every.select(inside & (ends[:, 0] == k)) for k, name in enumerate(("train", "validation", "test"))}
    for name, part in parts.items():
        if len(part) < LEAST:
            words = f"{display_name(origin)} leaves {count_noun(len(part), 'window')} for {name}, at least {LEAST} are needed"
            fewer = f"fewer `--folds` than {fold.folds}" if fold else "another `--split`"
            raise DataError(words, f"bring a longer series, fewer `--lags`, or {fewer}.")
    return parts, first


# -- in the run -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Kept:
    """A held-out part in the run: its windows, the categories of the predicted rows, and their times."""

    windows: Windows
    categories: np.ndarray  # "n k"
    times: tuple[str, ...]

    def save(self, path: Path) -> None:
        arrays = {"series": self.windows.series, "targets": self.windows.targets, "rows": self.windows.rows}
        arrays["categories"] = self.categories
        write_arrays(path, arrays, self.times)

    @classmethod
    def load(cls, path: Path, shape: tuple[int, int, int, int]) -> "Kept":
        """From a run; `shape` are lags, channels, categories and horizon, which its arrays must have."""
        try:
            found, times = read_arrays(path)
        except ValueError as problem:
            raise damaged(path, str(problem)) from problem
        lags, channels, categories, horizon = shape
        n = len(found.get("rows", ()))
        expected = {"series": (n, lags, channels), "targets": (n, horizon), "rows": (n,), "categories": (n, categories)}
        if {name: a.shape for name, a in found.items()} != expected or not isinstance(times, list) or len(times) != n:
            raise damaged(path, "its windows do not fit the run")
        return cls(Windows(found["series"], found["targets"], found["rows"]), found["categories"], tuple(times))


# -- for a forecast ---------------------------------------------------------------------------------------------------


def read_past(
    path: str, channels: Sequence[str], categories: Sequence[str], time: str | None
) -> tuple[Series, int, tuple[str, ...]]:
    """The series of a table that a person brings, how many rows are still to come, and what was left out of it or filled."""
    table = read_table(path, [*channels, *categories])
    if time is not None and time not in table.columns:
        guess = nearest(time, table.columns)
        hint = (f"did you mean `{guess}`? " if guess else "") + "the rows are ordered by it."
        raise DataError(f"{display_name(path)} has no column `{time}`", hint)
    before, future = find_future(table, channels[0], time)
    if not before:
        raise DataError(f"{display_name(path)} has no value of `{channels[0]}`", "a forecast needs the past.")
    past = table.select(before)
    seen = Examination(past.lines, "row", str)
    seen.report_unreadable(table.problems)
    ordered = examine_order(seen, past, time, channels, channels[0])
    rows = [*(before[i] for i in ordered.rows), *future]
    times = table.column(time) if time else tuple(f"row {i}" for i in range(1, len(table) + 1))
    cells = {name: tuple(table.column(name)[i].strip() for i in rows) for name in categories}
    test = np.zeros(len(rows), dtype=bool)
    series = Series(tuple(channels), ordered.values, tuple(times[i] for i in rows), cells, test, ordered.given)
    report = Report(path, len(table) + len(table.problems), len(rows), seen.finish(), {}, "row")
    filled = (finding.message for finding in report.findings if finding.kind == "gap")
    return series, len(future), (*report.left_out, *filled)


def find_future(table: Table, target: str, time: str | None) -> tuple[list[int], list[int]]:
    """The rows up to the last time that has a value of the target, and those that are still to come, in the order of time."""
    known = read_column(target, table.column(target)).filled
    moments = read_column(time, table.column(time)).values if time else np.full(len(table), np.nan)
    if np.isnan(moments).all():  # the order of the file
        moments = np.arange(float(len(table)))
    last = np.max(moments, initial=-np.inf, where=known & np.isfinite(moments))
    coming = ~known & ~(moments <= last)  # with a later time, or none
    order = np.argsort(moments, kind="stable")
    return np.flatnonzero(~coming).tolist(), order[coming[order]].tolist()
