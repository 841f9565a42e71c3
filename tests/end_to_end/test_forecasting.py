"""Forecasts from the command line: train, predict, evaluate, resume, and what goes wrong."""

import csv
import json
import re
import shutil
from datetime import date, timedelta
from pathlib import Path

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.metrics import r2_score
from sklearn.model_selection import TimeSeriesSplit

import headway as package
from headway.cli import main
from headway.core.errors import DataError, RunError
from headway.core.files import read_json
from headway.core.folds import Split, reading_fold
from headway.data.processes import autoregressive, best_r2
from headway.evaluate.regression import mae
from headway.report.summary import summarise
from headway.tasks.estimates import Estimates, Scale
from headway.tasks.forecasting import Data, Forecasting
from headway.training.loop import Loop
from headway.training.search import read_trials
from headway.training.session import resume

SMALL = "--model.width 8 --model.heads 1 --model.dropout 0.1 --training.batch 64".split()
A = (0.6, 0.25)


def rows_of(count: int = 800, seed: int = 1) -> list[list[str]]:
    """A daily series with a known law, which is higher on Mondays, and a channel that says nothing."""
    y, other = autoregressive(A, 1.0, count, seed), autoregressive([0.2], 1.0, count, seed + 1)
    days = [date(2020, 1, 6) + timedelta(days=i) for i in range(count)]
    return [
        [d.isoformat(), f"{v + 3 * (d.weekday() == 0):.5f}", f"{w:.5f}", d.strftime("%a")]
        for d, v, w in zip(days, y, other, strict=True)
    ]


