"""The doctor of series finds what was planted; windows and parts are those that were meant."""

from datetime import date, timedelta
from pathlib import Path

import numpy as np
import pytest

from headway.core.errors import DataError
from headway.data.processes import autoregressive
from headway.data.series import Series, windows
from headway.tasks.forecast_panels import autocorrelation
from headway.tasks.series_rows import SeriesCorpus, collect_series, read_past

Rows = list[list[str]]


def good(count: int = 200) -> Rows:
    """A day, a value, another value and the weekday in each row."""
    y, other = autoregressive([0.6], 1.0, count, seed=1), autoregressive([0.1], 1.0, count, seed=2)
    days = [date(2023, 1, 1) + timedelta(days=i) for i in range(count)]
    return [[d.isoformat(), f"{a:.4f}", f"{b:.4f}", d.strftime("%a")] for d, a, b in zip(days, y, other, strict=True)]


def collect(
    path: Path,
    rows: Rows,
    target: str | None = "y",
    features: tuple[str, ...] = (),
    lags: int = 3,
    horizon: int = 1,
    split: str | None = None,
    time: str | None = None,
) -> SeriesCorpus:
    names = ["day", "y", "other", "weekday", "train"][: len(rows[0])]
    (path / "s.csv").write_text("\n".join(",".join(row) for row in [names, *rows]) + "\n", encoding="utf-8")
    return collect_series(str(path / "s.csv"), target, time, features, ("weekday",), split, lags, horizon)


def kinds(corpus: SeriesCorpus) -> dict[str, tuple[int, ...]]:
    return {finding.kind: finding.lines for finding in corpus.reports[0].findings}


def test_a_good_series_has_no_findings(tmp_path: Path) -> None:
    corpus = collect(tmp_path, good())
    assert kinds(corpus) == {} and corpus.time == "day" and corpus.series.names == ("y", "other")
    assert {name: len(part) for name, part in corpus.parts.items()} == {"train": 141, "validation": 16, "test": 40}
    assert corpus.parts["test"].rows.tolist() == list(range(160, 200)), "the last fifth, later than everything else"
    assert "2023-01-01 to 2023-07-19 (column `day`)" in corpus.describe()


def test_windows_are_the_last_values_and_the_next(tmp_path: Path) -> None:
    values = np.arange(20.0).reshape(10, 2)
    part = windows(values, 3, 2)
    assert part.rows.tolist() == [3, 4, 5, 6, 7, 8]
    np.testing.assert_array_equal(part.series[0], values[0:3])
    np.testing.assert_array_equal(part.targets[0], [values[3, 0], values[4, 0]])
    corpus = collect(tmp_path, good(), horizon=4)
    for name, part in corpus.parts.items():
        last = {"train": 143, "validation": 159, "test": 199}[name]
        assert part.rows.max() + 3 == last, "no predicted row lies in the next part"


def test_gaps_and_repetitions_of_time(tmp_path: Path) -> None:
    rows = good()
    for row in rows[50:]:
        row[0] = (date.fromisoformat(row[0]) + timedelta(days=30)).isoformat()
    rows[20][0] = rows[19][0]
    corpus = collect(tmp_path, rows)
    assert kinds(corpus) == {"same-time": (22,), "time-gap": (52,)} and len(corpus.series) == 199
    gap = next(f for f in corpus.reports[0].findings if f.kind == "time-gap")
    assert gap.examples == ("2023-02-19 to 2023-03-22",) and "lags count rows" in gap.message
    twice = [row for row in good() for _ in range(2)]
    assert "is that more than one series?" in collect(tmp_path, twice).reports[0].errors[0].message


def test_weekends_are_no_gap(tmp_path: Path) -> None:
    rows = [row for row in good(300) if row[3] not in ("Sat", "Sun")]
    assert kinds(collect(tmp_path, rows)) == {}


def test_rows_are_sorted_by_time(tmp_path: Path) -> None:
    rows = good()
    shuffled = [rows[i] for i in np.random.default_rng(0).permutation(200)]
    corpus, sorted_ = collect(tmp_path, shuffled), collect(tmp_path, rows)
    np.testing.assert_array_equal(corpus.series.values, sorted_.series.values)
    assert corpus.series.categories == sorted_.series.categories and list(kinds(corpus)) == ["out-of-order"]


def test_gaps_in_values_are_filled_by_the_last(tmp_path: Path) -> None:
    rows = good()
    rows[0][2], rows[60][1], rows[61][1] = "", "NA", ""
    corpus = collect(tmp_path, rows)
    assert len(corpus.series) == 199 and corpus.series.times[0] == "2023-01-02"
    assert corpus.series.values[58:61, 0].tolist() == [float(rows[59][1])] * 3
    assert set(kinds(corpus)) == {"gap", "before-first"}


