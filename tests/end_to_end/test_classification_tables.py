"""Tables for text classification: parts, pipes, splits, what is recognised, and what goes wrong."""

import io
import json
from pathlib import Path

import pytest

from headway.cli import main
from headway.core.files import read_json
from headway.tasks.labels import split_by_class
from tests.end_to_end.film_reviews import SMALL, reviews, write_table


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_table(tmp_path_factory.mktemp("reviews") / "reviews.tsv", reviews(500))


def test_parts_that_a_person_brings(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = reviews(120)
    names = ("text", "label")
    write_table(tmp_path / "train.tsv", rows[:100], names), write_table(tmp_path / "val.tsv", rows[80:], names)
    command = [
        "train",
        "classification",
        "--table",
        str(tmp_path / "train.tsv"),
        "--validation-table",
        str(tmp_path / "val.tsv"),
    ]
    assert main([*command, *SMALL, "--steps", "1", "--out", str(tmp_path / "run")]) == 0
    text = capsys.readouterr().out
    assert (
        "20 rows whose text is also in the held-out tables" in text
        and "learning from 80 texts; held out: 40 for validation" in text
    )
    assert "validation part (40 texts, which the weights were chosen by)" in text


def test_a_table_from_a_pipe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its format is found from its first line, and the run keeps it, so that it can be resumed."""
    rows = [("text", "label"), *reviews(60)]
    formats = {
        "tsv": "\n".join("\t".join(row) for row in rows),
        "csv": "\n".join(",".join(f'"{cell}"' for cell in row) for row in rows),
        "jsonl": "\n".join(json.dumps({"text": text, "label": label}) for text, label in rows[1:]),
    }
    for name, text in formats.items():
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode()), encoding="utf-8"))
        command = ["train", "classification", "--table", "-", *SMALL, "--steps", "1", "--quiet"]
        assert main([*command, "--out", str(tmp_path / name)]) == 0
        assert (tmp_path / name / "standard_input").read_text() == text
    marks = [read_json(tmp_path / name / "plan.json")["fingerprint"] for name in formats]
    assert marks[0] == marks[1] == marks[2]


def test_recognised_by_data_check(table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["data", "check", str(table)]) == 0
    assert "as data for classification" in (text := capsys.readouterr().out) and "2 classes" in text
    pairs = [(f"a dog and {n} cats", f"ein Hund und {n} Katzen") for n in range(40)]
    write_table(tmp_path / "pairs.tsv", pairs, ("en", "de"))
    main(["data", "check", str(tmp_path / "pairs.tsv")])
    assert "as data for translation" in capsys.readouterr().out


def test_a_stratified_split_has_some_of_each_class_and_no_copies() -> None:
    labels = ["a"] * 500 + ["b"] * 100 + ["c"] * 3 + ["d"]
    keys = [*range(500), *range(500, 550), *range(500, 550), 600, 601, 602, 603]  # every `b` comes twice
    rest, parts = split_by_class([*labels, *["e"] * 40], [*keys, *range(700, 740)], ["validation", "test"], 1, "x")
    counts = {
        name: {c: sum(([*labels, *["e"] * 40])[i] == c for i in rows) for c in "abcde"} for name, rows in parts.items()
    }
    assert counts["validation"] == counts["test"] == {"a": 50, "b": 0, "c": 1, "d": 0, "e": 4}
    assert sorted([*rest, *parts["validation"], *parts["test"]]) == list(range(644)), "every row is in one part"
    assert split_by_class(labels, keys, ["validation"], 1, "x") != split_by_class(labels, keys, ["validation"], 2, "x")


def test_a_wrong_table_is_explained(table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def message(path: Path, *more: str) -> str:
        assert (
            main(
                [
                    "train",
                    "classification",
                    "--table",
                    str(path),
                    *more,
                    "--steps",
                    "1",
                    "--quiet",
                    "--out",
                    str(tmp_path / "x"),
                ]
            )
            == 2
        )
        assert not (tmp_path / "x").exists()
        return capsys.readouterr().err

    assert (
        "has no column `reveiw`" in (text := message(table, "--text", "reveiw", "--label", "stars"))
        and "did you mean `review`" in text
    )
    assert "missing: `--text` and `--label`" in (text := message(table)) and "its columns are `review`, `stars`" in text
    one = write_table(tmp_path / "one.tsv", [(text, "good") for text, _ in reviews(30)])
    assert "every row has the label `good`: nothing to learn" in message(one, "--text", "review", "--label", "stars")
    few = write_table(tmp_path / "few.tsv", [("a dull film", "bad"), ("a warm film", "good")])
    assert "too few different examples" in message(few, "--text", "review", "--label", "stars")
    assert main(["train", "classification", "--steps", "1", "--out", str(tmp_path / "x")]) == 2
    assert "which texts? `--table`" in capsys.readouterr().err
