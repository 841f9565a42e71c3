"""Text classification from the command line: train, classify, evaluate, resume, and what goes wrong."""

import json
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
from headway.training.session import resume
from tests.end_to_end.film_reviews import reviews, words, write_table


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_table(tmp_path_factory.mktemp("reviews") / "reviews.tsv", reviews(500))


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
    write_table(tmp_path / "gap.tsv", [*rows, ("a film without a class", "")])
    assert main(["evaluate", str(sentiment), "--table", str(tmp_path / "gap.tsv")]) == 0
    assert "note: left out: 1 " in capsys.readouterr().out
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
