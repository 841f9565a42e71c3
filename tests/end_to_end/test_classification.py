"""Text classification from the command line: train, classify, evaluate, resume, and what goes wrong."""

import io
import json
import random
import re
import shutil
from pathlib import Path

import numpy as np
import pytest

import headway as package
from headway.cli import main
from headway.core.errors import RunError
from headway.core.files import read_json, read_tensors
from headway.report.summary import summarise
from headway.tasks.labels import split_by_class
from headway.training.session import resume

SMALL = "--model.width 32 --model.depth 1 --vocabulary 300 --training.batch 16 --training.rate 1e-2".split()
GOOD = "warm funny brilliant moving tender honest graceful lively".split()
BAD = "dull slow hollow clumsy boring lifeless tired noisy".split()
FRAMES = ("a {} film from start to end", "the story is {} and so is the cast", "what a {} evening", "{} in every scene")


def reviews(count: int, seed: int = 1) -> list[tuple[str, str]]:
    """Sentences whose class is decided by their adjectives, each of them different."""
    draw = random.Random(seed)
    rows: dict[str, str] = {}
    while len(rows) < count:
        label = draw.choice(("good", "bad"))
        words = GOOD if label == "good" else BAD
        text = f"{draw.choice(FRAMES).format(draw.choice(words))}, {draw.choice(words)} number {draw.randrange(10**4)}"
        rows[text] = label
    return list(rows.items())


