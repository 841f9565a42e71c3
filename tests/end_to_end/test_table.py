"""Tables from the command line: train, predict, evaluate, resume, and what goes wrong."""

import csv
import json
import re
import shutil
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_wine
from sklearn.metrics import r2_score

import headway as package
from headway.cli import main
from headway.core.errors import RunError
from headway.core.files import read_json
from headway.report.summary import summarise
from headway.tasks.table import Data, Table
from headway.training.loop import Loop
from headway.training.session import resume

SMALL = "--model.width 16 --training.batch 16".split()


def write_csv(path: Path, columns: dict[str, list[str]]) -> Path:
    with open(path, "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([list(columns), *zip(*columns.values(), strict=True)])
    return path


def houses(count: int = 500, seed: int = 0) -> dict[str, list[str]]:
    """Prices that follow from rooms, area and town, with a step that no line has; some areas are missing."""
    random = np.random.default_rng(seed)
    rooms, area = random.integers(1, 7, count), random.gamma(4, 20, count).round(1)
    town = random.choice(["bonn", "kiel", "ulm"], count)
    price = 50 * rooms + 2 * area + 100 * (town == "bonn") + 150 * (area > 90) + random.normal(0, 10, count)
    gaps = random.random(count) < 0.03
    cells = {"rooms": rooms, "area": np.where(gaps, "", area.astype(str)), "town": town, "price": price.round(2)}
    return {name: [str(v) for v in values] for name, values in cells.items()}


def words(out: Path, *more: str, steps: int = 24) -> list[str]:
    return ["train", "table", *more, *SMALL, "--steps", str(steps), "--quiet", "--out", str(out)]


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run whose table has moved away."""
    root = tmp_path_factory.mktemp("runs")
    path = write_csv(root / "houses.csv", houses())
    assert main(words(root / "houses", "--table", str(path), "--target", "price", steps=300)) == 0
    path.unlink()
    return root / "houses"


def test_the_run_is_judged_and_keeps_what_it_needs(trained: Path) -> None:
    scores = {s.name: s for s in package.load(trained).scores}
    assert scores["R2"].value > 0.85 and scores["R2"].part == "test" and scores["R2 of least squares"].value > 0.8
    assert {p.name for p in (trained / "held_out").iterdir()} == {"validation.jsonl", "test.jsonl"}
    features = read_json(trained / "features.json")
    assert [c["name"] for c in features["numbers"]] == ["rooms", "area"] and features["numbers"][1]["gaps"]
    report = (trained / "report.html").read_text(encoding="utf-8")
    assert all(
        words in report
        for words in ("Predicted and true", "Residuals", "Importance of the features", "intervals of 90%")
    )


def test_predict_beside_the_table(trained: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The target may be missing; predictions are near the truth and within their intervals nearly always."""
    columns = houses(200, seed=9)
    price = np.array([float(v) for v in columns.pop("price")])
    path = write_csv(tmp_path / "new.csv", {"id": [f"h{i}" for i in range(200)], **columns})
    assert main(["predict", str(trained), "--table", str(path), "--output", str(tmp_path / "out.csv")]) == 0
    assert "written:" in capsys.readouterr().out
    rows = list(csv.DictReader((tmp_path / "out.csv").read_text(encoding="utf-8").splitlines()))
    assert list(rows[0]) == ["id", "rooms", "area", "town", "predicted price", "90% from", "90% to"]
    found, low, high = (np.array([float(r[n]) for r in rows]) for n in ("predicted price", "90% from", "90% to"))
    assert r2_score(price, found) > 0.85 and 0.8 < ((low <= price) & (price <= high)).mean() <= 1
    assert main(["predict", str(trained), "--table", str(path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == rows
    assert main(["predict", str(trained), "--table", str(path)]) == 0
    text = capsys.readouterr().out
    assert "... and 180 more rows" in text and len({len(line) for line in text.splitlines()[1:20]}) == 1, "aligned"


def test_predict_tells_what_training_has_not_seen(
    trained: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write_csv(tmp_path / "odd.csv", {"rooms": ["3", ""], "area": ["9000", "80"], "town": ["paris", "ulm"]})
    assert main(["predict", str(trained), "--table", str(path)]) == 0
    text = capsys.readouterr().out
    assert (
        "`rooms` has 1 gap, which training had not" in text
        and "`town` has words that training had not: `paris`" in text
    )
    assert "`area` has 1 value beyond those of training" in text
    assert main(["predict", str(trained), "--table", str(path), "--out", str(tmp_path / "p.html")]) == 2
    assert "no pictures" in capsys.readouterr().err
    assert main(["predict", str(trained), "--table", str(path), "--output", str(path)]) == 2
    assert "is the input itself" in capsys.readouterr().err
    write_csv(path, {"room": ["3"], "area": ["9000"], "town": ["ulm"]})
    assert main(["predict", str(trained), "--table", str(path)]) == 2
    message = capsys.readouterr().err
    assert "has no column `rooms`" in message and "did you mean `room`?" in message


def test_evaluate_is_that_of_the_predictions(trained: Path, tmp_path: Path) -> None:
    columns = houses(150, seed=5)
    path = write_csv(tmp_path / "test.csv", columns)
    run = package.load(trained)
    found = {s.name: s.value for s in run.evaluate(table=str(path)).scores}
    predicted = [float(row[4]) for row in run.predict(table=str(path)).rows]
    assert found["R2"] == pytest.approx(r2_score([float(v) for v in columns["price"]], predicted), abs=1e-4)


def test_evaluate_tells_what_was_left_out(trained: Path, tmp_path: Path) -> None:
    columns = houses(15, seed=5)
    columns["price"][3], columns["price"][4], columns["rooms"][7] = "", "much", "three"
    path = write_csv(tmp_path / "test.csv", columns)
    path.write_text(path.read_text(encoding="utf-8") + "3,80\n", encoding="utf-8")
    notes = package.load(trained).evaluate(table=str(path)).notes
    assert {f"left out: {words}" for words in ("1 line that cannot be read", "1 row with nothing in column `price`")} < set(notes)
    assert "left out: 1 row whose `price` is no number" in notes
    assert "`rooms` has 1 cell that is no number (`three`): taken for a gap" in notes


def test_classes_are_predicted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wine = load_wine()
    columns = {n: [str(v) for v in c] for n, c in zip(wine.feature_names, wine.data.T, strict=True)}
    path = write_csv(tmp_path / "wine.csv", columns | {"kind": [wine.target_names[t] for t in wine.target]})
    command = [
        "train",
        "table",
        "--table",
        str(path),
        "--target",
        "kind",
        *SMALL,
        "--steps",
        "400",
        "--out",
        str(tmp_path / "run"),
    ]
    assert main(command) == 0
    text = capsys.readouterr().out
    assert "`kind` has 3 different values: classification" in text and "too little data" not in text
    assert package.load(tmp_path / "run").scores[0].value > 0.8
    assert main(["predict", str(tmp_path / "run"), "--table", str(path)]) == 0
    assert "predicted kind" in (out := capsys.readouterr().out) and "probability" in out
    report = (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    assert "Confusion matrix" in report and "Importance of the features" in report


def test_linear_reaches_least_squares(tmp_path: Path) -> None:
    """Trained by gradient, the linear model predicts as the closed form does."""
    data = load_diabetes()
    columns = {n: [str(v) for v in c] for n, c in zip(data.feature_names, data.data.T, strict=True)}
    path = write_csv(tmp_path / "d.csv", columns | {"progress": [str(v) for v in data.target]})
    command = [
        "train",
        "table",
        "--table",
        str(path),
        "--target",
        "progress",
        "--model",
        "linear regression",
        "--steps",
        "600",
    ]
    assert main([*command, "--quiet", "--out", str(tmp_path / "run")]) == 0
    scores = {s.name: s.value for s in package.load(tmp_path / "run").scores}
    assert scores["R2"] == pytest.approx(scores["R2 of least squares"], abs=0.04)


def test_parts_that_a_person_brings(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """They are the parts, and copies of their rows are not learned from."""
    columns, test = houses(300), houses(40, seed=3)
    for name, cells in columns.items():
        cells[:] = cells + test[name]
    train, held = write_csv(tmp_path / "a.csv", columns), write_csv(tmp_path / "b.csv", test)
    command = [
        "train",
        "table",
        "--table",
        str(train),
        "--target",
        "price",
        "--test-table",
        str(held),
        *SMALL,
        "--steps",
        "1",
    ]
    assert main([*command, "--out", str(tmp_path / "run")]) == 0
    text = capsys.readouterr().out
    assert "whose features are also in the held-out tables" in text and "40 for test" in text
    assert not {tuple(row) for row in zip(*test.values(), strict=True)} & {
        tuple(row) for row in kept_rows(tmp_path / "run")
    }


def coins(count: int, seed: int) -> dict[str, list[str]]:
    """Three columns of three words each: of 2,000 rows every one comes again."""
    random = np.random.default_rng(seed)
    columns = {name: [str(word) for word in random.choice(["red", "blue", "grey"], count)] for name in "abc"}
    agree = [a == b for a, b in zip(columns["a"], columns["b"], strict=True)]
    return columns | {"y": ["yes" if same or chance > 0.9 else "no" for same, chance in zip(agree, random.random(count), strict=True)]}


def test_rows_that_come_again_by_chance_are_no_copies(tmp_path: Path) -> None:
    path, test = write_csv(tmp_path / "a.csv", coins(2000, 1)), write_csv(tmp_path / "b.csv", coins(100, 2))
    corpus = Table.collect(Data(table=str(path), target="y"), 1)
    assert [len(corpus.train), *map(len, corpus.held_out.values())] == [1600, 200, 200]
    assert "most rows come again: equal ones are not taken for copies" in corpus.describe()
    given = Table.collect(Data(table=str(path), target="y", validation_table=str(test)), 1)
    assert len(given.train) == 2000, "all of them are also held out"
    different = write_csv(tmp_path / "c.csv", houses(500))
    assert "most rows come again" not in Table.collect(Data(table=str(different), target="price"), 1).describe()


def kept_rows(run: Path) -> list[list[str]]:
    lines = (run / "held_out" / "validation.jsonl").read_text(encoding="utf-8").splitlines()
    return [list(json.loads(line).values()) for line in lines]


def test_an_interrupted_run_ends_with_the_same_bits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_csv(tmp_path / "houses.csv", houses(200))
    data = ("--table", str(path), "--target", "price")
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


def test_a_run_begins_with_another(trained: Path, tmp_path: Path) -> None:
    """Scales and weights are taken over."""
    path = write_csv(tmp_path / "more.csv", houses(200, seed=4))
    more = ("--table", str(path), "--target", "price", "--from", str(trained), "--training.rate", "1e-9")
    assert main(["train", "table", *more, "--steps", "1", "--quiet", "--out", str(tmp_path / "on")]) == 0
    assert read_json(tmp_path / "on" / "features.json") == read_json(trained / "features.json")
    assert read_json(tmp_path / "on" / "target.json") == read_json(trained / "target.json")


def test_wrong_tables_are_explained(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write_csv(tmp_path / "houses.csv", houses(200))
    cases = {
        "which table?": [],
        "which column of": ["--table", str(path)],
        "did you mean `price`?": ["--table", str(path), "--target", "prize"],
        "did you mean `rooms`?": ["--table", str(path), "--target", "price", "--features", "roms,area"],
        "cannot be both": ["--table", str(path), "--target", "price", "--features", "price,area"],
        "`--kind` should be": ["--table", str(path), "--target", "price", "--kind", "regresion"],
    }
    for expected, more in cases.items():
        assert main(words(tmp_path / "x", *more, steps=1)) == 2
        message = capsys.readouterr().err
        assert expected in message and "Traceback" not in message and not (tmp_path / "x").exists()
    columns = houses(200)
    write_csv(path, columns | {"copy": columns["price"]})
    assert main(words(tmp_path / "x", "--table", str(path), "--target", "price", steps=1)) == 2
    assert "`copy` and the target `price` are the same in every row" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("features.json", b'{"numbers": []}', "`words` is missing"),
        ("target.json", b'{"mean": "x", "deviation": 1}', "`mean` should be a number"),
        ("least_squares.safetensors", b"xx", "is damaged"),
        ("held_out/test.jsonl", b'{"rooms": "3"}\n', "is damaged"),
    ],
)
def test_damage_is_reported(trained: Path, tmp_path: Path, name: str, content: bytes, expected: str) -> None:
    copy = Path(shutil.copytree(trained, tmp_path / "copy"))
    (copy / name).write_bytes(content)
    with pytest.raises(RunError, match=re.escape(expected)) as raised:
        summarise(package.load(copy))
    assert name in raised.value.message