def write_csv(path: Path, rows: list[list[str]], names: tuple[str, ...] = ("day", "y", "other", "weekday")) -> Path:
    with open(path, "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([list(names), *rows])
    return path


def words(out: Path, *more: str, steps: int = 24, model: str = "lstm") -> list[str]:
    sizes = SMALL if model == "lstm" else ["--training.batch", "64"]
    return [
        "train",
        "forecasting",
        "--model",
        model,
        *more,
        *sizes,
        "--steps",
        str(steps),
        "--quiet",
        "--out",
        str(out),
    ]


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run whose table has moved away."""
    root = tmp_path_factory.mktemp("runs")
    path = write_csv(root / "series.csv", rows_of())
    data = ("--table", str(path), "--target", "y", "--categories", "weekday", "--lags", "3")
    assert main(words(root / "run", *data, steps=300)) == 0
    path.unlink()
    return root / "run"


def test_the_run_is_judged_beside_simpler_forecasts(trained: Path) -> None:
    scores = {s.name: s for s in package.load(trained).scores}
    assert scores["R2"].part == "test" and scores["R2"].value > scores["R2 of the last value"].value
    least = scores["R2 of AR(3) with weekday by least squares"].value
    assert scores["R2"].value == pytest.approx(least, abs=0.1) and scores["R2"].low < scores["R2"].value
    report = (trained / "report.html").read_text(encoding="utf-8")
    assert all(name in report for name in ("Forecast", "90% interval", "Autocorrelation of the errors", "Residuals"))


def test_least_squares_is_that_of_scikit_learn_on_the_same_split(trained: Path) -> None:
    """The closed form learns from all rows before the test part: the figure of the report, from scratch."""
    rows = rows_of()
    values = np.array([[float(r[1]), float(r[2])] for r in rows])
    days = np.array([[r[3] == d for d in sorted({r[3] for r in rows})] for r in rows], dtype=float)
    x = np.array([[*values[i - 3 : i].ravel(), *days[i]] for i in range(3, 800)])
    y, first = values[3:, 0], 640 - 3
    fitted = LinearRegression().fit(x[:first], y[:first])
    expected = r2_score(y[first:], fitted.predict(x[first:]))
    scores = {s.name: s.value for s in package.load(trained).scores}
    assert scores["R2 of AR(3) with weekday by least squares"] == pytest.approx(expected, abs=1e-6)


def test_autoregression_reaches_the_optimum(tmp_path: Path) -> None:
    """Trained by gradient on a pure process, near the largest R2 that is possible."""
    y = autoregressive(A, 1.0, 4000, seed=7)
    path = write_csv(tmp_path / "ar.csv", [[str(i), f"{v:.5f}"] for i, v in enumerate(y)], ("t", "y"))
    data = ("--table", str(path), "--target", "y", "--lags", "2")
    assert main(words(tmp_path / "run", *data, model="autoregression", steps=400)) == 0
    scores = {s.name: s.value for s in package.load(tmp_path / "run").scores}
    assert scores["R2"] == pytest.approx(scores["R2 of AR(2) by least squares"], abs=0.01)
    assert scores["R2"] == pytest.approx(best_r2(A), abs=0.08)
    assert read_json(tmp_path / "run" / "series.json")["time"] == "t"


def test_predict_each_row_and_the_next(trained: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = rows_of(60, seed=11)
    future = [(date.fromisoformat(rows[-1][0]) + timedelta(days=1)).isoformat(), "", "", "Thu"]
    path = write_csv(tmp_path / "tail.csv", [*rows, future])
    assert main(["predict", str(trained), "--table", str(path), "--json", "--out", str(tmp_path / "f.html")]) == 0
    found = json.loads(capsys.readouterr().out)
    assert len(found) == 58 and list(found[0]) == ["time", "y", "forecast", "90% from", "90% to"]
    assert found[0]["time"] == rows[3][0] and found[-1]["time"] == future[0] and found[-1]["y"] == ""
    inside = [float(r["90% from"]) <= float(r["y"]) <= float(r["90% to"]) for r in found[:-1]]
    assert np.mean(inside) > 0.75
    assert "90% interval" in (tmp_path / "f.html").read_text(encoding="utf-8")
    assert main(["predict", str(trained), "--table", str(write_csv(path, rows))]) == 0
    text = capsys.readouterr().out
    assert "next" in text or "more rows" in text
    assert "`weekday` of the next row is not known: add a row for it in which `y` is empty" in text


def test_the_next_row_follows_from_the_past_alone(trained: Path, tmp_path: Path) -> None:
    """The forecast of a row does not change when the row itself, or what comes after, does."""
    rows, run = rows_of(30, seed=12), package.load(trained)
    before = run.predict(table=str(write_csv(tmp_path / "a.csv", rows))).rows
    rows[20][1], rows[20][2] = "50", "50"
    after = run.predict(table=str(write_csv(tmp_path / "b.csv", rows))).rows
    assert [r[2] for r in after[:18]] == [r[2] for r in before[:18]] and after[18][2] != before[18][2]


def test_evaluate_is_that_of_the_predictions(trained: Path, tmp_path: Path) -> None:
    rows, run = rows_of(100, seed=13), package.load(trained)
    path = str(write_csv(tmp_path / "later.csv", rows))
    judgement = run.evaluate(table=path)
    predicted = [float(row[2]) for row in run.predict(table=path).rows[:-1]]
    assert judgement.sizes == {"given": 97}
    assert judgement.scores[0].value == pytest.approx(r2_score([float(r[1]) for r in rows[3:]], predicted), abs=1e-4)


def test_what_cannot_be_read_or_was_filled_is_told(
    trained: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = rows_of(60, seed=14)
    rows[30][1] = ""
    path = write_csv(tmp_path / "holes.csv", [*rows, ["2020-03-06", "1"]])
    for verb in ("predict", "evaluate"):
        assert main([verb, str(trained), "--table", str(path)]) == 0
        out = capsys.readouterr().out
        assert "left out: 1 line that cannot be read" in out and "1 gap in `y`: filled by the last value" in out, verb
    run = package.load(trained)
    assert run.evaluate(table=str(path)).sizes == {"given": 56}, "what was filled is not judged by"
    found = run.predict(table=str(path))
    assert found.rows[27][0] == rows[30][0] and [row[1] for row in found.rows].index("") == 27
    assert len(found.panels[0].marks[1].x) == 56, "nor is it drawn as true"


def test_intervals_of_several_steps_are_those_of_whole_windows() -> None:
    """Three outputs with the same errors tell no more than one of them."""
    errors = np.repeat(np.random.default_rng(3).normal(size=60), 10)[:, None]
    one, three = (
        Estimates(np.zeros((600, h)), errors.repeat(h, 1), Scale(0.0, 1.0), block=10).figure(mae) for h in (1, 3)
    )
    assert three.value == pytest.approx(one.value)
    assert three.high - three.low == pytest.approx(one.high - one.low, rel=0.1)


def test_blocks_are_at_least_as_long_as_the_horizon(tmp_path: Path) -> None:
    """Windows that predict the same rows have errors that are alike."""
    path = write_csv(tmp_path / "series.csv", rows_of(300))
    data = ("--table", str(path), "--target", "y", "--lags", "2", "--horizon", "8")
    assert main(words(tmp_path / "run", *data, model="linear", steps=1)) == 0
    assert "bootstrap in blocks of 8" in package.load(tmp_path / "run").judge().scores[0].signature


@pytest.mark.parametrize("model", ["gru", "elman", "mamba", "multihead", "mlp"])
def test_any_causal_mixer_and_several_steps_ahead(tmp_path: Path, model: str) -> None:
    path = write_csv(tmp_path / "series.csv", rows_of(300))
    data = ("--table", str(path), "--target", "y", "--horizon", "3", "--categories", "weekday")
    assert main(words(tmp_path / "run", *data, model=model, steps=3)) == 0
    run = package.load(tmp_path / "run")
    assert {"R2 of step 1", "R2 of step 3"} <= {s.name for s in run.scores}
    found = run.predict(table=str(path))
    assert found.columns[2:5] == ("forecast +1", "90% from +1", "90% to +1") and len(found.columns) == 11
    assert len(found.rows) == 296


def test_an_interrupted_run_ends_with_the_same_bits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_csv(tmp_path / "series.csv", rows_of(300))
    data = ("--table", str(path), "--target", "y", "--categories", "weekday")
    assert main(words(tmp_path / "whole", *data)) == 0
    advance = Loop._advance

    def interrupted(self: Loop[object], progress: object) -> None:
        advance(self, progress)  # type: ignore[arg-type]
        self.interrupted = self.state.step == 13

    monkeypatch.setattr(Loop, "_advance", interrupted)
    assert main(words(tmp_path / "parts", *data)) == 130
    monkeypatch.setattr(Loop, "_advance", advance)
    assert resume(tmp_path / "parts")
    for name in ("weights.safetensors", "checkpoint.safetensors"):
        assert (tmp_path / "parts" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


def test_wrong_series_are_explained(trained: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write_csv(tmp_path / "series.csv", rows_of(300))
    cases = {
        "which series?": [],
        "which column of": ["--table", str(path)],
        "did you mean `other`?": ["--table", str(path), "--target", "othr"],
        "`--lags` must be at least 1": ["--table", str(path), "--target", "y", "--lags", "0"],
        "holds words, not numbers": ["--table", str(path), "--target", "weekday"],
        "need at least 504": ["--table", str(path), "--target", "y", "--lags", "403"],
    }
    for expected, more in cases.items():
        assert main(words(tmp_path / "x", *more, steps=1)) == 2
        message = capsys.readouterr().err
        assert expected in message and "Traceback" not in message and not (tmp_path / "x").exists()
    short = write_csv(tmp_path / "short.csv", rows_of(2))
    assert main(["predict", str(trained), "--table", str(short)]) == 2
    assert "has 2 rows; a forecast is read from 3" in capsys.readouterr().err
    assert main(["evaluate", str(trained), "--table", str(write_csv(short, rows_of(3)))]) == 2
    assert "bring more of the past" in capsys.readouterr().err


def test_folds_are_later_blocks_that_share_no_row_with_training(tmp_path: Path) -> None:
    table, lags, horizon = write_csv(tmp_path / "series.csv", rows_of(500)), 6, 2
    data = Data(str(table), "y", lags=lags, horizon=horizon)
    usual = Forecasting.collect(data, 1).parts
    for fold, (learned, held_out) in enumerate(TimeSeriesSplit(3, gap=lags).split(np.zeros(400)), 1):
        with reading_fold(Split(1, fold, 3), "forecasting"):
            parts = Forecasting.collect(data, 1).parts
        rows = {n: {r + i for r in part.rows.tolist() for i in range(-lags, horizon)} for n, part in parts.items()}
        assert not rows["train"] & rows["validation"] and max(rows["train"]) < min(rows["validation"])
        assert rows["train"] == set(learned.tolist()), "those of scikit-learn"
        predicted = {r + i for r in parts["validation"].rows.tolist() for i in range(horizon)}
        assert predicted == set(held_out.tolist())
        assert np.array_equal(parts["test"].rows, usual["test"].rows)
    with pytest.raises(DataError, match="for train, at least 10"), reading_fold(Split(1, 1, 40), "forecasting"):
        Forecasting.collect(data, 1)


def test_members_of_an_ensemble_validate_by_earlier_blocks_and_learn_from_what_is_later(tmp_path: Path) -> None:
    table, lags, horizon = write_csv(tmp_path / "series.csv", rows_of(500)), 6, 2
    data = Data(str(table), "y", lags=lags, horizon=horizon)
    usual = Forecasting.collect(data, 1).parts
    for turn, first in enumerate([360, 320, 280, 240, 200, 160, 120, 80, 40, 360]):  # then it begins again
        with reading_fold(Split(1, turn=turn), "forecasting"):
            parts = Forecasting.collect(data, 1).parts
        assert parts["validation"].rows.tolist() == [*range(first, first + 39)]
        later = [*range(first + 40 + lags, 399)]
        assert parts["train"].rows.tolist() == [*range(lags, first - 1), *later]
        seen = {row - lag for row in later for lag in range(1, lags + 1)}
        assert not seen & {*range(first, first + 40)}, "no later window reads what is validated"
        assert np.array_equal(parts["test"].rows, usual["test"].rows)


def test_members_share_scales_and_the_intervals_of_the_first(tmp_path: Path) -> None:
    table, out = write_csv(tmp_path / "series.csv", rows_of(500)), tmp_path / "run"
    assert main(words(out, "--table", str(table), "--target", "y", "--ensemble", "2", model="linear")) == 0
    run = package.load(out)
    states = [(folder / "series.json").read_bytes() for folder in (out, *(member.folder for member in run.members))]
    assert len(set(states)) == 1

    def radius(one: package.Run) -> float:
        row = one.predict(table=str(table)).rows[0]
        return float(row[-1]) - float(row[-3])

    (first, second), whole = map(radius, run.members), radius(run)
    assert whole == pytest.approx(first, rel=1e-4) and abs(first - second) > 1e-3


def test_a_search_with_folds(tmp_path: Path) -> None:
    table, out = write_csv(tmp_path / "series.csv", rows_of(400)), tmp_path / "tuned"
    asked = f"tune forecasting --table {table} --target y --model linear --steps 3 --folds 2 --trials 1 --quiet --out {out}"
    assert main([*asked.split(), "--search", "training.rate=1e-3..1e-2"]) == 0
    assert len(read_trials(out)[0].folds) == 2


def test_a_gap_in_time_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = rows_of(300)
    path = write_csv(tmp_path / "gap.csv", rows[:100] + rows[130:])
    command = [w for w in words(tmp_path / "run", "--table", str(path), "--target", "y", steps=1) if w != "--quiet"]
    assert main(command) == 0
    text = capsys.readouterr().out
    assert "1 gap in time of more than 5 usual steps" in text and "(line 102)" in text
    assert main(["data", "check", "--task", "forecasting", "--table", str(path), "--target", "y"]) == 0
    assert "1 gap in time" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("series.json", b'{"channels": [], "scales": [], "words": [], "time": null}', "every channel needs one scale"),
        ("least_squares.safetensors", b"xx", "is damaged"),
        ("held_out/test.safetensors", b"xx", "is damaged"),
    ],
)
def test_damage_is_reported(trained: Path, tmp_path: Path, name: str, content: bytes, expected: str) -> None:
    copy = Path(shutil.copytree(trained, tmp_path / "copy"))
    (copy / name).write_bytes(content)
    with pytest.raises(RunError, match=re.escape(expected)) as raised:
        summarise(package.load(copy))
    assert name in raised.value.message