def write_table(path: Path, rows: list[tuple[str, str]], names: tuple[str, str] = ("review", "stars")) -> Path:
    path.write_text("\n".join("\t".join(row) for row in (names, *rows)) + "\n", encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_table(tmp_path_factory.mktemp("reviews") / "reviews.tsv", reviews(500))


def words(table: Path, out: Path, *more: str, steps: int = 24) -> list[str]:
    columns = ["--text", "review", "--label", "stars"]
    return [
        "train",
        "classification",
        "--table",
        str(table),
        *columns,
        *SMALL,
        "--steps",
        str(steps),
        "--quiet",
        "--out",
        str(out),
        *more,
    ]


@pytest.fixture(scope="module")
def sentiment(table: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run whose table has moved away."""
    folder = tmp_path_factory.mktemp("runs")
    own = shutil.copy(table, folder / "own.tsv")
    assert main(words(Path(own), folder / "sentiment", steps=60)) == 0
    Path(own).unlink()
    return folder / "sentiment"


def test_the_run_keeps_what_it_needs(sentiment: Path, table: Path) -> None:
    classes = read_json(sentiment / "classes.json")
    assert classes["names"] == ["bad", "good"] and sum(classes["counts"]) == 400
    parts = {
        p.stem: [json.loads(line) for line in p.read_text().splitlines()] for p in (sentiment / "held_out").iterdir()
    }
    assert {name: len(rows) for name, rows in parts.items()} == {"validation": 50, "test": 50}
    truth, held_out = dict(reviews(500)), [row for rows in parts.values() for row in rows]
    assert all(truth[row["text"]] == row["label"] for row in held_out)
    assert len({row["text"] for row in held_out}) == 100, "no text is in both parts"
    report = (sentiment / "report.html").read_text(encoding="utf-8")
    assert "macro F1" in report and "calibration error" in report and "confidence" in report


def test_classify_gives_sorted_probabilities_and_warnings(sentiment: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        main(
            ["classify", str(sentiment), "a brilliant film, warm and tender", "a dull film, slow and tired ☃", "--json"]
        )
        == 0
    )
    first, second = json.loads(capsys.readouterr().out)
    assert (first["label"], second["label"]) == ("good", "bad")
    for found in (first, second):
        values = list(found["probabilities"].values())
        assert values == sorted(values, reverse=True) and sum(values) == pytest.approx(1)
    run = package.load(sentiment)
    assert run.classify("a dull film ☃").warnings == ("characters never seen in training: ☃",)
    assert run.classify("").warnings == ("the text is empty",)
    cut, longer = run.classify(["dull " * 2000, "dull " * 2000 + "warm " * 900])
    assert "of which the first 512 were read" in cut.warnings[0]
    assert longer.probabilities == cut.probabilities, "nothing after them is read"
    alone, company = (
        run.classify("a dull film"),
        run.classify(["what a warm evening, tender from start to end", "a dull film"]),
    )
    assert company[1].probabilities == pytest.approx(alone.probabilities, abs=1e-6), (
        "the answer does not depend on the others"
    )
    assert main(["classify", str(sentiment), "a dull film, slow"]) == 0
    assert capsys.readouterr().out.startswith("bad    bad 0.")


def test_evaluate_takes_the_columns_of_training(
    sentiment: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = reviews(80, seed=5)
    write_table(tmp_path / "test.tsv", rows)
    assert main(["evaluate", str(sentiment), "--table", str(tmp_path / "test.tsv"), "--json"]) == 0
    scores = {s["name"]: s for s in json.loads(capsys.readouterr().out)["scores"]}
    run = package.load(sentiment)
    right = np.mean([f.label == label for f, (_, label) in zip(run.classify([t for t, _ in rows]), rows, strict=True)])
    assert scores["accuracy"]["value"] == pytest.approx(right)
    assert scores["accuracy"]["low"] < right <= scores["accuracy"]["high"]
    write_table(tmp_path / "other.tsv", rows, ("what", "class"))
    other = ["evaluate", str(sentiment), "--table", str(tmp_path / "other.tsv"), "--text", "what", "--label", "class"]
    assert main(other) == 0
    assert f"accuracy {right:.4f}" in capsys.readouterr().out
    assert main(["evaluate", str(sentiment), "--table", str(tmp_path / "other.tsv")]) == 2
    assert "has no column `review`" in capsys.readouterr().err
    write_table(tmp_path / "new.tsv", [*rows, ("a goood film", "goood")])
    assert main(["evaluate", str(sentiment), "--table", str(tmp_path / "new.tsv")]) == 2
    assert "`goood`" in (message := capsys.readouterr().err) and "did you mean `good`" in message


def test_an_interrupted_run_ends_with_the_same_bits(
    table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from headway.training.loop import Loop

    assert main(words(table, tmp_path / "whole")) == 0
    run, advance = Loop.run, Loop._advance

    def interrupted(self: Loop[object], progress: object) -> None:
        advance(self, progress)  # type: ignore[arg-type]
        self.interrupted = self.state.step == 13

    monkeypatch.setattr(Loop, "_advance", interrupted)
    assert main(words(table, tmp_path / "parts")) == 130
    monkeypatch.setattr(Loop, "_advance", advance)
    assert run is Loop.run and resume(tmp_path / "parts")
    for name in ("weights.safetensors", "checkpoint.safetensors"):
        assert (tmp_path / "parts" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


@pytest.mark.parametrize("model", ["lstm", "mamba", "longformer"])
def test_any_mixer_trains(table: Path, tmp_path: Path, model: str) -> None:
    assert main(words(table, tmp_path / "run", "--model", model, steps=2)) == 0
    assert read_json(tmp_path / "run" / "plan.json")["model"]["options"]["mixer"] == model


def test_a_run_begins_with_another(sentiment: Path, tmp_path: Path) -> None:
    """The tokenizer, the classes and all weights are taken over."""
    write_table(tmp_path / "more.tsv", reviews(120, seed=9), ("text", "label"))
    command = [
        "train",
        "classification",
        "--table",
        str(tmp_path / "more.tsv"),
        "--training.rate",
        "1e-9",
        "--steps",
        "1",
    ]
    assert main([*command, "--from", str(sentiment), "--quiet", "--out", str(tmp_path / "on")]) == 0
    assert (tmp_path / "on" / "tokenizer.json").read_bytes() == (sentiment / "tokenizer.json").read_bytes()
    before, now = (read_tensors(run / "weights.safetensors") for run in (sentiment, tmp_path / "on"))
    assert all(np.allclose(now[name], tensor, atol=1e-6) for name, tensor in before.items())


def test_a_run_begins_with_a_language_model(table: Path, tmp_path: Path) -> None:
    """Another task, another model: the tokenizer and the embedding are taken over, the model is the task's own."""
    (tmp_path / "story.txt").write_text("".join(f"{text}.\n" for text, _ in reviews(200)), encoding="utf-8")
    model = ["--model.width", "48", "--model.depth", "1", "--vocabulary", "300"]
    first = [
        "train",
        "language",
        "--text",
        str(tmp_path / "story.txt"),
        *model,
        "--training.batch",
        "256",
        "--steps",
        "2",
    ]
    assert main([*first, "--quiet", "--out", str(tmp_path / "text")]) == 0
    command = [
        "train",
        "classification",
        "--table",
        str(table),
        "--text",
        "review",
        "--label",
        "stars",
        "--training.rate",
        "1e-9",
    ]
    assert (
        main([*command, "--from", str(tmp_path / "text"), "--steps", "1", "--quiet", "--out", str(tmp_path / "on")])
        == 0
    )
    assert read_json(tmp_path / "on" / "plan.json")["model"]["name"] == "encoder"
    assert (tmp_path / "on" / "tokenizer.json").read_bytes() == (tmp_path / "text" / "tokenizer.json").read_bytes()
    before, now = (read_tensors(tmp_path / run / "weights.safetensors") for run in ("text", "on"))
    assert np.allclose(now["embedding.weight"], before["embedding.weight"], atol=1e-6)


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


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("classes.json", "{", "is damaged"),
        ("classes.json", '{"names": ["bad"], "counts": [3, 4]}', "every class needs one name and one count"),
        ("seen.json", '{"median": "long"}', "`median` should be a whole number"),
        ("held_out/test.jsonl", '{"text": "x", "label": "good"}\n{"text": 3', "line 2 is not JSON"),
    ],
)
def test_damage_is_reported(sentiment: Path, tmp_path: Path, name: str, text: str, expected: str) -> None:
    copy = Path(shutil.copytree(sentiment, tmp_path / "copy"))
    (copy / name).write_text(text)
    with pytest.raises(RunError, match=re.escape(expected)) as raised:
        summarise(package.load(copy))
    assert name in raised.value.message


@pytest.mark.slow
def test_quality_of_a_synthetic_table(tmp_path: Path) -> None:
    write_table(tmp_path / "reviews.tsv", reviews(2000), ("text", "label"))
    command = ["train", "classification", "--table", str(tmp_path / "reviews.tsv"), "--steps", "150", "--quiet"]
    assert main([*command, "--out", str(tmp_path / "run")]) == 0
    accuracy = next(s for s in package.load(tmp_path / "run").scores if s.name == "accuracy")
    assert accuracy.part == "test" and accuracy.value >= 0.95
