"""Tagging from the command line: train, tag, evaluate, resume, and what goes wrong."""

import json
import re
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch

import headway as package
from headway.cli import main
from headway.core.errors import RunError
from headway.core.files import read_json, read_tensors
from headway.data.conll import read_conll, write_conll
from headway.data.position_batches import IGNORED
from headway.report.summary import summarise
from headway.training.session import resume
from tests.end_to_end.tagged_grammar import role_sentences

SMALL = "--model.width 32 --model.depth 1 --vocabulary 400 --training.batch 200 --training.rate 1e-2".split()


@pytest.fixture(scope="module")
def conll(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("conll") / "roles.conll"
    path.write_text(write_conll(*role_sentences(450)), encoding="utf-8")
    return path


def words(conll: Path, out: Path, *more: str, steps: int = 16) -> list[str]:
    budget = ["--steps", str(steps), "--quiet", "--out", str(out)]
    return ["train", "tagging", "--conll", str(conll), *SMALL, *budget, *more]


@pytest.fixture(scope="module")
def tags(conll: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run whose file has moved away."""
    folder = tmp_path_factory.mktemp("runs")
    own = Path(shutil.copy(conll, folder / "own.conll"))
    assert main(words(own, folder / "tags", steps=40)) == 0
    own.unlink()
    return folder / "tags"


def test_the_run_keeps_what_it_needs(tags: Path, conll: Path) -> None:
    whole = read_conll(str(conll))
    given = dict(zip(whole.words, whole.tags, strict=True))
    parts = {p.stem: read_conll(str(p)) for p in (tags / "held_out").iterdir()}
    assert {name: len(part) for name, part in parts.items()} == {"validation": 45, "test": 45}
    held_out = [pair for part in parts.values() for pair in zip(part.words, part.tags, strict=True)]
    assert len({words for words, _ in held_out}) == 90 and all(given[words] == row for words, row in held_out)
    assert set(read_json(tags / "classes.json")["names"]) == {tag for row in whole.tags for tag in row}
    report = (tags / "report.html").read_text(encoding="utf-8")
    assert "Confusion matrix" in report and "conlleval" in report


def test_every_word_has_a_tag_in_any_company_and_any_length(tags: Path) -> None:
    run = package.load(tags)
    text = "The woman reads a book in Rome."
    alone, company = run.tag(text)[0], run.tag(["", "A dog sleeps ☃", text])
    assert alone.words == ("The", "woman", "reads", "a", "book", "in", "Rome", ".")
    assert len(alone.tags) == len(alone.confidence) == 8 and set(alone.tags) <= set(run.task.classes.names)
    assert company[2].tags == alone.tags and company[2].confidence == pytest.approx(alone.confidence, abs=1e-6)
    assert company[0].words == () and company[0].warnings == ("the text is empty",)
    assert company[1].warnings == ("characters never seen in training: ☃",)
    long = run.tag("the man sees the dog and " * 200)[0]
    assert len(long.words) == len(long.tags) == 1200, "a text longer than `longest` is read in parts"


def test_the_loss_is_that_of_the_first_pieces(tags: Path) -> None:
    """Against the probabilities that `tag` gives, which are computed sentence by sentence."""
    run = package.load(tags)
    task, part = run.task, read_conll(str(tags / "held_out" / "test.conll"))
    batch = task._batches(part, 10**6).at(np.arange(len(part)))
    with torch.no_grad():
        loss = task.loss(run.model, batch)
    assert loss.count == part.size == int((batch.tags != IGNORED).sum())
    found = task._scores(run.model, part, task._batches(part, 50)).found
    assert float(loss.plain) / loss.count == pytest.approx(found.loss, rel=1e-5)
    pieces = task.tokenizer.pieces(batch.ids[0][batch.tags[0] != IGNORED].tolist())
    heads = [word[: len(piece.lstrip("▁"))] for piece, word in zip(pieces, part.words[0], strict=True)]
    assert [piece.lstrip("▁") for piece in pieces] == heads, "the tag stands at the piece that begins the word"


def test_tag_prints_and_writes(tags: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tag", str(tags), "a man sleeps", "a dog"]) == 0
    lines = capsys.readouterr().out.split("\n")
    assert [line.split("\t")[0] for line in lines] == ["a", "man", "sleeps", "", "a", "dog", ""]
    (tmp_path / "in.txt").write_text("a man sleeps\na dog\n")
    out = tmp_path / "out.conll"
    assert main(["tag", str(tags), "--input", str(tmp_path / "in.txt"), "--output", str(out)]) == 0
    assert read_conll(str(out)).words == (("a", "man", "sleeps"), ("a", "dog"))
    capsys.readouterr()
    assert main(["tag", str(tags), "a dog", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)[0]
    assert found["words"] == ["a", "dog"] and len(found["tags"]) == len(found["confidence"]) == 2
    assert main(["tag", str(tags)]) == 2 and "what should be tagged?" in capsys.readouterr().err
    assert main(["classify", str(tags), "a dog"]) == 2 and "it can `tag`" in capsys.readouterr().err


def test_evaluate_and_inspect(tags: Path, conll: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["evaluate", str(tags), "--conll", str(conll), "--json"]) == 0
    scores = {s["name"]: s["value"] for s in json.loads(capsys.readouterr().out)["scores"]}
    part, run = read_conll(str(conll)), package.load(tags)
    found = run.tag([" ".join(row) for row in part.words])
    right = [a == b for f, row in zip(found, part.tags, strict=True) for a, b in zip(f.tags, row, strict=True)]
    assert scores["accuracy"] == pytest.approx(np.mean(right))
    maps = tmp_path / "maps.html"
    assert main(["inspect", str(tags), "the man sleeps", "--out", str(maps)]) == 0
    assert "the/" in capsys.readouterr().out and "⟨cls⟩" in maps.read_text(encoding="utf-8")
    (tmp_path / "other.conll").write_text("a B-WHOO\n\n")
    assert main(["evaluate", str(tags), "--conll", str(tmp_path / "other.conll")]) == 2
    assert "did you mean `B-WHO`" in capsys.readouterr().err


def test_an_interrupted_run_ends_with_the_same_bits(
    conll: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from headway.training.loop import Loop

    assert main(words(conll, tmp_path / "whole")) == 0
    advance = Loop._advance

    def interrupted(self: Loop[object], progress: object) -> None:
        advance(self, progress)  # type: ignore[arg-type]
        self.interrupted = self.state.step == 9

    monkeypatch.setattr(Loop, "_advance", interrupted)
    assert main(words(conll, tmp_path / "parts")) == 130
    monkeypatch.setattr(Loop, "_advance", advance)
    assert resume(tmp_path / "parts")
    for name in ("weights.safetensors", "checkpoint.safetensors"):
        assert (tmp_path / "parts" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


def test_a_run_begins_with_another_and_any_mixer_trains(tags: Path, conll: Path, tmp_path: Path) -> None:
    command = ["train", "tagging", "--conll", str(conll), "--training.rate", "1e-9", "--steps", "1", "--quiet"]
    assert main([*command, "--from", str(tags), "--out", str(tmp_path / "on")]) == 0
    before, now = (read_tensors(run / "weights.safetensors") for run in (tags, tmp_path / "on"))
    assert all(np.allclose(now[name], tensor, atol=1e-6) for name, tensor in before.items())
    assert main(words(conll, tmp_path / "lstm", "--model", "lstm", steps=1)) == 0
    assert read_json(tmp_path / "lstm" / "plan.json")["model"]["options"]["mixer"] == "lstm"


def test_data_check_knows_the_file(conll: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["data", "check", str(conll)]) == 0
    assert "as data for tagging" in (text := capsys.readouterr().out) and "`O`" in text


def test_wrong_files_are_explained(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def message(content: str, *more: str) -> str:
        (tmp_path / "x.conll").write_text(content)
        command = ["train", "tagging", "--conll", str(tmp_path / "x.conll"), *more, "--steps", "1", "--quiet"]
        assert main([*command, "--out", str(tmp_path / "x")]) == 2 and not (tmp_path / "x").exists()
        return capsys.readouterr().err

    assert "is empty" in message("")
    assert 'has 1 column ("word")' in message("word\nother\n\n")
    assert "word 1 and tag 7 were asked for" in message("a\tX\nb\tY\n", "--tag", "7")
    one = "".join(f"word{n}\tX\n\n" for n in range(30))
    assert "every word has the tag `X`: nothing to learn" in message(one)
    assert main(["train", "tagging", "--steps", "1", "--out", str(tmp_path / "x")]) == 2
    assert "which sentences? `--conll`" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("classes.json", "{", "is damaged"),
        ("seen.json", '{"words": "many"}', "`words` should be a whole number"),
        ("held_out/test.conll", "a\tO\nb\tO\nc\n\n", "line 3 has 1 column, expected 2"),
        ("held_out/validation.conll", "", "is damaged"),
    ],
)
def test_damage_is_reported(tags: Path, tmp_path: Path, name: str, text: str, expected: str) -> None:
    copy = Path(shutil.copytree(tags, tmp_path / "copy"))
    (copy / name).write_text(text)
    with pytest.raises(RunError, match=re.escape(expected)) as raised:
        summarise(package.load(copy))
    assert name in raised.value.message


@pytest.mark.slow
def test_quality_on_roles_of_the_grammar(tmp_path: Path) -> None:
    (tmp_path / "roles.conll").write_text(write_conll(*role_sentences(9000)), encoding="utf-8")
    command = ["train", "tagging", "--conll", str(tmp_path / "roles.conll"), "--tokens", "words", "--steps", "900"]
    assert main([*command, "--training.validate", "450", "--quiet", "--out", str(tmp_path / "run")]) == 0
    f1 = next(s for s in package.load(tmp_path / "run").scores if s.name == "F1")
    assert f1.part == "test" and f1.value >= 0.95