def test_what_was_filled_in_is_never_the_truth(tmp_path: Path) -> None:
    """In no part a window predicts a gap; it is still read. Scales are learned before the same row as without gaps."""
    rows, gaps = good(), {"train": 60, "validation": 145, "test": 180}
    for gap in gaps.values():
        rows[gap][1] = ""
    corpus, whole = collect(tmp_path, rows, horizon=3), collect(tmp_path, good(), horizon=3)
    for name, gap in gaps.items():
        expected = [row for row in whole.parts[name].rows.tolist() if not row <= gap < row + 3]
        assert corpus.parts[name].rows.tolist() == expected != whole.parts[name].rows.tolist(), name
    assert corpus.first == whole.first == 144 == whole.parts["validation"].rows[0]
    (gap,) = corpus.reports[0].findings
    assert gap.message == "3 gaps in `y`: filled by the last value before, and never taken for the truth"
    rows[60][1] = rows[59][1]
    assert collect(tmp_path, rows, horizon=3).series.fingerprint != corpus.series.fingerprint


def past(path: Path, lines: list[str]) -> tuple[Series, int, tuple[str, ...]]:
    (path / "past.csv").write_text("\n".join(["day,y,other,weekday", *lines]) + "\n", encoding="utf-8")
    return read_past(str(path / "past.csv"), ("y", "other"), ("weekday",), "day")


def test_a_table_may_begin_with_its_newest_row(tmp_path: Path) -> None:
    """What is still to come is later than the last value, wherever it stands; a gap before that is filled."""
    rows = good(30)
    rows[12][1] = rows[28][1] = rows[29][1] = rows[29][2] = ""
    lines = [",".join(row) for row in rows]
    (first, future, told), (turned, same, also) = past(tmp_path, lines), past(tmp_path, lines[::-1])
    assert future == same == 2 and len(first.values) == len(turned.values) == 28
    np.testing.assert_array_equal(first.values, turned.values)
    assert first.times == turned.times == tuple(row[0] for row in rows) and first.categories == turned.categories
    assert np.flatnonzero(~turned.given).tolist() == [12]
    assert told == also == ("1 gap in `y`: filled by the last value before, and never taken for the truth",)


def test_rows_that_a_forecast_cannot_use_are_told(tmp_path: Path) -> None:
    lines = [",".join(row) for row in good(30)]
    series, future, told = past(tmp_path, [*lines, "2023-02-01,1", "2023-01-30,1,2,Mon", ",3,4,Tue", ",,,Wed"])
    assert len(series.values) == 30 and series.times[-1] == "" and future == 1, "the last row is still to come"
    assert told == (
        "left out: 1 line that cannot be read",
        "left out: 1 row without a time in `day`",
        "left out: 1 row whose `day` was seen before",
    )


def test_a_new_level_and_constant_channels(tmp_path: Path) -> None:
    rows = good()
    for row in rows[160:]:
        row[1] = str(float(row[1]) + 10)
    for row in rows:
        row[2] = "7"
    assert set(kinds(collect(tmp_path, rows))) == {"level", "constant"}


def test_a_column_that_splits(tmp_path: Path) -> None:
    rows = [[*row, str(i < 120).upper()] for i, row in enumerate(good())]
    corpus = collect(tmp_path, rows, split="train")
    assert len(corpus.parts["test"]) == 80 and "train" not in corpus.series.names
    rows[150][4] = "TRUE"
    with pytest.raises(DataError, match="has training rows after test rows"):
        collect(tmp_path, rows, split="train")
    rows[150][4] = "maybe"
    with pytest.raises(DataError, match="is `maybe` in a row"):
        collect(tmp_path, rows, split="train")


def test_what_cannot_be_a_series(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="the target `weekday`.*holds words, not numbers"):
        collect(tmp_path, good(), target="weekday")
    with pytest.raises(DataError, match="the feature `weekday`.*holds words") as raised:
        collect(tmp_path, good(), features=("weekday",))
    assert "`--categories`" in raised.value.hint
    with pytest.raises(DataError, match="`weekday`.*holds no times, such as `Sun`"):
        collect(tmp_path, good(), time="weekday")
    with pytest.raises(DataError, match="has 30 rows; 3 lags and 1 steps ahead need at least 104"):
        collect(tmp_path, good(30))
    with pytest.raises(DataError, match="which column of .* should be predicted") as raised:
        collect(tmp_path, good(), target=None)
    assert "`y`" in raised.value.hint
    with pytest.raises(DataError, match="has no column `oter`") as raised:
        collect(tmp_path, good(), features=("oter",))
    assert "did you mean `other`?" in raised.value.hint


def test_autocorrelation_of_a_process(tmp_path: Path) -> None:
    """Of AR(1) it is a^k."""
    found = autocorrelation(autoregressive([0.7], 1.0, 50_000, seed=4), 5)
    np.testing.assert_allclose(found, 0.7 ** np.arange(1, 6), atol=0.03)
