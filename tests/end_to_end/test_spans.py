"""Questions about passages from the command line: train, answer, evaluate, resume, and what goes wrong."""

import json
import re
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch

import headway as package
from headway.cli import main
from headway.core.errors import RunError, UsageError
from headway.data.questions import read_questions
from headway.evaluate.answers import exact_answer
from headway.report.summary import summarise
from headway.training.session import resume
from tests.end_to_end.tagged_grammar import passages, write_rows

SMALL = "--model.width 32 --model.depth 1 --tokens words --training.batch 16 --training.rate 1e-2".split()


@pytest.fixture(scope="module")
def jsonl(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_rows(tmp_path_factory.mktemp("questions") / "questions.jsonl", passages(420))


def words(jsonl: Path, out: Path, *more: str, steps: int = 16) -> list[str]:
    budget = ["--steps", str(steps), "--quiet", "--out", str(out)]
    return ["train", "spans", "--jsonl", str(jsonl), *SMALL, *budget, *more]


@pytest.fixture(scope="module")
def questions(jsonl: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run whose file has moved away."""
    folder = tmp_path_factory.mktemp("runs")
    own = Path(shutil.copy(jsonl, folder / "own.jsonl"))
    assert main(words(own, folder / "questions", steps=60)) == 0
    own.unlink()
    return folder / "questions"


def test_no_passage_of_training_is_held_out(questions: Path, jsonl: Path) -> None:
    parts = {p.stem: read_questions(str(p)).rows for p in (questions / "held_out").iterdir()}
    assert set(parts) == {"validation", "test"}
    contexts = [{row.context for row in rows} for rows in parts.values()]
    assert not contexts[0] & contexts[1]
    held_out = contexts[0] | contexts[1]
    together = [row for row in read_questions(str(jsonl)).rows if row.context in held_out]
    assert len(together) == sum(map(len, parts.values())), "all questions about a passage stay together"


def test_answer_is_a_part_of_the_passage(questions: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = package.load(questions)
    for row in read_questions(str(questions / "held_out" / "test.jsonl")).rows[:10]:
        found = run.answer(row.context, row.question)
        assert row.context[found.start : found.end] == found.text and 0 <= found.score <= 1
    context = "The weather is fine . Anna works in Rome on Friday ."
    (tmp_path / "page.txt").write_text(context)
    command = [
        "answer",
        str(questions),
        "--context-file",
        str(tmp_path / "page.txt"),
        "--question",
        "Who works there ?",
    ]
    assert main([*command, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["answer"] == context[found["start"] : found["end"]] == run.answer(context, "Who works there ?").text
    assert run.answer("", "Who ?").text == "" and "the context is empty" in run.answer("", "Who ?").warnings
    assert main(["answer", str(questions), "--question", "Who ?"]) == 2
    assert "which passage?" in capsys.readouterr().err


def test_a_long_passage_is_read_through_windows(questions: Path) -> None:
    """The same fact, far from the beginning: more windows than one, and the answer is where it stands in the whole."""
    run = package.load(questions)
    filler = "The train is late again . Nobody asks why . " * 60
    context = filler + "Anna works in Rome on Friday . " + filler
    windows = run.task._windows("Who works there ?", context)
    assert len(windows) > 2 and max(len(w.ids) for w in windows) <= run.plan.data.longest
    covered = {c for w in windows for begin, end in w.characters for c in range(begin, end)}
    assert covered >= set(range(len(context.rstrip())))
    found = run.answer(context, "Who works there ?")
    assert context[found.start : found.end] == found.text


def test_the_loss_is_the_mean_of_both_cross_entropies(questions: Path) -> None:
    run = package.load(questions)
    rows = read_questions(str(questions / "held_out" / "test.jsonl")).rows
    batches, _ = run.task._batches(rows, 10**6)
    batch = batches.at(np.arange(len(batches.ids)))
    with torch.no_grad():
        loss = run.task.loss(run.model, batch)
        total = 0.0
        for row, row_ids in enumerate(
            batches.ids
        ):  # each alone, without padding; only the passage and the first mark count
            ids, passage = torch.tensor([row_ids]), int(batches.passages[row])
            logits = run.model.tag_logits(run.model.states(ids, torch.ones_like(ids, dtype=torch.bool)))[0]
            places = [0, *range(passage, len(row_ids) - 1)]
            logs = logits[places].log_softmax(0)
            total -= sum(float(logs[places.index(int(end)), k]) for k, end in enumerate(batches.ends[row])) / 2
    assert loss.count == len(rows) and float(loss.total) == pytest.approx(total, rel=1e-4)


def test_evaluate_and_inspect(questions: Path, jsonl: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["evaluate", str(questions), "--jsonl", str(jsonl), "--json"]) == 0
    scores = {s["name"]: s["value"] for s in json.loads(capsys.readouterr().out)["scores"]}
    run, rows = package.load(questions), read_questions(str(jsonl)).rows
    found = run.task.answer(run.model, [row.context for row in rows], [row.question for row in rows])
    exact = np.mean([exact_answer(f.text, row.answers) for f, row in zip(found, rows, strict=True)])
    assert scores["exact match"] == pytest.approx(exact) and "answerable or not" in scores
    text = "Who works there ? | Anna works in Rome ."
    assert main(["inspect", str(questions), text, "--out", str(tmp_path / "maps.html")]) == 0
    assert "⟨sep⟩" in (tmp_path / "maps.html").read_text(encoding="utf-8")
    with pytest.raises(UsageError, match="should be a question, ` . `, and the passage"):
        run.attention("Anna works in Rome .")


def test_an_interrupted_run_ends_with_the_same_bits(
    jsonl: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from headway.training.loop import Loop

    assert main(words(jsonl, tmp_path / "whole")) == 0
    advance = Loop._advance

    def interrupted(self: Loop[object], progress: object) -> None:
        advance(self, progress)  # type: ignore[arg-type]
        self.interrupted = self.state.step == 9

    monkeypatch.setattr(Loop, "_advance", interrupted)
    assert main(words(jsonl, tmp_path / "parts")) == 130
    monkeypatch.setattr(Loop, "_advance", advance)
    assert resume(tmp_path / "parts")
    for name in ("weights.safetensors", "checkpoint.safetensors"):
        assert (tmp_path / "parts" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


def test_data_check_knows_the_file(jsonl: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["data", "check", str(jsonl)]) == 0
    assert "as data for spans" in (text := capsys.readouterr().out) and "without an answer" in text


def test_wrong_files_are_explained(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def message(name: str, content: str) -> str:
        (tmp_path / name).write_text(content)
        command = ["train", "spans", "--jsonl", str(tmp_path / name), "--steps", "1", "--quiet"]
        assert main([*command, "--out", str(tmp_path / "x")]) == 2 and not (tmp_path / "x").exists()
        return capsys.readouterr().err

    assert "is empty" in message("a.jsonl", "")
    assert "has no key `question`, `answer`" in message("a.jsonl", '{"context": "a"}\n')
    row = {"context": "Anna sleeps .", "question": "Who ?", "answer": "Bruno"}
    assert 'the answer "Bruno", which its context does not hold' in message("a.jsonl", json.dumps(row))
    assert "is not of SQuAD's form" in message("a.json", "{}")
    empty = "".join(json.dumps({**row, "question": f"Who {n} ?", "answer": ""}) + "\n" for n in range(40))
    assert "no question has an answer: nothing to learn" in message("b.jsonl", empty)
    assert main(["train", "spans", "--steps", "1", "--out", str(tmp_path / "x")]) == 2
    assert "which questions? `--jsonl`" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("seen.json", '{"median": "long"}', "`median` should be a whole number"),
        (
            "held_out/test.jsonl",
            '{"context": "x", "question": "x", "answer": "x"}\n{"context": 3',
            "line 2 is not JSON",
        ),
        ("held_out/validation.jsonl", "", "is damaged"),
    ],
)
def test_damage_is_reported(questions: Path, tmp_path: Path, name: str, text: str, expected: str) -> None:
    copy = Path(shutil.copytree(questions, tmp_path / "copy"))
    (copy / name).write_text(text)
    with pytest.raises(RunError, match=re.escape(expected)) as raised:
        summarise(package.load(copy))
    assert name in raised.value.message


@pytest.mark.slow
def test_quality_on_who_where_and_when(tmp_path: Path) -> None:
    write_rows(tmp_path / "questions.jsonl", passages(4000))
    command = ["train", "spans", "--jsonl", str(tmp_path / "questions.jsonl"), "--tokens", "words", "--steps", "150"]
    assert main([*command, "--training.validate", "150", "--quiet", "--out", str(tmp_path / "run")]) == 0
    exact = next(s for s in package.load(tmp_path / "run").scores if s.name == "exact match")
    assert exact.part == "test" and exact.value >= 0.9
