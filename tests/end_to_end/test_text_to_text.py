"""Many tasks in one model from the command line: train, translate, evaluate, resume, and what goes wrong."""

import json
import re
import shutil
from pathlib import Path

import pytest

import headway as package
from headway.cli import main
from headway.core.errors import RunError
from headway.core.files import read_json
from headway.report.summary import summarise
from headway.training.session import resume
from tests.end_to_end.letter_tasks import TASKS, write_tasks

SMALL = "--model.width 32 --model.depth 1 --model.heads 2 --tokens words --training.batch 256".split()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tasks(tmp_path_factory.mktemp("letters") / "tasks", 420)


def words(folder: Path, out: Path, *more: str, steps: int = 12) -> list[str]:
    budget = ["--steps", str(steps), "--quiet", "--out", str(out)]
    return ["train", "text-to-text", "--tasks", str(folder), *SMALL, *budget, *more]


@pytest.fixture(scope="module")
def letters(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run whose files have moved away."""
    place = tmp_path_factory.mktemp("runs")
    own = Path(shutil.copytree(folder, place / "own"))
    assert main(words(own, place / "letters", steps=30)) == 0
    shutil.rmtree(own)
    return place / "letters"


def test_the_run_keeps_what_it_needs(letters: Path) -> None:
    assert read_json(letters / "tasks.json") == ["reverse", "sort", "upper case"]
    assert read_json(letters / "plan.json")["model"]["name"] == "t5"
    for name in ("validation", "test"):
        rows = [json.loads(line) for line in (letters / "held_out" / f"{name}.jsonl").read_text().splitlines()]
        assert len(rows) == 63
        for row in rows:
            task, _, text = row["source"].partition(": ")
            assert row["target"].split() == TASKS[task.replace(" ", "_")](text.split())
    names = {score.name for score in package.load(letters).scores}
    assert names == {
        f"{task}: {kind}" for task in ("reverse", "sort", "upper case") for kind in ("exact match", "chrF")
    }


def test_a_text_names_its_task(letters: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = package.load(letters)
    found = run.translations(["reverse: a b c", "a b c", "sort: a b. c d."], best=1)
    assert not found[0][0].warnings and "`reverse: `" in found[1][0].warnings[0]
    alone = run.translate("sort: a b. c d.")
    assert alone == found[2][0].text, "the text is not cut into sentences, of which the second would have no task"
    assert len(run.translations(["reverse: a b c"], best=3)[0]) == 3
    assert main(["translate", str(letters), "reverse: a b c"]) == 0
    assert capsys.readouterr().out.strip() == found[0][0].text


def test_evaluate_and_inspect(letters: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    own = tmp_path / "given"
    own.mkdir()
    run = package.load(letters)
    inputs = ["a b", "c d e", "b a"]
    outputs = run.translate([f"sort: {text}" for text in inputs])
    rows = [*zip(inputs, outputs, strict=True), ("a c", "x y z")]
    (own / "sort.tsv").write_text("input\toutput\n" + "".join(f"{a}\t{b or 'x'}\n" for a, b in rows))
    assert main(["evaluate", str(letters), "--tasks", str(own), "--json"]) == 0
    scores = {s["name"]: s["value"] for s in json.loads(capsys.readouterr().out)["scores"]}
    assert set(scores) == {"sort: exact match", "sort: chrF"}
    assert scores["sort: exact match"] == pytest.approx(25 * sum(bool(text) for text in outputs))
    assert main(["inspect", str(letters), "sort: b a", "--out", str(tmp_path / "maps.html")]) == 0
    (own / "sort.tsv").write_text("input\toutput\na b\ta b\nc\nb a\ta b\n")
    assert run.evaluate(tasks=str(own)).notes == ("sort: left out: 1 pair that cannot be read",)
    (own / "sort.tsv").rename(own / "sorting.tsv")
    assert main(["evaluate", str(letters), "--tasks", str(own)]) == 2
    assert "does not know the task `sorting`" in capsys.readouterr().err


def test_an_interrupted_run_ends_with_the_same_bits(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a limit that every task exceeds, so that epochs differ."""
    from headway.training.loop import Loop

    limited = ("--limit", "40")
    assert main(words(folder, tmp_path / "whole", *limited)) == 0
    advance = Loop._advance

    def interrupted(self: Loop[object], progress: object) -> None:
        advance(self, progress)  # type: ignore[arg-type]
        self.interrupted = self.state.step == 7

    monkeypatch.setattr(Loop, "_advance", interrupted)
    assert main(words(folder, tmp_path / "parts", *limited)) == 130
    monkeypatch.setattr(Loop, "_advance", advance)
    assert resume(tmp_path / "parts")
    for name in ("weights.safetensors", "checkpoint.safetensors"):
        assert (tmp_path / "parts" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


def test_a_transformer_does_it_and_t5_translates(folder: Path, corpus: Path, tmp_path: Path) -> None:
    assert main(words(folder, tmp_path / "run", "--model", "transformer", steps=1)) == 0
    files = ["--source", str(corpus / "a.en"), "--target", str(corpus / "a.de")]
    small = [*SMALL[:6], "--vocabulary", "400", "--training.batch", "256", "--steps", "2", "--quiet"]
    assert main(["train", "translation", *files, "--model", "t5", *small, "--out", str(tmp_path / "t5")]) == 0
    assert read_json(tmp_path / "t5" / "plan.json")["model"]["name"] == "t5"


def test_wrong_folders_are_explained(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def message(*more: str) -> str:
        assert main(["train", "text-to-text", *more, "--steps", "1", "--quiet", "--out", str(tmp_path / "x")]) == 2
        assert not (tmp_path / "x").exists()
        return capsys.readouterr().err

    (tmp_path / "empty").mkdir()
    assert "holds no files of pairs" in message("--tasks", str(tmp_path / "empty"))
    assert "is not a folder" in message("--tasks", str(folder / "sort.tsv"))
    (tmp_path / "empty" / "count.tsv").write_text("a\tb\n")
    held_out = message("--tasks", str(folder), "--validation-tasks", str(tmp_path / "empty"))
    assert "the held-out task `count` has no file" in held_out
    assert "which tasks? `--tasks`" in message()


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("tasks.json", "{}", "expected the names of the tasks"),
        ("held_out/test.jsonl", '{"source": "sort: a"}\n', "is damaged"),
    ],
)
def test_damage_is_reported(letters: Path, tmp_path: Path, name: str, text: str, expected: str) -> None:
    copy = Path(shutil.copytree(letters, tmp_path / "copy"))
    (copy / name).write_text(text)
    with pytest.raises(RunError, match=re.escape(expected)) as raised:
        summarise(package.load(copy))
    assert name in raised.value.message


@pytest.mark.slow
def test_one_model_learns_three_tasks(tmp_path: Path) -> None:
    write_tasks(tmp_path / "tasks", 1500)
    command = ["train", "text-to-text", "--tasks", str(tmp_path / "tasks"), "--tokens", "words", "--steps", "400"]
    model = ["--model.width", "64", "--training.batch", "400", "--training.rate", "1e-2", "--training.validate", "200"]
    more = [*model, "--quiet", "--out", str(tmp_path / "run")]
    assert main([*command, *more]) == 0
    exact = {s.name: s.value for s in package.load(tmp_path / "run").scores if s.name.endswith("exact match")}
    assert len(exact) == 3 and min(exact.values()) >= 90, exact
